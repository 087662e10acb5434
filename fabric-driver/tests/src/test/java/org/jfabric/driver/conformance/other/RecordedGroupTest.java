package org.jfabric.driver.conformance.other;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Fabric;
import org.jfabric.MulticastGroup;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.conformance.memory.DiskDirectory;
import org.jfabric.driver.kit.ExamplePage;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricNode.Entry;
import org.jfabric.driver.kit.GroupRig;
import org.jfabric.driver.kit.GroupRig.Place;
import org.jfabric.ffi.Affinity;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.LogPosition;
import org.jfabric.stream.LogOptions;
import org.jfabric.stream.LogOptions.Visibility;
import org.jfabric.stream.LogReader;
import org.jfabric.stream.Publication;
import org.jfabric.stream.StreamHeader;
import org.jfabric.stream.StreamListener;
import org.jfabric.stream.Subscription;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Recorded groups: what is in the log, who reads it, and where readers change over to the ring. */
@Tag("conformance")
@Tag("link-shm")
@Timeout(120)
class RecordedGroupTest {
    private static final String[] SMALL_RING = {"jfabric.shm.groupRingLengthBytes=64k"};

    /** A reader that does not poll is overrun soon. */
    private static final String[] LITTLE_ROOM = {"jfabric.shm.groupRingLengthBytes=64k",
        "jfabric.engine.unexpectedBudgetBytes=64k", "jfabric.engine.creditWindowBytes=4k",
        "jfabric.engine.eagerLimitBytes=1k", "jfabric.queue.slabLengthBytes=64k"};

    private final Path base = TestDirectory.create();
    private final Path folder = base.resolve("log of quotes");
    private final UnsafeBuffer bytes = new UnsafeBuffer(new byte[8192]);

    @AfterEach
    void delete() {
        TestDirectory.delete(base);
    }

    /** Takes messages that must come in order without a hole, each with the bytes that follow from its position. */
    private static class Reader implements StreamListener {
        long next;
        long gaps;

        Reader(long next) {
            this.next = next;
        }

        @Override
        public void onMessage(DirectBuffer buffer, int offset, int length, StreamHeader header) {
            assertEquals(next, header.position());
            assertEquals(length(next), length);
            assertEquals(Flags.MSG, header.flags());
            FabricNode.assertPattern(buffer, offset, length, (int) next, 0);
            next++;
        }

        @Override
        public void onGap(long first, long last) {
            assertEquals(next, first);
            gaps += last - first + 1;
            next = last + 1;
        }
    }

    private static int length(long position) {
        return position % 97 == 3 ? 3000 + (int) (position % 1000) : (int) (position % 120);
    }

    /** Offers the next message. Returns false if it was refused now. */
    private boolean offer(Publication publication) {
        long position = publication.position();
        int length = length(position);
        bytes.putBytes(0, FabricNode.pattern((int) position, 0, length));
        int result = publication.offer(bytes, 0, length);
        assertTrue(result == 0 || result == -FabricErrno.EAGAIN, () -> FabricErrno.name(-result));
        return result == 0;
    }

    private void write(Publication publication, long until) {
        Deadline.await("room for messages", () -> {
            offer(publication);
            return publication.position() >= until;
        }, publication::toString);
    }

    private static void read(Subscription reader, Reader listener, long until) {
        Deadline.await("messages to " + until, () -> {
            reader.poll(listener, 16);
            return listener.next >= until;
        }, reader::toString);
        assertEquals(listener.next, reader.position());
    }

    private static LogOptions options() {
        return new LogOptions().segmentLengthBytes(1 << 20);
    }

    private Publication publish(Fabric fabric, LogOptions options) {
        return Publication.on(fabric, GroupRig.GROUP).recordIn(folder, options).open();
    }

