package org.jfabric.driver.conformance.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.AtomicRequest;
import org.jfabric.CompletionQueue;
import org.jfabric.Counter;
import org.jfabric.Endpoint;
import org.jfabric.RemoteRequest;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.AtomicDatatype;
import org.jfabric.info.AtomicOperation;
import org.jfabric.info.CompletionFormat;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.CounterAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Mode;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** What initiator and target of reads, writes and atomic operations see in their queues and counters. */
@Tag("conformance")
@Tag("link")
@Timeout(240)
class RemoteEntryTest {
    private static final long[] LEVELS = {
        0, Flags.INJECT_COMPLETE, Flags.TRANSMIT_COMPLETE, Flags.DELIVERY_COMPLETE};

    private static RemoteMemoryPair pair(Setup setup) {
        return new RemoteMemoryPair(setup, Flags.ATOMIC | Flags.RMA_EVENT, 512);
    }

    private static WordAccess access(RemoteMemoryPair pair) {
        return new WordAccess(pair.a, pair.toB, pair.key);
    }

    /** {@code RMA} or {@code ATOMIC} of a kind of {@link WordAccess}. */
    private static long family(int kind) {
        return kind == WordAccess.WRITE || kind == WordAccess.READ ? Flags.RMA : Flags.ATOMIC;
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"CQ-131", "CQ-132", "CQ-126", "CQ-127"})
    void shouldMarkWhatBeganHereByFamilyAndDirection(Setup setup) {
        setup.assumeErrorReplies();
        try (RemoteMemoryPair pair = new RemoteMemoryPair(setup, Flags.ATOMIC, 512)) {
            WordAccess good = access(pair);
            WordAccess bad = new WordAccess(pair.a, pair.toB, pair.key + 1_000_000);
            for (int kind = 0; kind < WordAccess.KINDS; kind++) {
                long marks = family(kind) | (WordAccess.reads(kind) ? Flags.READ : Flags.WRITE);
                good.post(kind, 0, 1, 1);
                assertEquals(marks, pair.a.await(1).flags(), "kind " + kind);
                bad.post(kind, 0, 1, 2);
                FabricNode.Entry failed = pair.a.await();
                assertEquals(FabricErrno.EKEYREJECTED, failed.err());
                assertEquals(marks, failed.flags(), "kind " + kind);
            }
            pair.b.assertQuiet(50);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"CQ-133", "CQ-134", "CQ-126", "CQ-127"})
    void shouldMarkWhatAPeerBeganByFamilyAndDirection(Setup setup) {
        try (RemoteMemoryPair pair = pair(setup)) {
            WordAccess access = access(pair);
            for (int kind = 0; kind < WordAccess.KINDS; kind++) {
                access.post(kind, 8, 1, 5);
                FabricNode.Entry entry = pair.b.await(0);
                assertEquals(family(kind) | (WordAccess.reads(kind) ? Flags.REMOTE_READ : Flags.REMOTE_WRITE),
                    entry.flags(), "kind " + kind);
                assertEquals(Long.BYTES, entry.len());
                assertEquals(0, entry.data());
                assertEquals(pair.pair.toA, entry.source());
                pair.a.await(5);
            }
            // what was refused is not reported
            new WordAccess(pair.a, pair.toB, pair.key + 1_000_000).post(WordAccess.SUM, 8, 1, 6);
            assertEquals(FabricErrno.EKEYREJECTED, pair.a.await().err());
            access.post(WordAccess.SUM, 4, 1, 7);
            assertEquals(FabricErrno.EINVAL, pair.a.await().err());
            pair.b.assertQuiet(50);
        }
    }

    /** The mode that lets other flags be left out. */
    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement("CQ-144")
    void shouldMarkAccessesDataAndFreedBuffersInNotifyingModeToo(Setup setup) {
        try (RemoteMemoryPair pair = new RemoteMemoryPair(setup, Flags.RMA_EVENT | Flags.MULTI_RECV, 512)) {
            Endpoint endpoint = pair.b.domain.openEndpoint(pair.b.info.copy().mode(Mode.NOTIFY_FLAGS_ONLY));
            endpoint.bind(pair.b.cq, Flags.TRANSMIT | Flags.RECV);
            endpoint.bind(pair.b.av);
            endpoint.enable();
            long to = pair.a.av.insert(endpoint.name());
            long buf = pair.a.memory.address();
            assertEquals(0, pair.remote.write(buf, 8, to, 0, pair.key, 1));
            assertEquals(Flags.RMA | Flags.REMOTE_WRITE, pair.b.await(0).flags());
            pair.a.await(1);
            assertEquals(0, pair.remote.read(buf, 8, to, 0, pair.key, 2));
            assertEquals(Flags.RMA | Flags.REMOTE_READ, pair.b.await(0).flags());
            pair.a.await(2);
            assertEquals(0, pair.remote.writedata(buf, 8, 5, to, 0, pair.key, 3));
            assertEquals(Flags.RMA | Flags.REMOTE_WRITE | Flags.REMOTE_CQ_DATA, pair.b.await(0).flags());
            pair.a.await(3);
            assertEquals(0, endpoint.messages().recvmsg(pair.b.memory.address(), 8, -1L, 4, Flags.MULTI_RECV));
            assertEquals(0, pair.a.endpoint.send(buf, 8, to, 5));
            pair.a.await(5);
            long flags = pair.b.await(4).flags();
            if ((flags & Flags.MULTI_RECV) == 0) {
                flags |= pair.b.await(4).flags();
            }
            assertEquals(Flags.MULTI_RECV, flags & Flags.MULTI_RECV);
        }
    }

    /** The target reads rarely: accesses wait for its slots, and keep their order. */
    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"CQ-133", "CQ-134"})
    void shouldLoseNoEntryOfATargetThatReadsSlowly(Setup setup) {
        int count = 2000;
        try (RemoteMemoryPair pair = new RemoteMemoryPair(setup, Flags.ATOMIC | Flags.RMA_EVENT, 16)) {
            WordAccess access = access(pair);
            int[] kinds = {WordAccess.SUM, WordAccess.FETCH_SUM, WordAccess.READ};
            pair.bytes().putLong(0, 0);
            int posted = 0;
            int seen = 0;
            int ended = 0;
            long beginNs = System.nanoTime();
            while (seen < count || ended < count) {
                while (posted < count && access.tryPost(kinds[posted % 3], 0, 1, posted) == 0) {
                    posted++;
                }
                FabricNode.Entry local = pair.a.poll();
                if (local != null) {
                    assertEquals(ended, local.context());
                    assertEquals(0, local.err());
                    if (ended % 3 != 0) {
                        // a sum, a fetch with a sum, a read
                        assertEquals(ended / 3 * 2 + ended % 3, access.result(ended), "access " + ended);
                    }
                    ended++;
                }
                FabricNode.Entry entry = posted % 4 == 0 || local == null ? pair.b.poll() : null;
                if (entry != null) {
                    long direction = seen % 3 == 0 ? Flags.REMOTE_WRITE : Flags.REMOTE_READ;
                    assertEquals(family(kinds[seen % 3]) | direction, entry.flags(), "entry " + seen);
                    seen++;
                }
                pair.pair.pump();
                int[] state = {posted, seen, ended};
                assertEquals(true, System.nanoTime() - beginNs < Deadline.ns(60),
                    () -> state[0] + " posted, " + state[1] + " seen, " + state[2] + " ended");
            }
            assertNull(pair.b.poll());
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"EP-042", "CQ-001"})
    void shouldReportAccessesInTheQueueOfTheirDirection(Setup setup) {
        try (RemoteMemoryPair pair = pair(setup);
            CompletionQueue sends = queue(pair.a);
            CompletionQueue receives = queue(pair.a);
            Endpoint endpoint = pair.a.domain.openEndpoint(pair.a.info)) {
            endpoint.bind(sends, Flags.TRANSMIT);
            endpoint.bind(receives, Flags.RECV);
            endpoint.bind(pair.a.av);
            endpoint.enable();
            UnsafeBuffer entry = new UnsafeBuffer(new byte[48]);
            long buf = pair.a.memory.address();
            assertEquals(0, endpoint.remoteMemory().write(buf, 8, pair.toB, 0, pair.key, 1));
            awaitEntry(pair, sends, entry, 1);
            assertEquals(0, endpoint.remoteMemory().read(buf, 8, pair.toB, 0, pair.key, 2));
            awaitEntry(pair, sends, entry, 2);
            assertEquals(0, endpoint.atomics().atomic(
                buf, 1, pair.toB, 0, pair.key, AtomicDatatype.INT64, AtomicOperation.SUM, 3));
            awaitEntry(pair, sends, entry, 3);
            assertEquals(0, endpoint.atomics().fetchAtomicmsg(new AtomicRequest()
                .operation(AtomicOperation.SUM, AtomicDatatype.INT64, 1).operands(buf).results(buf + 8)
                .destAddr(pair.toB).remote(0, pair.key).opContext(4)));
            awaitEntry(pair, sends, entry, 4);
            assertEquals(0, endpoint.send(buf, 8, pair.toB, 5));
            awaitEntry(pair, sends, entry, 5);
            assertEquals(0, endpoint.tsend(buf, 8, pair.toB, 7, 6));
            awaitEntry(pair, sends, entry, 6);
            assertEquals(-FabricErrno.EAGAIN, receives.read(entry, 0, 1));
            // what comes from the peer is in the other one
            long back = pair.b.av.insert(endpoint.name());
            assertEquals(0, endpoint.recv(buf, 8, -1L, 7));
            assertEquals(0, pair.b.endpoint.send(pair.b.memory.address(), 8, back, 1));
            awaitEntry(pair, receives, entry, 7);
            assertEquals(0, endpoint.trecv(buf, 8, -1L, 7, 0, 8));
            assertEquals(0, pair.b.endpoint.tsend(pair.b.memory.address(), 8, back, 7, 1));
            awaitEntry(pair, receives, entry, 8);
            assertEquals(-FabricErrno.EAGAIN, sends.read(entry, 0, 1));
        }
    }

    private static CompletionQueue queue(FabricNode node) {
        return node.domain.openCompletionQueue(new CompletionQueueAttr().size(16).format(CompletionFormat.CONTEXT));
    }

    private static void awaitEntry(RemoteMemoryPair pair, CompletionQueue queue, UnsafeBuffer entry, long context) {
        long beginNs = System.nanoTime();
        while (queue.read(entry, 0, 1) != 1) {
            pair.pair.pump();
            Thread.yield();
            assertEquals(true, System.nanoTime() - beginNs < FabricNode.DEADLINE_NS, () -> "no entry " + context);
        }
        assertEquals(context, entry.getLong(0));
    }

    /** Whatever level is asked for, the bytes are here when the entry is. */
    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"CL-017", "REF-043"})
    void shouldEndWhatReturnsDataNotBeforeTheDataIsHere(Setup setup) {
        int length = 500_000;
        try (RemoteMemoryPair pair = new RemoteMemoryPair(setup, Flags.ATOMIC, 512)) {
            UnsafeBuffer local = pair.a.memory.buffer();
            long results = pair.a.memory.address();
            RemoteRequest read = new RemoteRequest();
            AtomicRequest fetch = new AtomicRequest();
            for (int round = 0; round < 10; round++) {
                for (long level : LEVELS) {
                    local.setMemory(0, length, (byte) 0);
                    pair.bytes().putBytes(0, FabricNode.pattern(round, 0, length));
                    assertEquals(0, pair.remote.readmsg(read.clear().memory(results, length).destAddr(pair.toB)
                        .remote(0, pair.key).opContext(1).flags(level)));
                    pair.a.await(1);
                    pair.a.assertFilled(0, length, round);

                    local.setMemory(0, 1024, (byte) 0);
                    assertEquals(0, pair.a.endpoint.atomics().fetchAtomicmsg(fetch.clear()
                        .operation(AtomicOperation.ATOMIC_READ, AtomicDatatype.UINT8, 1024).results(results)
                        .destAddr(pair.toB).remote(0, pair.key).opContext(2).flags(level)));
                    pair.a.await(2);
                    pair.a.assertFilled(0, 1024, round);
                }
            }
        }
    }

    /** A target whose driver does not run serves nothing: neither a read nor a fetch ends. */
    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("CL-017")
    void shouldNotEndWhatReturnsDataWhileTheTargetRests(Setup setup) {
        try (RemoteMemoryPair pair = new RemoteMemoryPair(setup, Flags.ATOMIC, 512)) {
            WordAccess access = access(pair);
            access.post(WordAccess.WRITE, 0, 77, 1);
            pair.a.await(1);
            for (int kind = WordAccess.READ; kind < WordAccess.SWAP; kind++) {
                access.post(kind, 0, 0, 2);
                for (int i = 0; setup == Setup.SHM_EMBEDDED && i < 100; i++) {
                    assertNull(pair.a.poll());
                }
                pair.a.await(2);
                assertEquals(77, access.result(2));
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"EP-050", "EP-052", "EP-053", "EP-055"})
    void shouldCountReadsAndWritesOfBothFamilies(Setup setup) {
        setup.assumeRemoteEvents();
        try (RemoteMemoryPair pair = pair(setup);
            Counted here = new Counted(pair.a);
            Counted there = new Counted(pair.b)) {
            pair.bytes().putLong(0, 0);
            long peer = pair.a.av.insert(there.endpoint.name());
            int writes = 0;
            int reads = 0;
            for (int kind = 0; kind < WordAccess.KINDS; kind++) {
                for (int i = 0; i <= kind; i++) {
                    here.post(kind, peer, pair.key);
                    assertEquals(0, pair.a.await().err());
                    if (WordAccess.reads(kind)) {
                        reads++;
                    } else {
                        writes++;
                    }
                    assertCounts(pair, here, reads, writes);
                    assertEquals(reads, there.awaitCount(pair, there.remoteReads, reads));
                    assertEquals(writes, there.awaitCount(pair, there.remoteWrites, writes));
                    assertEquals(0, pair.b.await().context());
                }
                // failures are counted apart, and not at the target
                here.post(kind, peer, pair.key + 1_000_000);
                assertEquals(FabricErrno.EKEYREJECTED, pair.a.await().err());
            }
            assertCounts(pair, here, reads, writes);
            assertEquals(WordAccess.KINDS - WordAccess.READ, here.reads.readErr());
            assertEquals(WordAccess.READ, here.writes.readErr());
            // an inject has no entry and is counted all the same
            UnsafeBuffer one = new UnsafeBuffer(new byte[8]);
            assertEquals(0, here.endpoint.atomics().injectAtomic(
                one, 0, 1, peer, 0, pair.key, AtomicDatatype.INT64, AtomicOperation.SUM));
            assertEquals(writes + 1, here.awaitCount(pair, here.writes, writes + 1));
            assertEquals(writes + 1, there.awaitCount(pair, there.remoteWrites, writes + 1));
            assertEquals(0, there.remoteReads.readErr() + there.remoteWrites.readErr());
        }
    }

    private static void assertCounts(RemoteMemoryPair pair, Counted here, int reads, int writes) {
        assertEquals(reads, here.awaitCount(pair, here.reads, reads));
        assertEquals(writes, here.awaitCount(pair, here.writes, writes));
        assertEquals(0, here.remoteReads.read() + here.remoteWrites.read());
    }

    /** An endpoint of a node with a counter for each kind of access. */
    private static final class Counted implements AutoCloseable {
        final Counter reads;
        final Counter writes;
        final Counter remoteReads;
        final Counter remoteWrites;
        final Endpoint endpoint;
        private final FabricNode node;

        Counted(FabricNode node) {
            this.node = node;
            reads = node.domain.openCounter(new CounterAttr());
            writes = node.domain.openCounter(new CounterAttr());
            remoteReads = node.domain.openCounter(new CounterAttr());
            remoteWrites = node.domain.openCounter(new CounterAttr());
            endpoint = node.domain.openEndpoint(node.info);
            endpoint.bind(node.cq, Flags.TRANSMIT | Flags.RECV);
            endpoint.bind(node.av);
            endpoint.bind(reads, Flags.READ);
            endpoint.bind(writes, Flags.WRITE);
            endpoint.bind(remoteReads, Flags.REMOTE_READ);
            endpoint.bind(remoteWrites, Flags.REMOTE_WRITE);
            endpoint.enable();
        }

        /** An access of each kind of {@link WordAccess} to the first word. */
        void post(int kind, long peer, long key) {
            long buf = node.memory.address();
            AtomicRequest request = new AtomicRequest().operation(AtomicOperation.SUM, AtomicDatatype.INT64, 1)
                .operands(buf).results(buf + 8).compares(buf).destAddr(peer).remote(0, key);
            int result = switch (kind) {
                case WordAccess.WRITE -> endpoint.remoteMemory().write(buf, 8, peer, 0, key, 0);
                case WordAccess.SUM -> endpoint.atomics().atomicmsg(request);
                case WordAccess.SET -> endpoint.atomics().atomicmsg(
                    request.operation(AtomicOperation.ATOMIC_WRITE, AtomicDatatype.INT64, 1));
                case WordAccess.READ -> endpoint.remoteMemory().read(buf, 8, peer, 0, key, 0);
                case WordAccess.FETCH -> endpoint.atomics().fetchAtomicmsg(
                    request.operation(AtomicOperation.ATOMIC_READ, AtomicDatatype.INT64, 1));
                case WordAccess.FETCH_SUM -> endpoint.atomics().fetchAtomicmsg(request);
                default -> endpoint.atomics().compareAtomicmsg(
                    request.operation(AtomicOperation.CSWAP, AtomicDatatype.INT64, 1));
            };
            assertEquals(0, result);
        }

        /** The counter's value when it has come that far. */
        long awaitCount(RemoteMemoryPair pair, Counter counter, long count) {
            long beginNs = System.nanoTime();
            while (counter.read() < count && System.nanoTime() - beginNs < FabricNode.DEADLINE_NS) {
                pair.pair.pump();
                Thread.yield();
            }
            return counter.read();
        }

        @Override
        public void close() {
            endpoint.close();
            reads.close();
            writes.close();
            remoteReads.close();
            remoteWrites.close();
        }
    }
}
