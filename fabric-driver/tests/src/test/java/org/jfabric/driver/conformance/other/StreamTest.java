package org.jfabric.driver.conformance.other;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Fabric;
import org.jfabric.MulticastReader;
import org.jfabric.SendClaim;
import org.jfabric.driver.kit.ExamplePage;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.GroupRig;
import org.jfabric.driver.kit.GroupRig.Place;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.JoinAttr;
import org.jfabric.info.LogPosition;
import org.jfabric.stream.Publication;
import org.jfabric.stream.StreamHeader;
import org.jfabric.stream.StreamListener;
import org.jfabric.stream.Subscription;
import org.jfabric.test.AllocatedBytes;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Publications and subscriptions. */
@Tag("conformance")
@Timeout(120)
class StreamTest {
    private static final String SMALL_RING = "jfabric.shm.groupRingLengthBytes=64k";

    private final UnsafeBuffer bytes = new UnsafeBuffer(new byte[8192]);
    private final List<Integer> numbers = new ArrayList<>();
    private final List<Long> positions = new ArrayList<>();
    private final StreamListener keep = (buffer, offset, length, header) -> {
        numbers.add(buffer.getInt(offset));
        positions.add(header.position());
        assertEquals(Flags.MSG, header.flags());
        assertEquals(1, header.term());
        FabricNode.assertPattern(buffer, offset + Integer.BYTES, length - Integer.BYTES, buffer.getInt(offset), 0);
    };

    private int offer(Publication publication, int number, int length) {
        bytes.putInt(0, number);
        bytes.putBytes(Integer.BYTES, FabricNode.pattern(number, 0, length - Integer.BYTES));
        return publication.offer(bytes, 0, length);
    }

    private void await(Subscription subscription, int count) {
        long deadline = System.nanoTime() + FabricNode.DEADLINE_NS;
        while (numbers.size() < count) {
            int result = subscription.poll(keep, 16);
            assertTrue(result > 0 || result == -FabricErrno.EAGAIN, FabricErrno.name(result));
            assertTrue(System.nanoTime() - deadline < 0, () -> numbers + " of " + count);
        }
    }

    @ParameterizedTest
    @EnumSource(value = Place.class, names = {"ONE_DRIVER", "PROCESSES"})
    void shouldWriteNothingByAClaimThatIsNotOpen(Place place) {
        try (GroupRig rig = new GroupRig(place, 1);
            Publication publication = Publication.on(rig.writer.fabric, GroupRig.GROUP).open()) {
            SendClaim claim = new SendClaim();
            assertEquals(-FabricErrno.EINVAL, publication.commit(claim, 0));
            assertEquals(0, publication.tryClaim(8, claim));
            assertEquals(0, publication.commit(claim, 0));
            assertEquals(-FabricErrno.EINVAL, publication.commit(claim, 0));
            assertEquals(1, publication.position());
        }
    }

    /** Everything that an entry says of a message, without an entry; receives of the same endpoint get none. */
    @ParameterizedTest
    @EnumSource(value = Place.class, names = {"ONE_DRIVER", "PROCESSES"})
    void shouldReadInPlaceByAnEndpointOfTheApplication(Place place) {
        try (GroupRig rig = new GroupRig(place, 2)) {
            long to = rig.writer.endpoint.join(GroupRig.GROUP, 0, Flags.SEND).fiAddr();
            FabricNode node = rig.readers.get(1);
            MulticastReader reader = node.endpoint.openReader(GroupRig.GROUP, 7, new JoinAttr());
            assertEquals(GroupRig.GROUP, reader.group().address());
            assertEquals(-FabricErrno.EAGAIN, reader.next());
            FabricException second = assertThrows(FabricException.class,
                () -> node.endpoint.openReader("jfabric://alpha/others", 0, new JoinAttr()));
            assertEquals(FabricErrno.EBUSY, second.errno());

            rig.writer.memory.buffer().putLong(8, 4711);
            assertEquals(0, rig.writer.endpoint.messages().tsenddata(rig.writer.memory.address(8), 8, 5, to, 9, 1));
            rig.writer.await(1);
            Deadline.await("the message", () -> reader.next() == 1, rig::events);
            assertEquals(Flags.MULTICAST | Flags.TAGGED | Flags.REMOTE_CQ_DATA, reader.flags());
            assertEquals(List.of(9L, 5L, 0L, 8L), List.of(reader.tag(), reader.data(), reader.position(),
                (long) reader.length()));
            assertEquals(4711, reader.buffer().getLong(reader.offset()));
            assertEquals(-FabricErrno.EAGAIN, reader.next());
            assertEquals(1, reader.nextPosition());

            reader.close();
            assertEquals(-FabricErrno.EOPBADSTATE, reader.next());
            MulticastReader next = node.endpoint.openReader(GroupRig.GROUP, 0, new JoinAttr());
            rig.writer.endpoint.close();
            Deadline.await("the end", () -> next.next() == -FabricErrno.ESHUTDOWN, rig::events);
        }
    }