    @ParameterizedTest
    @EnumSource(value = Place.class, names = {"ONE_DRIVER", "PROCESSES"})
    void shouldReadFromTheLogThenFromTheRing(Place place) {
        try (GroupRig rig = new GroupRig(place, 2, SMALL_RING);
            Publication publication = publish(rig.writer.fabric, options())) {
            write(publication, 5000);
            try (Subscription oldest = Subscription.on(rig.readers.get(0).fabric, GroupRig.GROUP).fromOldest().open();
                Subscription there = Subscription.on(rig.readers.get(1).fabric, GroupRig.GROUP)
                    .from(publication.next().at(2000)).open();
                Subscription now = Subscription.on(rig.readers.get(1).fabric, GroupRig.GROUP).open()) {
                Reader fromOldest = new Reader(0);
                Reader fromThere = new Reader(2000);
                Reader fromNow = new Reader(5000);
                // in turn with the writer, at three speeds
                for (int until = 5000; until < 6000; until += 10) {
                    write(publication, until);
                    oldest.poll(fromOldest, 40);
                    there.poll(fromThere, 7);
                    now.poll(fromNow, 16);
                }
                read(oldest, fromOldest, publication.position());
                read(there, fromThere, publication.position());
                read(now, fromNow, publication.position());
                write(publication, 6100);
                read(oldest, fromOldest, 6100);
                read(there, fromThere, 6100);
                read(now, fromNow, 6100);
                assertEquals(0, fromOldest.gaps + fromThere.gaps + fromNow.gaps);
            }
        }
        Reader whole = new Reader(0);
        try (LogReader log = LogReader.open(folder)) {
            while (whole.next < 6100) {
                assertTrue(log.poll(whole, 64) > 0, () -> "the log ends at " + whole.next);
            }
            assertEquals(0, log.poll(whole, 64));
            assertEquals(GroupRig.GROUP, log.group());
        }
        assertEquals(0, whole.gaps);
    }

    @Test
    void shouldShowTheExampleOfThePage() throws IOException {
        ExamplePage.assertShows("docs/streams.md", RecordedGroupTest.class, 1);
        try (GroupRig rig = new GroupRig(Place.ONE_DRIVER, 1)) {
            record(rig.writer.fabric, rig.readers.getFirst().fabric);
        }
    }

    private void record(Fabric fabric, Fabric other) {
        // example: record
        try (Publication quotes = Publication.on(fabric, "jfabric://alpha/quotes").recordIn(folder).open();
            Subscription reader = Subscription.on(other, "jfabric://alpha/quotes").fromOldest().open()) {
            // end of example
            write(quotes, 10);
            read(reader, new Reader(0), 10);
        }
    }

    @ParameterizedTest
    @EnumSource(value = Visibility.class, names = {"RING", "WRITTEN"})
    void shouldHoldNobodyBackForASlowReaderWhichLosesNothing(Visibility visibility) {
        SplittableRandom random = new SplittableRandom(47);
        try (GroupRig rig = new GroupRig(Place.PROCESSES, 2, LITTLE_ROOM);
            Publication publication = publish(rig.writer.fabric, options().visibility(visibility));
            Subscription slow = Subscription.on(rig.readers.get(0).fabric, GroupRig.GROUP).open();
            Subscription far = Subscription.on(rig.readers.get(1).fabric, GroupRig.GROUP).open()) {
            Reader fromSlow = new Reader(0);
            Reader fromFar = new Reader(0);
            while (publication.position() < 10_000) {
                // several rings
                write(publication, publication.position() + random.nextInt(2000));
                slow.poll(fromSlow, 1 + random.nextInt(50));
                for (int i = random.nextInt(200); i > 0; i--) {
                    far.poll(fromFar, 1 + random.nextInt(50));
                }
            }
            read(slow, fromSlow, publication.position());
            read(far, fromFar, publication.position());
            assertEquals(0, fromSlow.gaps + fromFar.gaps);
        }
    }

