package org.jfabric.driver.hostile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.BitSet;
import java.util.List;
import org.agrona.UnsafeApi;
import org.jfabric.codec.control.WaitObj;
import org.jfabric.driver.ControlClient;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.layout.CompletionQueueDescriptor;
import org.jfabric.layout.CounterDescriptor;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Files that are cut while the driver has them mapped: the client that owns them is ended with the reason, its peers
 * see error entries or nothing at all, the driver's threads go on.
 */
@Tag("hostile")
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class CutFiles {
    @RegisterExtension
    final WatchedDriver rig;

    private static final long KIND = Flags.TAGGED | Flags.COMPLETION;
    private static final int LENGTH = 1 << 20;

    private int names;

    CutFiles(String... options) {
        rig = new WatchedDriver(options);
    }

    private String name() {
        return "cut-" + ++names + '-' + Long.toHexString(System.nanoTime());
    }

    static void cut(Path directory, String file, long bytes) {
        try (FileChannel channel = FileChannel.open(directory.resolve(file), StandardOpenOption.WRITE)) {
            channel.truncate(bytes);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    static String nameOf(org.jfabric.ffi.MappedFile file) {
        return Path.of(file.path()).getFileName().toString();
    }

    @ParameterizedTest
    @ValueSource(strings = {"tq", "rq", "cq", "ctl"})
    void shouldEndTheClientWhoseFileIsCut(String type) {
        for (int round = 0; round < 5; round++) {
            ControlClient client = new ControlClient(rig.directory(), () -> { });
            ControlClient.Queues queues = client.open(name(), "");
            ControlClient.Region region = client.register(LENGTH);
            long self = client.insert(queues, queues.address);
            client.receive(queues, region.address(0), 64, 9, 1);
            Deadline.awaitParked("the receive is taken", queues.receive::isDrained);
            var file = switch (type) {
                case "tq" -> queues.tq;
                case "rq" -> queues.rq;
                case "cq" -> queues.cq;
                default -> client.control;
            };
            if (!type.equals("tq")) {
                // the record is there, but the driver does not see it before the file is cut, or after
                client.send(queues, KIND, region.address(0), 64, self, 9, 2);
            }
            cut(rig.directory(), nameOf(file), 0);
            Deadline.awaitParked("the client's end", () -> {
                client.doorbell();
                if (type.equals("cq") && !client.isEnded()) {
                    int offset = queues.transmit.claim(64);
                    if (offset >= 0) {
                        UnsafeApi.setMemory(queues.transmit.ringAddress() + offset + 8, 56, (byte) 0);
                        queues.transmit.commit(offset, 64, 2);
                        client.signal(queues);
                    }
                }
                return client.isEnded();
            });
            rig.assertLogged("was ended", nameOf(file), "was cut");
            rig.bystanders().assertUnharmed();
            client.close();
        }
        rig.assertReclaimed();
    }

    @Test
    void shouldEndTheClientWhoseCounterIsCut() {
        for (int round = 0; round < 5; round++) {
            ControlClient client = new ControlClient(rig.directory(), () -> { });
            ControlClient.Count count = client.openCounter(round % 2 == 0 ? WaitObj.NONE : WaitObj.UNSPEC);
            ControlClient.Queues queues = client.open(name(), "", 0, 0, count);
            ControlClient.Region region = client.register(LENGTH);
            long self = client.insert(queues, queues.address);
            client.send(queues, KIND, region.address(0), 64, self, 9, 1);
            Deadline.awaitParked("the count", () -> count.counted() == 1);
            // nothing happens before something is counted
            cut(rig.directory(), nameOf(count.file()), 0);
            rig.bystanders().assertUnharmed();
            client.send(queues, KIND, region.address(0), 64, self, 9, 2);
            Deadline.awaitParked("the client's end", client::isEnded);
            rig.assertLogged("was ended", nameOf(count.file()), "was cut");
            rig.bystanders().assertUnharmed();
            client.close();
        }
        rig.assertReclaimed();
    }

    @Test
    void shouldEndTheClientWhoseCounterIsCutWhileWorkWaitsForIt() {
        for (int round = 0; round < 5; round++) {
            ControlClient client = new ControlClient(rig.directory(), () -> { });
            ControlClient.Count count = client.openCounter(WaitObj.NONE);
            ControlClient.Queues queues = client.open(name(), "", Flags.TAGGED | Flags.TRIGGER, 0, null);
            ControlClient.Region region = client.register(LENGTH);
            long self = client.insert(queues, queues.address);
            for (int i = 1; i <= 10; i++) {
                TriggerGarbageTest.sendAt(client, queues, count, round % 2 == 0 ? i : 1000, self, region.address(0), i);
            }
            UnsafeApi.putLongRelease(null, count.file().address() + CounterDescriptor.ADDED_OFFSET, 3);
            client.signal(queues);
            Deadline.awaitParked("the requests are taken", queues.transmit::isDrained);
            cut(rig.directory(), nameOf(count.file()), 0);
            // the driver compares in each cycle, also if nothing of this client happens
            Deadline.awaitParked("the client's end", () -> {
                client.doorbell();
                return client.isEnded();
            });
            rig.assertLogged("was ended", nameOf(count.file()), "was cut");
            rig.bystanders().assertUnharmed();
            client.close();
        }
        rig.assertReclaimed();
    }

    /** What a client writes where only the driver writes changes its own values, until the driver writes them again. */
    @Test
    void shouldNeverReadWhatAClientWritesIntoItsCounter() {
        ControlClient client = rig.client();
        ControlClient.Count count = client.openCounter(WaitObj.UNSPEC);
        ControlClient.Queues queues = client.open(name(), "", 0, 0, count);
        ControlClient.Region region = client.register(LENGTH);
        long self = client.insert(queues, queues.address);
        for (int i = 1; i <= 50; i++) {
            // sleepers and wait channel included, whom nobody is there to wake
            UnsafeApi.setMemory(count.file().address() + CounterDescriptor.ADDED_OFFSET,
                CounterDescriptor.FILE_LENGTH - CounterDescriptor.ADDED_OFFSET, (byte) (i % 2 == 0 ? -1 : i));
            client.send(queues, KIND, region.address(0), 0, self, 9, i);
            int expected = i;
            Deadline.awaitParked("the count", () -> count.counted() == expected);
        }
        assertFalse(client.isEnded());
        rig.bystanders().assertUnharmed();
        client.close();
        rig.assertReclaimed();
    }

    @Test
    void shouldEndOnlyTheSenderWhoseRegionIsCut() {
        FabricNode peer = rig.opened(Bystanders.node("loopback", rig.directory()));
        for (int length : new int[] {64, 8192, 100_000, LENGTH}) {
            ControlClient client = new ControlClient(rig.directory(), () -> { });
            ControlClient.Queues queues = client.open(name(), "");
            ControlClient.Region region = client.register(LENGTH);
            long toPeer = client.insert(queues, peer.endpoint.name());
            assertEquals(0, peer.endpoint.trecv(peer.memory.address(0), LENGTH, -1L, 5, 0, length));
            cut(rig.directory(), nameOf(region.file()), 4096);
            client.send(queues, KIND, region.address(0), length, toPeer, 5, 3);
            Deadline.awaitParked("the client's end", client::isEnded);
            rig.assertLogged("was ended", nameOf(region.file()), "was cut");
            client.close();
            // whether the receive took part of it or not, it is the peer's to use again
            assertEnds(peer, length);
            assertSelf(peer);
        }
        peer.close();
        rig.assertReclaimed();
    }

    /** The receive has ended, or it can be cancelled. */
    private static void assertEnds(FabricNode peer, long context) {
        FabricNode.Entry entry = peer.poll();
        if (entry == null) {
            assertEquals(0, peer.endpoint.cancel(context));
            entry = Deadline.awaitValue("the receive's end", peer::poll);
        }
        assertEquals(context, entry.context(), entry.toString());
    }

    @Test
    void shouldKeepNothingOfAMessageWhoseRegionWasCutBeforeItWasStored() {
        FabricNode peer = rig.opened(Bystanders.node("loopback", rig.directory()));
        for (int length : new int[] {64, 4096}) {
            ControlClient client = new ControlClient(rig.directory(), () -> { });
            ControlClient.Queues queues = client.open(name(), "");
            ControlClient.Region region = client.register(LENGTH);
            long toPeer = client.insert(queues, peer.endpoint.name());
            cut(rig.directory(), nameOf(region.file()), 4096);
            client.send(queues, KIND, region.address(0), length, toPeer, 5, 3);
            Deadline.awaitParked("the client's end", client::isEnded);
            client.close();
            // a receive that is posted afterwards takes it or waits, but is not kept for what will never be whole
            assertEquals(0, peer.endpoint.trecv(peer.memory.address(0), LENGTH, -1L, 5, 0, length));
            if (!assertSelf(peer, length)) {
                assertEnds(peer, length);
            }
            assertSelf(peer);
        }
        peer.close();
        rig.assertReclaimed();
    }

    /** The claim is the innocent one's, the memory is not: it ends, with an error where bytes are lacking. */
    @Test
    void shouldEndAClaimWhoseMessageWasCutByItsSender() {
        FabricNode peer = rig.opened(Bystanders.node("loopback", rig.directory()));
        for (int length : new int[] {64, 4096, 100_000, LENGTH}) {
            ControlClient client = new ControlClient(rig.directory(), () -> { });
            ControlClient.Queues queues = client.open(name(), "");
            ControlClient.Region region = client.register(LENGTH);
            long toPeer = client.insert(queues, peer.endpoint.name());
            client.send(queues, KIND, region.address(0), length, toPeer, 5, 3);
            Deadline.awaitParked("the claim", () -> {
                assertEquals(0, peer.endpoint.messages().trecvmsg(0, 0, -1L, 5, 0, length, Flags.PEEK | Flags.CLAIM));
                FabricNode.Entry entry = Deadline.awaitValue("the look's end", peer::poll);
                assertTrue(entry.err() == 0 || entry.err() == FabricErrno.ENOMSG, entry.toString());
                return entry.err() == 0;
            });
            cut(rig.directory(), nameOf(region.file()), 0);
            assertEquals(0, peer.endpoint.messages().trecvmsg(
                peer.memory.address(0), LENGTH, -1L, 0, 0, length, Flags.CLAIM));
            FabricNode.Entry entry = Deadline.awaitValue("the claim's end", peer::poll);
            assertEquals(length, entry.context(), entry.toString());
            // a short message was stored before the file was cut
            assertEquals(length <= 4096, entry.err() == 0, entry.toString());
            if (length > 4096) {
                Deadline.awaitParked("the client's end", client::isEnded);
                rig.assertLogged("was ended", nameOf(region.file()), "was cut");
            }
            // the claim is gone, its context free
            assertEquals(0, peer.endpoint.messages().trecvmsg(
                peer.memory.address(0), LENGTH, -1L, 0, 0, length, Flags.CLAIM));
            assertEquals(FabricErrno.EINVAL, Deadline.awaitValue("the answer", peer::poll).err());
            rig.bystanders().assertUnharmed();
            client.close();
            assertSelf(peer);
        }
        peer.close();
        rig.assertReclaimed();
    }

    /** A buffer that is cut between the look, the claim and the fetch; the sender has one entry, whatever happens. */
    @Test
    void shouldEndOnlyTheOneWhoseBufferIsCutWhenItLooks() {
        FabricNode peer = rig.opened(Bystanders.node("loopback", rig.directory()));
        for (int length : new int[] {64, 8000, 100_000, LENGTH}) {
            for (boolean fetches : new boolean[] {false, true}) {
                ControlClient client = new ControlClient(rig.directory(), () -> { });
                ControlClient.Queues queues = client.open(name(), "");
                ControlClient.Region region = client.register(2 * LENGTH);
                long toClient = peer.av.insert(queues.address);
                assertEquals(0, peer.endpoint.tsend(peer.memory.address(0), 64, toClient, 6, 6));
                assertEquals(0, peer.endpoint.tsend(peer.memory.address(0), length, toClient, 5, length));
                // the other message came before it
                Deadline.awaitParked("the claim", () -> {
                    Entries.receive(client, queues, KIND | Flags.PEEK | Flags.CLAIM, region.address(0), 8, 5, 7);
                    long kind = client.awaitCompletion(queues)[0];
                    Entries.release(queues);
                    return kind == CompletionQueueDescriptor.KIND_SUCCESS;
                });
                // this message is fetched, or the further one only looked at, into memory that is no more
                cut(rig.directory(), nameOf(region.file()), 4096);
                Entries.receive(client, queues, KIND | (fetches ? Flags.CLAIM : Flags.PEEK),
                    region.address(LENGTH), LENGTH, fetches ? 5 : 6, 7);
                Deadline.awaitParked("the client's end", client::isEnded);
                rig.assertLogged("was ended", nameOf(region.file()), "was cut");
                BitSet ended = new BitSet();
                for (int i = 0; i < 2; i++) {
                    ended.set((int) Deadline.awaitValue("a send's end", peer::poll).context());
                }
                assertTrue(ended.get(6) && ended.get(length), ended::toString);
                rig.bystanders().assertUnharmed();
                client.close();
                assertSelf(peer);
            }
        }
        peer.close();
        rig.assertReclaimed();
    }

    /** The innocent one is in the middle of its close when the other one's queue fails. */
    @Test
    void shouldCloseAnEndpointWholeWhosePeersCompletionQueueIsCut() {
        for (int round = 0; round < 3; round++) {
            FabricNode closing = rig.opened(Bystanders.node("loopback", rig.directory()));
            ControlClient client = new ControlClient(rig.directory(), () -> { });
            ControlClient.Queues queues = client.open(name(), "");
            ControlClient.Region region = client.register(LENGTH);
            long toClosing = client.insert(queues, closing.endpoint.name());
            client.send(queues, KIND, region.address(0), LENGTH, toClosing, 5, 3);
            Deadline.awaitParked("the announcement", queues.transmit::isDrained);
            assertSelf(closing);
            cut(rig.directory(), nameOf(queues.cq), 0);
            closing.endpoint.close();
            Deadline.awaitParked("the client's end", client::isEnded);
            rig.assertLogged("was ended", nameOf(queues.cq), "was cut");
            rig.bystanders().assertUnharmed();
            client.close();
            closing.close();
        }
        rig.assertReclaimed();
    }

    @Test
    void shouldEndOnlyTheReceiverWhoseRegionIsCut() {
        FabricNode peer = rig.opened(Bystanders.node("loopback", rig.directory()));
        for (int length : new int[] {64, 8192, 100_000, LENGTH}) {
            ControlClient client = new ControlClient(rig.directory(), () -> { });
            ControlClient.Queues queues = client.open(name(), "");
            ControlClient.Region region = client.register(LENGTH);
            client.receive(queues, region.address(0), LENGTH, 5, 4);
            Deadline.awaitParked("the receive is taken", queues.receive::isDrained);
            long toClient = peer.av.insert(queues.address);
            cut(rig.directory(), nameOf(region.file()), 4096);
            assertEquals(0, peer.endpoint.tsend(peer.memory.address(0), length, toClient, 5, length));
            Deadline.awaitParked("the client's end", client::isEnded);
            rig.assertLogged("was ended", nameOf(region.file()), "was cut");
            // exactly one entry for the send, success or not
            FabricNode.Entry entry = Deadline.awaitValue("the send's end", peer::poll);
            assertEquals(length, entry.context(), entry.toString());
            client.close();
            assertSelf(peer);
        }
        peer.close();
        rig.assertReclaimed();
    }

    /** The peer's record must be executed once, also if it was the receiver's queue that failed under it. */
    @Test
    void shouldEndOnlyTheReceiverWhoseCompletionQueueIsCut() {
        FabricNode peer = rig.opened(Bystanders.node("loopback", rig.directory()));
        for (int round = 0; round < 10; round++) {
            ControlClient client = new ControlClient(rig.directory(), () -> { });
            ControlClient.Queues queues = client.open(name(), "");
            ControlClient.Region region = client.register(LENGTH);
            for (int i = 0; i < 20; i++) {
                client.receive(queues, region.address(0), LENGTH, 5, i);
            }
            Deadline.awaitParked("the receives are taken", queues.receive::isDrained);
            long toClient = peer.av.insert(queues.address);
            assertEquals(0, peer.endpoint.tsend(peer.memory.address(0), 8, toClient, 5, 900));
            assertEquals(900, Deadline.awaitValue("the send's end", peer::poll).context());
            cut(rig.directory(), nameOf(queues.cq), 0);
            for (int i = 0; i < 10; i++) {
                assertEquals(0, peer.endpoint.tsend(peer.memory.address(0), 8, toClient, 5, i));
            }
            BitSet ended = new BitSet();
            for (int i = 0; i < 10; i++) {
                ended.set((int) Deadline.awaitValue("the send's end", peer::poll).context());
            }
            assertEquals(10, ended.cardinality(), ended.toString());
            Deadline.awaitParked("the client's end", client::isEnded);
            client.close();
            assertSelf(peer);
            assertEquals(peer.info.txAttr().size(), peer.endpoint.txSizeLeft());
        }
        // no operation may have been lost on the way: as many as ever can be outstanding
        assertAllOperationsUsable(peer);
        peer.close();
        rig.assertReclaimed();
    }

    @Test
    void shouldEndOnlyTheOwnerOfManyFilesThatAreCutAtOnce() throws IOException {
        ControlClient client = new ControlClient(rig.directory(), () -> { });
        ControlClient.Queues queues = client.open(name(), "");
        ControlClient.Region region = client.register(LENGTH);
        client.insert(queues, queues.address);
        for (var file : List.of(region.file(), queues.cq, queues.rq, queues.tq, client.control)) {
            Path path = rig.directory().resolve(nameOf(file));
            try (FileChannel channel = FileChannel.open(path, StandardOpenOption.WRITE)) {
                channel.truncate(0);
            } catch (NoSuchFileException gone) {
                // the driver has met one of the others meanwhile, and deleted the rest
                continue;
            }
            Files.deleteIfExists(path);
        }
        client.doorbell();
        Deadline.awaitParked("the client's end", client::isEnded);
        client.close();
        rig.assertReclaimed();
    }

    /** The mapping keeps the file that the driver made, whatever is put in its place. */
    @Test
    void shouldNotNoticeThatTheNameOfARegionIsGivenToAnotherFile() throws IOException {
        ControlClient client = rig.client();
        ControlClient.Queues queues = client.open(name(), "");
        ControlClient.Region region = client.register(LENGTH);
        long self = client.insert(queues, queues.address);
        Path name = rig.directory().resolve(nameOf(region.file()));
        for (int round = 0; round < 2; round++) {
            Files.delete(name);
            if (round == 0) {
                Files.createSymbolicLink(name, Path.of("/dev/zero"));
            } else {
                Files.write(name, new byte[10]);
            }
            UnsafeApi.putLong(region.data(), 42 + round);
            client.receive(queues, region.address(4096), 8, 1, 1);
            client.send(queues, KIND, region.address(0), 8, self, 1, 1);
            for (int i = 0; i < 2; i++) {
                assertEquals(CompletionQueueDescriptor.KIND_SUCCESS, client.awaitCompletion(queues)[0]);
            }
            assertEquals(42 + round, UnsafeApi.getLong(region.data() + 4096));
            assertFalse(client.isEnded());
        }
        client.close();
        rig.assertReclaimed();
    }

    private static void assertSelf(FabricNode node) {
        assertFalse(assertSelf(node, 0));
    }

    /** It still reaches itself; answers whether another receive, of that context, has ended meanwhile. */
    private static boolean assertSelf(FabricNode node, long other) {
        long self = node.av.insert(node.endpoint.name());
        node.fill(0, 5000, 3);
        assertEquals(0, node.endpoint.trecv(node.memory.address(1 << 20), 5000, -1L, 8, 0, 71));
        assertEquals(0, node.endpoint.tsend(node.memory.address(0), 5000, self, 8, 72));
        boolean hasOther = false;
        for (int seen = 0; seen < 2;) {
            FabricNode.Entry entry = Deadline.awaitValue("an entry", node::poll);
            if (other != 0 && entry.context() == other) {
                hasOther = true;
                continue;
            }
            assertEquals(0, entry.err(), entry.toString());
            assertTrue(entry.context() == 71 || entry.context() == 72, entry.toString());
            seen++;
        }
        node.assertFilled(1 << 20, 5000, 3);
        return hasOther;
    }

    private static void assertAllOperationsUsable(FabricNode node) {
        long self = node.av.insert(node.endpoint.name());
        long size = node.info.txAttr().size();
        int posted = 0;
        // announced messages stay outstanding until they are received
        while (node.endpoint.tsend(node.memory.address(0), LENGTH, self, 1000 + posted, posted) == 0) {
            posted++;
        }
        assertTrue(posted == size || posted > 100, posted + " of " + size + " sends could be outstanding");
        for (int i = 0; i < posted; i++) {
            int receive = i;
            Deadline.awaitParked("room for a receive", () -> node.endpoint.trecv(
                node.memory.address(LENGTH), LENGTH, -1L, 1000 + receive, 0, 5000) == 0);
            for (int entries = 0; entries < 2; entries++) {
                FabricNode.Entry entry = Deadline.awaitValue("an entry", node::poll);
                assertEquals(0, entry.err(), FabricErrno.name(entry.err()));
            }
        }
    }
}