    private static int length(int number) {
        return number % 7 == 3 ? 4200 + number % 1000 : number % 5 == 1 ? 900 : 4 + number % 50;
    }

    @Test
    void shouldShowTheExampleOfThePage() throws IOException {
        ExamplePage.assertShows("docs/streams.md", StreamTest.class, 2);
        List<Long> seen = new ArrayList<>();
        try (GroupRig rig = new GroupRig(Place.ONE_DRIVER, 1)) {
            publish(rig.writer.fabric, rig.readers.getFirst().fabric, seen);
        }
        assertEquals(List.of(0L, 42L, 1L, 43L), seen);
    }

    private static void publish(Fabric fabric, Fabric other, List<Long> seen) {
        UnsafeBuffer buffer = new UnsafeBuffer(new byte[8]);
        // example: publish
        try (Publication quotes = Publication.on(fabric, "jfabric://alpha/quotes").open();
            Subscription reader = Subscription.on(other, "jfabric://alpha/quotes").open()) {
            for (long price = 42; price < 44; price++) {
                buffer.putLong(0, price);
                while (quotes.offer(buffer, 0, 8) == -FabricErrno.EAGAIN) {
                    Thread.onSpinWait();
                }
            }
            // end of example
            StreamListener handler = (message, offset, length, header) -> {
                seen.add(header.position());
                seen.add(message.getLong(offset));
            };
            // example: read
            while (reader.position() < quotes.position()) {
                reader.poll(handler, 16);
            }
            // end of example
        }
    }

    @ParameterizedTest
    @EnumSource(value = Place.class, names = {"ONE_DRIVER", "PROCESSES"})
    void shouldReadEachMessageInOrderWhateverItsLength(Place place) {
        int count = 300;
        try (GroupRig rig = new GroupRig(place, 2, SMALL_RING);
            Publication publication = Publication.on(rig.writer.fabric, GroupRig.GROUP).open();
            Subscription near = Subscription.on(rig.readers.get(0).fabric, GroupRig.GROUP).open();
            Subscription far = Subscription.on(rig.readers.get(1).fabric, GroupRig.GROUP).open()) {
            SendClaim claim = new SendClaim();
            List<Integer> expected = new ArrayList<>();
            List<Integer> ofNear = new ArrayList<>();
            StreamListener nearHandler = (buffer, offset, length, header) -> {
                assertEquals(header.position(), ofNear.size());
                ofNear.add(buffer.getInt(offset));
            };
            for (int i = 0; i < count; i++) {
                int result = offer(publication, i, length(i));
                while (result == -FabricErrno.EAGAIN) {
                    near.poll(nearHandler, 16);
                    far.poll(keep, 16);
                    result = offer(publication, i, length(i));
                }
                assertEquals(0, result);
                expected.add(i);
                assertEquals(i + 1, publication.position());
            }
            await(far, count);
            while (ofNear.size() < count) {
                near.poll(nearHandler, 16);
            }
            assertEquals(expected, numbers);
            assertEquals(expected, ofNear);
            for (int i = 0; i < count; i++) {
                assertEquals(i, positions.get(i));
            }
            while (publication.tryClaim(12, claim) != 0) {
                publication.poll();
            }
            claim.abort();
            while (publication.tryClaim(12, claim) != 0) {
                publication.poll();
            }
            claim.buffer().putInt(0, count);
            claim.buffer().putBytes(4, FabricNode.pattern(count, 0, 8));
            assertEquals(0, publication.commit(claim, 12));
            await(far, count + 1);
            assertEquals(count, numbers.getLast());
            assertEquals(count + 1, far.position());
            assertEquals(publication.next(), far.next());
            assertEquals(-FabricErrno.EMSGSIZE, publication.offer(bytes, 0, publication.maxLength() + 1));
            Runnable end = publication::close;
            end.run();
            assertEnds(far, FabricErrno.ESHUTDOWN);
        }
    }

    /** Both wait in the driver while the ring is full; the entry of one must not free the memory of the other. */
    @Test
    void shouldKeepALongMessageThatWaitsBehindClaims() {
        try (GroupRig rig = new GroupRig(Place.ONE_DRIVER, 1, SMALL_RING);
            Publication publication = Publication.on(rig.writer.fabric, GroupRig.GROUP).open();
            Subscription reader = Subscription.on(rig.readers.getFirst().fabric, GroupRig.GROUP).open()) {
            SendClaim claim = new SendClaim();
            while (publication.position() < 600) {
                int i = (int) publication.position();
                int result = i % 3 == 0 ? offer(publication, i, 4000) : publication.tryClaim(12, claim);
                if (i % 3 != 0 && result == 0) {
                    claim.buffer().putInt(0, i);
                    claim.buffer().putBytes(4, FabricNode.pattern(i, 0, 8));
                    result = publication.commit(claim, 12);
                }
                if (result != 0) {
                    assertEquals(-FabricErrno.EAGAIN, result);
                    reader.poll(keep, 1);
                }
            }
            await(reader, 600);
            for (int i = 0; i < 600; i++) {
                assertEquals(i, numbers.get(i));
            }
        }
    }