    @Test
    void shouldContinueTheLogWhenThePublicationIsOpenedAgain() {
        try (GroupRig rig = new GroupRig(Place.ONE_DRIVER, 2, SMALL_RING)) {
            LogPosition place;
            Reader seen = new Reader(0);
            Subscription open;
            try (Publication publication = publish(rig.writer.fabric, options())) {
                open = Subscription.on(rig.readers.get(1).fabric, GroupRig.GROUP).open();
                write(publication, 1000);
                place = publication.next().at(990);
                FabricException busy = assertThrows(FabricException.class, () -> Publication
                    .on(rig.writer.fabric, "jfabric://alpha/other").recordIn(folder, options()).open());
                assertEquals(FabricErrno.EBUSY, busy.errno(), busy::getMessage);
            }
            awaitEnd(open, seen, FabricErrno.ESHUTDOWN);
            assertEquals(1000, seen.next);
            // at once: it waits until the log is closed
            try (open; Publication publication = publish(rig.writer.fabric, new LogOptions())) {
                assertEquals(place.at(1000), publication.next());
                write(publication, 1500);
                // without a call of its own
                read(open, seen, 1500);
                assertEquals(0, seen.gaps);
                try (Subscription reader = Subscription.on(rig.readers.getFirst().fabric, GroupRig.GROUP)
                    .from(place).open()) {
                    read(reader, new Reader(990), 1500);
                    assertEquals(place.at(1500), reader.next());
                }
            }
        }
    }

    @Test
    void shouldNotLoseWhatWasWrittenWhenTheDriverIsKilled() {
        for (Visibility visibility : List.of(Visibility.RING, Visibility.SYNCED)) {
            try (GroupRig rig = new GroupRig(Place.PROCESSES, 2, SMALL_RING)) {
                Reader seen = new Reader(0);
                long written;
                LogPosition next;
                Publication killed = Publication.on(rig.writer.fabric, GroupRig.GROUP)
                    .recordIn(base.resolve(visibility.name()), options().visibility(visibility)).open();
                try (Subscription reader = Subscription.on(rig.readers.get(1).fabric, GroupRig.GROUP).open()) {
                    for (int until = 0; until < 3000; until += 30) {
                        write(killed, until);
                        reader.poll(seen, 64);
                        if (visibility == Visibility.SYNCED) {
                            assertTrue(seen.next <= killed.synced(), "a message is seen that is not synced");
                        }
                    }
                    written = killed.written();
                    rig.kill("alpha");
                    awaitEnd(reader, seen, FabricErrno.ECONNRESET);
                    next = reader.next();
                    try (FabricNode again = rig.node("alpha", GroupRig.hints());
                        Publication publication = Publication.on(again.fabric, GroupRig.GROUP)
                            .recordIn(base.resolve(visibility.name())).open()) {
                        assertEquals(2, publication.next().term());
                        long recovered = publication.position();
                        assertTrue(recovered >= written, () -> recovered + " messages left of " + written);
                        write(publication, recovered + 500);
                        if (next.position() <= recovered) {
                            read(reader, seen, recovered + 500);
                            assertEquals(0, seen.gaps);
                            assertEquals(2, reader.next().term());
                        } else {
                            assertEquals(Visibility.RING, visibility,
                                () -> "seen up to " + next + ", left " + recovered);
                            awaitEnd(reader, seen, FabricErrno.EINVAL);
                            FabricException lost = assertThrows(FabricException.class, () -> Subscription
                                .on(rig.readers.get(1).fabric, GroupRig.GROUP).from(next).open());
                            assertTrue(lost.errno() == FabricErrno.EINVAL
                                && lost.getMessage().contains("from position " + recovered), lost::getMessage);
                        }
                    }
                }
            }
        }
    }

    private static void awaitEnd(Subscription reader, Reader listener, int errno) {
        Deadline.await("the end " + FabricErrno.name(errno), () -> reader.poll(listener, 64) == -errno,
            reader::toString);
    }

    @ParameterizedTest
    @EnumSource(value = Place.class, names = {"ONE_DRIVER", "PROCESSES"})
    @Requirement("OPF-004")
    void shouldCompleteACommitWhenItIsOnStableStorage(Place place) throws Exception {
        try (GroupRig rig = new GroupRig(place, 1); DiskDirectory disk = new DiskDirectory()) {
            FabricNode writer = rig.writer;
            MulticastGroup group = writer.endpoint.join(GroupRig.GROUP + "?log=" + disk.file("log"), 0, Flags.SEND);
            try (LogReader log = LogReader.open(disk.file("log"))) {
                for (int i = 0; i < 50; i++) {
                    assertEquals(0, send(writer, group.fiAddr(), i, Flags.COMMIT_COMPLETE));
                }
                for (int i = 0; i < 50; i++) {
                    Entry entry = writer.await();
                    assertEquals(i, entry.context());
                    long synced = log.synced();
                    assertTrue(synced > i, () -> "message " + entry + " completed, synced up to " + synced);
                }
            }
            group.close();
            assertIsRefusedElsewhere(rig, Flags.COMMIT_COMPLETE);
        }
    }

    /** Nothing is synced meanwhile, so a level that waits for that would not be reached. */
    @ParameterizedTest
    @EnumSource(value = Place.class, names = {"ONE_DRIVER", "PROCESSES"})
    void shouldCompleteARecordedSendWhenItIsInThePageCache(Place place) {
        try (GroupRig rig = new GroupRig(place, 1)) {
            FabricNode writer = rig.writer;
            MulticastGroup group = writer.endpoint.join(GroupRig.GROUP + "?log=" + base.resolve("log"), 0, Flags.SEND);
            try (LogReader log = LogReader.open(base.resolve("log"))) {
                for (int i = 0; i < 50; i++) {
                    assertEquals(0, send(writer, group.fiAddr(), i, Flags.RECORDED));
                }
                for (int i = 0; i < 50; i++) {
                    Entry entry = writer.await();
                    assertEquals(i, entry.context());
                    long written = log.written();
                    assertTrue(written > i, () -> "message " + entry + " completed, written up to " + written);
                }
                assertEquals(0, log.synced());
                // each level is reached by itself, in whatever order they were asked for
                assertEquals(0, send(writer, group.fiAddr(), 50, Flags.COMMIT_COMPLETE));
                assertEquals(0, send(writer, group.fiAddr(), 51, Flags.RECORDED));
                assertEquals(50 + 51, writer.await().context() + writer.await().context());
            }
            group.close();
            assertIsRefusedElsewhere(rig, Flags.RECORDED);
        }
    }

    /** A group without a log has no such level, nor has one whose log may leave messages out, nor a peer. */
    private void assertIsRefusedElsewhere(GroupRig rig, long level) {
        FabricNode writer = rig.writer;
        for (String options : List.of("", "?log=" + base.resolve("gaps") + "&whenFull=gap")) {
            try (MulticastGroup other = writer.endpoint.join("jfabric://alpha/other" + options, 0, Flags.SEND)) {
                assertEquals(0, send(writer, other.fiAddr(), 50, level));
                assertEquals(FabricErrno.EBADFLAGS, writer.await().err());
            }
        }
        assertEquals(0, send(writer, writer.av.insert(rig.readers.getFirst().endpoint.name()), 50, level));
        assertEquals(FabricErrno.EBADFLAGS, writer.await().err());
    }

    private static int send(FabricNode node, long to, long context, long level) {
        return node.endpoint.messages().sendmsg(
            node.memory.address(), 64, 0, to, context, Flags.COMPLETION | level);
    }