    private void assertEnds(Subscription subscription, int errno) {
        long deadline = System.nanoTime() + FabricNode.DEADLINE_NS;
        int result;
        do {
            result = subscription.poll(keep, 16);
            assertTrue(System.nanoTime() - deadline < 0, "it has not ended");
        } while (result == -FabricErrno.EAGAIN);
        assertEquals(-errno, result);
    }

    @Test
    void shouldShowGapsAndContinueWhereAReaderHasLeft() {
        try (GroupRig rig = new GroupRig(Place.ONE_DRIVER, 1, "jfabric.shm.groupRingLengthBytes=4k",
            "jfabric.engine.unexpectedBudgetBytes=64k", "jfabric.engine.creditWindowBytes=4k",
            "jfabric.engine.eagerLimitBytes=1k", "jfabric.queue.slabLengthBytes=64k");
            Publication publication = Publication.on(rig.writer.fabric, GroupRig.GROUP + "?lossy").open()) {
            List<String> gaps = new ArrayList<>();
            LogPosition next;
            StreamListener all = new StreamListener() {
                @Override
                public void onMessage(DirectBuffer buffer, int offset, int length, StreamHeader header) {
                    keep.onMessage(buffer, offset, length, header);
                }

                @Override
                public void onGap(long first, long last) {
                    assertEquals(numbers.isEmpty() ? 0 : positions.getLast() + 1, first);
                    gaps.add(first + " to " + last);
                    positions.add(last);
                }
            };
            try (Subscription reader = Subscription.on(rig.readers.getFirst().fabric, GroupRig.GROUP).open()) {
                for (int i = 0; i < 2000; i++) {
                    while (offer(publication, i, 200) == -FabricErrno.EAGAIN) {
                        Thread.onSpinWait();
                    }
                }
                while (reader.position() < publication.position()) {
                    reader.poll(all, 16);
                }
                assertTrue(!gaps.isEmpty() && numbers.size() < 2000, gaps::toString);
                next = reader.next();
            }
            assertEquals(0, offer(publication, 2000, 100));
            numbers.clear();
            try (Subscription again = Subscription.on(rig.readers.getFirst().fabric, GroupRig.GROUP)
                .from(next).open()) {
                await(again, 1);
                assertEquals(List.of(2000), numbers);
                assertEquals(2000, positions.getLast());
            }
        }
    }

    @Test
    void shouldWriteALongMessageThatWasOfferedBeforeTheEnd() throws InterruptedException {
        try (GroupRig rig = new GroupRig(Place.PROCESSES, 1, SMALL_RING)) {
            Publication publication = Publication.on(rig.writer.fabric, GroupRig.GROUP).open();
            Subscription reader = Subscription.on(rig.readers.getFirst().fabric, GroupRig.GROUP).open();
            int count = 0;
            for (int refused = 0; refused < 1000; refused++) {
                if (offer(publication, count, 5000) == 0) {
                    count++;
                    refused = 0;
                }
            }
            // it waits for room, which this reader makes
            Thread closing = Thread.ofPlatform().start(publication::close);
            await(reader, count);
            assertEnds(reader, FabricErrno.ESHUTDOWN);
            assertEquals(count, numbers.size());
            closing.join();
        }
    }

    @Test
    void shouldSleepUntilAMessageComes() {
        try (GroupRig rig = new GroupRig(Place.PROCESSES, 1);
            Publication publication = Publication.on(rig.writer.fabric, GroupRig.GROUP).open();
            Subscription reader = Subscription.on(rig.readers.getFirst().fabric, GroupRig.GROUP).blocking().open()) {
            assertEquals(-FabricErrno.EAGAIN, reader.await(1_000_000));
            assertEquals(0, offer(publication, 7, 60));
            assertEquals(0, reader.await(FabricNode.DEADLINE_NS));
            assertEquals(1, reader.poll(keep, 16));
            assertEquals(List.of(7), numbers);
        }
    }

    private long read;

    @Tag("compiled")
    @Test
    void shouldAllocateNothing() {
        try (GroupRig rig = new GroupRig(Place.ONE_DRIVER, 1);
            Publication publication = Publication.on(rig.writer.fabric, GroupRig.GROUP).open();
            Subscription reader = Subscription.on(rig.readers.getFirst().fabric, GroupRig.GROUP).open()) {
            StreamListener count = (buffer, offset, length, header) -> read += length;
            exchange(publication, reader, count, 20_000);
            assertEquals(0, AllocatedBytes.least(() -> exchange(publication, reader, count, 1000)));
        }
    }

    private void exchange(Publication publication, Subscription reader, StreamListener handler, int count) {
        for (int i = 0; i < count; i++) {
            while (publication.offer(bytes, 0, 64) != 0) {
                Thread.onSpinWait();
            }
            while (reader.position() < publication.position()) {
                reader.poll(handler, 16);
            }
        }
    }
}