    /** A progress thread that spins on its own processor would leave threads that it has started nothing of it. */
    @Test
    void shouldRecordBesideAProgressThreadThatIsBound() {
        BitSet all = Affinity.cpus();
        assumeTrue(all.cardinality() > 1, "one processor");
        try (FabricDriver driver = FabricDriver.launchEmbedded(DriverConfig.builder().directory(base.resolve("alpha"))
            .threadingMode(ThreadingMode.DEDICATED).set("jfabric.shm.groupRingLengthBytes", "8m")
            .set("jfabric.threading.progressCpu", Integer.toString(all.nextSetBit(0))).build());
            Fabric fabric = driver.fabric();
            Publication publication = publish(fabric, options().segmentLengthBytes(8 << 20))) {
            write(publication, 10);
            String own = allowed(Path.of("/proc/thread-self")).findFirst().orElseThrow();
            // the ring of 8 MiB was made by the thread for long tasks
            for (String name : List.of("jfabric-record", "jfabric-resourc")) {
                Deadline.awaitParked("threads " + name + " that are not bound", () -> {
                    // name and processors are set when a thread begins to run
                    List<String> threads = threads(name);
                    return !threads.isEmpty() && threads.stream().allMatch(own::equals);
                });
            }
        }
    }

    /** The processors of each thread in this process whose name begins so. */
    private static List<String> threads(String name) {
        try (Stream<Path> threads = Files.list(Path.of("/proc/self/task"))) {
            return threads.filter(each -> lines(each.resolve("comm")).getFirst().startsWith(name))
                .flatMap(RecordedGroupTest::allowed).toList();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** None of a thread that has ended. */
    private static Stream<String> allowed(Path thread) {
        return lines(thread.resolve("status")).stream().filter(each -> each.startsWith("Cpus_allowed_list"));
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException ended) {
            return List.of("");
        }
    }

    @Test
    void shouldNameTheMessagesThatRetentionHasDeleted() {
        try (GroupRig rig = new GroupRig(Place.PROCESSES, 1, SMALL_RING);
            Publication publication = publish(rig.writer.fabric, options().retainBytes(2 << 20));
            Subscription slow = Subscription.on(rig.readers.getFirst().fabric, GroupRig.GROUP).open()) {
            write(publication, 40_000);
            Reader late = new Reader(0);
            read(slow, late, publication.position());
            assertTrue(late.gaps > 0 && late.gaps < 40_000, () -> late.gaps + " messages in gaps");
        }
    }

    @Test
    void shouldRefuseWhatIsNotThere() {
        try (GroupRig rig = new GroupRig(Place.ONE_DRIVER, 1)) {
            Fabric reading = rig.readers.getFirst().fabric;
            try (Publication publication = Publication.on(rig.writer.fabric, GroupRig.GROUP).open()) {
                assertRefused(FabricErrno.EOPNOTSUPP,
                    () -> Subscription.on(reading, GroupRig.GROUP).fromOldest().open());
                assertRefused(FabricErrno.EOPNOTSUPP, publication::written);
            }
            assertRefused(FabricErrno.EINVAL,
                () -> rig.writer.endpoint.join(GroupRig.GROUP + "?log=quotes", 0, Flags.SEND));
            assertRefused(FabricErrno.EINVAL,
                () -> rig.writer.endpoint.join(GroupRig.GROUP + "?log=" + base + "&retain=5", 0, Flags.SEND));
            assertRefused(FabricErrno.EINVAL,
                () -> rig.writer.endpoint.join(GroupRig.GROUP + "?log=" + base + "&whenFull=stop", 0, Flags.SEND));
            assertRefused(FabricErrno.EINVAL,
                () -> publish(rig.writer.fabric, new LogOptions().segmentLengthBytes(1000)));
            try (Publication publication = publish(rig.writer.fabric, options())) {
                write(publication, 10);
                assertRefused(FabricErrno.EINVAL, () -> Subscription.on(reading, GroupRig.GROUP)
                    .from(publication.next().at(11)).open());
            }
        }
    }

    private static void assertRefused(int errno, Runnable call) {
        FabricException refused = assertThrows(FabricException.class, call::run);
        assertEquals(errno, refused.errno(), refused::getMessage);
    }
}
