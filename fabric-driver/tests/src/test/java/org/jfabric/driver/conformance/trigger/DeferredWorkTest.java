package org.jfabric.driver.conformance.trigger;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.jfabric.AtomicRequest;
import org.jfabric.Counter;
import org.jfabric.DeferredWork;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.MemoryRegion;
import org.jfabric.MemoryRegionAttr;
import org.jfabric.ReceiveRequest;
import org.jfabric.RemoteRequest;
import org.jfabric.SendRequest;
import org.jfabric.TriggeredContext;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.AtomicDatatype;
import org.jfabric.info.AtomicOperation;
import org.jfabric.info.CounterAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** Work that is queued to a domain, without remote memory access. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
class DeferredWorkTest {
    private static final long ANY = -1L;

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("REF-044")
    void shouldForwardAMessageWithoutTheApplication(Setup setup) {
        try (TriggerPair pair = new TriggerPair(setup)) {
            Counter received = pair.a.domain.openCounter(new CounterAttr());
            Counter forwarded = pair.a.domain.openCounter(new CounterAttr());
            Counter sends = pair.a.domain.openCounter(new CounterAttr());
            Endpoint hop = pair.counted(sends, received);
            long toHop = pair.b.av.insert(hop.name());
            int messages = 20;
            SendRequest send = new SendRequest();
            for (int i = 0; i < messages; i++) {
                assertEquals(0, hop.trecv(pair.a.memory.address(8L * i), 8, ANY, 1, 0, 1));
                assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(8L * i), 8, ANY, 2, 0, 100 + i));
                send.clear().memory(pair.a.memory.address(8L * i), 8).destAddr(pair.toB).tag(2).opContext(1);
                assertEquals(0, pair.a.domain.queueWork(
                    pair.work.clear().trigger(received, i + 1).completionCounter(forwarded).tsend(hop, send)));
            }
            pair.quiet();
            for (int i = 0; i < messages; i++) {
                long value = 7_000_000_000L + i;
                pair.b.memory.buffer().putLong(4096, value);
                assertEquals(0, pair.b.endpoint.tsend(pair.b.memory.address(4096), 8, toHop, 1, 1));
                long[] seen = new long[1];
                pair.await("the forwarded message", () -> {
                    FabricNode.Entry entry = pair.b.poll();
                    seen[0] += entry == null ? 0 : entry.context();
                    return seen[0] > 1;
                }, () -> forwarded);
                if (seen[0] != 101 + i) {
                    assertEquals(1, pair.b.await().context());
                }
                assertEquals(value, pair.b.memory.buffer().getLong(8 * i));
            }
            pair.awaitValue(forwarded, messages);
            assertEquals(0, sends.read(), "deferred work counts in its own counter only");
            // the queue is selective, and no entry was requested
            pair.a.assertQuiet(20);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("REF-044")
    void shouldChangeCountersInAChain(Setup setup) {
        try (TriggerPair pair = new TriggerPair(setup)) {
            Domain domain = pair.a.domain;
            Counter second = domain.openCounter(new CounterAttr());
            Counter third = domain.openCounter(new CounterAttr());
            assertEquals(0, domain.queueWork(pair.work.trigger(pair.counter, 2).counterAdd(second, 10)));
            assertEquals(0, domain.queueWork(pair.work.trigger(second, 10).counterSet(third, 1000)));
            assertEquals(0, domain.queueWork(pair.work.trigger(third, 1000).counterAdd(pair.counter, 5)));
            assertEquals(0, domain.queueWork(pair.work.trigger(pair.counter, 7).counterAdd(third, 1)));
            assertEquals(0, pair.counter.add(1));
            pair.quiet();
            assertEquals(0, second.read());
            assertEquals(0, pair.counter.add(1));
            pair.awaitValue(third, 1001);
            assertEquals(10, second.read());
            assertEquals(7, pair.counter.read());
            // set goes back, too, and what the client has added stays in the sum
            assertEquals(0, third.add(500));
            assertEquals(0, domain.queueWork(pair.work.trigger(second, 0).counterSet(third, 3)));
            pair.awaitValue(third, 3);
            assertEquals(0, third.add(4));
            assertEquals(7, third.read());
            assertEquals(0, third.set(11));
            assertEquals(11, third.read());
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("REF-044")
    void shouldCountSuccessesAndErrorsTogether(Setup setup) {
        try (TriggerPair pair = new TriggerPair(setup)) {
            Counter done = pair.a.domain.openCounter(new CounterAttr());
            pair.expect(2);
            assertEquals(0, pair.a.domain.queueWork(pair.work.trigger(pair.counter, 5).completionCounter(done)
                .tsend(pair.a.endpoint, pair.message(1, 1, 1))));
            assertEquals(0, pair.a.domain.queueWork(pair.work.trigger(pair.counter, 6).completionCounter(done)
                .tsend(pair.a.endpoint, pair.message(2, 2, 2).flags(Flags.COMPLETION))));
            // an operation with FI_TRIGGER beside them waits for the value alone
            assertEquals(0, pair.sendAt(4, 3, 3));
            assertEquals(0, pair.counter.add(2));
            assertEquals(0, pair.counter.addErr(2));
            pair.quiet();
            assertEquals(0, pair.counter.addErr(1));
            assertEquals(1, pair.nextTag());
            pair.awaitValue(done, 1);
            assertEquals(0, pair.counter.setErr(4));
            assertEquals(2, pair.nextTag());
            pair.awaitValue(done, 2);
            assertEquals(0, done.readErr());
            FabricNode.Entry entry = pair.a.await(2);
            assertEquals(Flags.SEND | Flags.TAGGED, entry.flags());
            // without FI_COMPLETION no entry, although the queue is not selective
            pair.quiet();
            pair.expect(1);
            assertEquals(0, pair.counter.add(2));
            assertEquals(3, pair.nextTag());
            pair.a.await(3);
            assertEquals(2, done.read());
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("REF-044")
    void shouldDoEveryKindOfMessage(Setup setup) {
        try (TriggerPair pair = new TriggerPair(setup)) {
            Counter done = pair.a.domain.openCounter(new CounterAttr());
            Domain domain = pair.a.domain;
            Endpoint endpoint = pair.a.endpoint;
            SendRequest send = new SendRequest().memory(pair.a.memory.address(), 32).destAddr(pair.toB).tag(4)
                .remoteCqData(9);
            ReceiveRequest receive = new ReceiveRequest().memory(pair.a.memory.address(1000), 64).tag(6);
            DeferredWork work = pair.work.trigger(pair.counter, 1).completionCounter(done);
            assertEquals(0, domain.queueWork(work.send(endpoint, send)));
            assertEquals(0, domain.queueWork(work.tsend(endpoint, send)));
            assertEquals(0, domain.queueWork(work.recv(endpoint, receive.flags(Flags.COMPLETION).opContext(5))));
            receive.memory(pair.a.memory.address(2000), 64).flags(0);
            assertEquals(0, domain.queueWork(work.trecv(endpoint, receive)));
            assertEquals(0, pair.b.endpoint.recv(pair.b.memory.address(), 64, ANY, 1));
            assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(100), 64, ANY, 4, 0, 2));
            pair.a.fill(0, 32, 3);
            pair.quiet();
            assertEquals(0, pair.counter.add(1));
            for (int i = 1; i <= 2; i++) {
                FabricNode.Entry[] entry = new FabricNode.Entry[1];
                pair.await("message " + i, () -> (entry[0] = pair.b.poll()) != null, () -> done);
                assertEquals(i, entry[0].context());
                assertEquals(9, entry[0].data());
            }
            pair.b.assertFilled(100, 32, 3);
            pair.awaitValue(done, 2);
            assertEquals(0, pair.b.endpoint.send(pair.b.memory.address(), 32, pair.toA, 3));
            assertEquals(32, pair.a.await(5).len());
            assertEquals(0, pair.b.endpoint.tsend(pair.b.memory.address(), 32, pair.toA, 6, 4));
            pair.awaitValue(done, 4);
            pair.a.assertFilled(1000, 32, 3);
            pair.a.assertFilled(2000, 32, 3);
            pair.a.assertQuiet(50);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("REF-044")
    void shouldCancelAndFlush(Setup setup) {
        try (TriggerPair pair = new TriggerPair(setup)) {
            Domain domain = pair.a.domain;
            Counter other = domain.openCounter(new CounterAttr());
            Counter done = domain.openCounter(new CounterAttr());
            SendRequest send = new SendRequest().memory(pair.a.memory.address(), 8).destAddr(pair.toB).tag(1)
                .opContext(1);
            DeferredWork first = new DeferredWork().trigger(pair.counter, 1).completionCounter(done)
                .tsend(pair.a.endpoint, send);
            assertEquals(-FabricErrno.ENOENT, domain.cancelWork(first));
            assertEquals(0, domain.queueWork(first));
            assertEquals(0, domain.cancelWork(first));
            pair.assertFailed(1, FabricErrno.ECANCELED);
            assertEquals(-FabricErrno.ENOENT, domain.cancelWork(first));
            pair.awaitErrors(done, 1);
            assertEquals(0, done.read());
            // a receive, and a change of a counter, which has no entry
            DeferredWork receive = new DeferredWork().trigger(pair.counter, 1)
                .trecv(pair.a.endpoint, pair.receive(2, 2, 2));
            DeferredWork change = new DeferredWork().trigger(pair.counter, 1).counterAdd(done, 100);
            assertEquals(0, domain.queueWork(receive));
            assertEquals(0, domain.queueWork(change));
            assertEquals(0, domain.cancelWork(change));
            assertEquals(0, domain.cancelWork(receive));
            pair.assertFailed(2, FabricErrno.ECANCELED);
            // flush of one counter, then of all; triggered operations stay
            for (int i = 0; i < 4; i++) {
                Counter trigger = i % 2 == 0 ? pair.counter : other;
                assertEquals(0, domain.queueWork(
                    pair.work.clear().trigger(trigger, 1).tsend(pair.a.endpoint, pair.message(1, i, 10 + i))));
                assertEquals(0, domain.queueWork(pair.work.clear().trigger(trigger, 1).counterAdd(done, 1000)));
            }
            pair.expect(1);
            assertEquals(0, pair.sendAt(1, 77, 77));
            assertEquals(0, domain.flushWork(other));
            long contexts = pair.a.await().context() + pair.a.await().context();
            assertEquals(11 + 13, contexts);
            pair.quiet();
            assertEquals(0, domain.flushWork());
            contexts = pair.a.await().context() + pair.a.await().context();
            assertEquals(10 + 12, contexts);
            assertEquals(0, domain.flushWork());
            assertEquals(0, pair.counter.add(1));
            assertEquals(0, other.add(1));
            assertEquals(77, pair.nextTag());
            pair.a.await(77);
            pair.quiet();
            assertEquals(0, done.read());
            // work that has started is not affected
            pair.expect(1);
            assertEquals(0, domain.queueWork(first));
            assertEquals(1, pair.nextTag());
            assertEquals(-FabricErrno.ENOENT, domain.cancelWork(first));
            pair.awaitValue(done, 1);
            pair.quiet();
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldFlushOneDomainOnly(Setup setup) {
        try (TriggerPair pair = new TriggerPair(setup)) {
            Domain second = pair.a.fabric.domain(pair.a.info);
            Counter counter = second.openCounter(new CounterAttr());
            Counter changed = second.openCounter(new CounterAttr());
            assertEquals(0, second.queueWork(pair.work.trigger(counter, 1).counterAdd(changed, 1)));
            assertEquals(0, pair.a.domain.flushWork());
            assertEquals(-FabricErrno.EINVAL, pair.a.domain.flushWork(counter));
            assertEquals(0, counter.add(1));
            pair.awaitValue(changed, 1);
            assertEquals(0, second.queueWork(pair.work.trigger(counter, 2).counterAdd(changed, 1)));
            assertEquals(0, second.flushWork());
            assertEquals(0, counter.add(1));
            pair.quiet();
            assertEquals(1, changed.read());
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldKeepACounterOpenThatIsNeeded(Setup setup) {
        try (TriggerPair pair = new TriggerPair(setup)) {
            Domain domain = pair.a.domain;
            Counter done = domain.openCounter(new CounterAttr());
            Counter changed = domain.openCounter(new CounterAttr());
            assertEquals(0, domain.queueWork(pair.work.trigger(pair.counter, 1).completionCounter(done)
                .tsend(pair.a.endpoint, pair.message(1, 1, 1))));
            assertEquals(0, domain.queueWork(
                pair.work.completionCounter(null).counterAdd(changed, 1)));
            for (Counter each : new Counter[] {pair.counter, done, changed}) {
                assertEquals(FabricErrno.EBUSY, assertThrows(FabricException.class, each::close).errno());
                assertEquals(0, each.read());
            }
            assertEquals(0, domain.flushWork());
            pair.assertFailed(1, FabricErrno.ECANCELED);
            for (Counter each : new Counter[] {pair.counter, done, changed}) {
                each.close();
                assertFalse(each.isOpen());
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldFailWithOneErrorEntryAndCountIt(Setup setup) {
        try (TriggerPair pair = new TriggerPair(setup)) {
            Domain domain = pair.a.domain;
            Counter done = domain.openCounter(new CounterAttr());
            DeferredWork work = pair.work.trigger(pair.counter, 0).completionCounter(done);
            assertEquals(0, domain.queueWork(
                work.tsend(pair.a.endpoint, pair.message(1, 1, 1).memory(0x123456, 8))));
            pair.assertFailed(1, FabricErrno.EFAULT);
            assertEquals(0, domain.queueWork(
                work.trecv(pair.a.endpoint, pair.receive(1, 1, 2).memory(0x123456, 8))));
            pair.assertFailed(2, FabricErrno.EFAULT);
            pair.awaitErrors(done, 2);
            assertEquals(0, done.read());
            // a message that is too long is an error of the receive
            assertEquals(0, domain.queueWork(
                work.trecv(pair.a.endpoint, pair.receive(1, 1, 3).memory(pair.a.memory.address(), 4))));
            assertEquals(0, pair.b.endpoint.tsend(pair.b.memory.address(), 8, pair.toA, 1, 4));
            pair.assertFailed(3, FabricErrno.ETRUNC);
            pair.awaitErrors(done, 3);
            pair.b.await(4);
            pair.pair.assertTransfers(pair.a.endpoint);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    void shouldRefuseWhatCannotBeAtOnce(Setup setup) {
        try (TriggerPair pair = new TriggerPair(setup)) {
            Domain domain = pair.a.domain;
            Counter done = domain.openCounter(new CounterAttr());
            SendRequest send = pair.message(1, 1, 1);
            assertEquals(-FabricErrno.EINVAL, domain.queueWork(null));
            assertEquals(-FabricErrno.EINVAL, domain.cancelWork(null));
            assertEquals(-FabricErrno.EINVAL, domain.flushWork(null));
            DeferredWork work = new DeferredWork();
            assertEquals(-FabricErrno.EINVAL, domain.queueWork(work));
            assertEquals(-FabricErrno.EINVAL, domain.queueWork(work.tsend(pair.a.endpoint, send)));
            assertEquals(-FabricErrno.EINVAL, domain.queueWork(work.trigger(pair.counter, -1)));
            work.trigger(pair.counter, 0);
            assertEquals(-FabricErrno.EINVAL, domain.queueWork(work.tsend(pair.a.endpoint, null)));
            assertEquals(-FabricErrno.EINVAL, domain.queueWork(work.tsend(null, send)));
            assertEquals(-FabricErrno.EINVAL, domain.queueWork(work.counterAdd(done, -1)));
            assertEquals(-FabricErrno.EINVAL, domain.queueWork(work.counterAdd(null, 1)));
            assertEquals(-FabricErrno.EINVAL, domain.queueWork(work.completionCounter(done).counterAdd(done, 1)));
            assertEquals(-FabricErrno.EBADFLAGS, domain.queueWork(
                work.tsend(pair.a.endpoint, send.flags(Flags.PEEK))));
            assertEquals(-FabricErrno.EBADFLAGS, domain.queueWork(
                work.tsend(pair.a.endpoint, send.flags(Flags.TRIGGER))));
            assertEquals(-FabricErrno.EBADFLAGS, domain.queueWork(work.tsend(pair.a.endpoint,
                send.flags(0).trigger(new TriggeredContext().threshold(pair.counter, 0)))));
            assertEquals(-FabricErrno.EOPNOTSUPP, domain.queueWork(
                work.read(pair.a.endpoint, new RemoteRequest().destAddr(pair.toB))));
            assertEquals(-FabricErrno.EOPNOTSUPP, domain.queueWork(work.atomic(pair.a.endpoint,
                new AtomicRequest().operation(AtomicOperation.SUM, AtomicDatatype.INT64, 1).destAddr(pair.toB))));
            Domain other = pair.a.fabric.domain(pair.a.info);
            assertEquals(-FabricErrno.EINVAL, other.queueWork(work.tsend(pair.a.endpoint, pair.message(1, 1, 1))));
            Endpoint disabled = domain.openEndpoint(pair.a.info);
            assertEquals(-FabricErrno.EOPBADSTATE, domain.queueWork(work.tsend(disabled, pair.message(1, 1, 1))));
            disabled.close();
            other.close();
            assertEquals(-FabricErrno.EOPBADSTATE, other.queueWork(work));
            assertEquals(-FabricErrno.EOPBADSTATE, other.flushWork());
            pair.quiet();
            assertEquals(0, done.read());
            pair.pair.assertTransfers(pair.a.endpoint);
        }
        try (FabricPair pair = new FabricPair(setup)) {
            Counter counter = pair.a.domain.openCounter(new CounterAttr());
            DeferredWork work = new DeferredWork().trigger(counter, 0).counterAdd(counter, 1);
            assertEquals(-FabricErrno.EOPNOTSUPP, pair.a.domain.queueWork(work));
            assertEquals(-FabricErrno.EOPNOTSUPP, pair.a.domain.flushWork());
            assertEquals(-FabricErrno.ENOENT, pair.a.domain.cancelWork(work));
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"REF-044", "CQ-001"})
    void shouldAccessRemoteMemory(Setup setup) {
        setup.assumeRemoteMemory();
        setup.assumeAtomics();
        try (TriggerPair pair = new TriggerPair(setup, Flags.RMA | Flags.ATOMIC)) {
            MemoryRegion target = exposed(pair, 0x3333);
            long key = target.key();
            Domain domain = pair.a.domain;
            Endpoint endpoint = pair.a.endpoint;
            Counter done = domain.openCounter(new CounterAttr());
            DeferredWork work = new DeferredWork().completionCounter(done);
            RemoteRequest remote = new RemoteRequest();
            AtomicRequest atomic = new AtomicRequest();
            MemoryRegion local = pair.a.memory;
            remote.memory(local.address(0), 8).destAddr(pair.toB).remote(0, key);
            // each step is started by the end of the one before
            assertEquals(0, domain.queueWork(work.trigger(pair.counter, 1).write(endpoint, remote)));
            atomic.operation(AtomicOperation.SUM, AtomicDatatype.INT64, 1).operands(local.address(8))
                .destAddr(pair.toB).remote(0, key);
            assertEquals(0, domain.queueWork(work.trigger(done, 1).atomic(endpoint, atomic)));
            atomic.results(local.address(16));
            assertEquals(0, domain.queueWork(work.trigger(done, 2).fetchAtomic(endpoint, atomic)));
            atomic.operation(AtomicOperation.CSWAP, AtomicDatatype.INT64, 1).compares(local.address(24))
                .operands(local.address(32)).results(local.address(40));
            assertEquals(0, domain.queueWork(work.trigger(done, 3).compareAtomic(endpoint, atomic)));
            remote.memory(local.address(48), 8).flags(Flags.COMPLETION).opContext(6);
            assertEquals(0, domain.queueWork(work.trigger(done, 4).read(endpoint, remote)));
            pair.quiet();
            local.buffer().putLong(0, 100);
            local.buffer().putLong(8, 7);
            local.buffer().putLong(24, 114);
            local.buffer().putLong(32, 5000);
            assertEquals(0, pair.counter.add(1));
            FabricNode.Entry[] entry = new FabricNode.Entry[1];
            pair.await("the read", () -> {
                pair.b.assertQuiet(1);
                entry[0] = pair.a.poll();
                return entry[0] != null;
            }, () -> done);
            assertEquals(6, entry[0].context());
            assertEquals(Flags.RMA | Flags.READ, entry[0].flags());
            assertEquals(107, local.buffer().getLong(16), "before the second sum");
            assertEquals(114, local.buffer().getLong(40), "before the swap");
            assertEquals(5000, local.buffer().getLong(48));
            pair.awaitValue(done, 5);
            target.close();
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"REF-044", "CQ-001"})
    void shouldTriggerAccessesOfRemoteMemory(Setup setup) {
        setup.assumeRemoteMemory();
        setup.assumeAtomics();
        try (TriggerPair pair = new TriggerPair(setup, Flags.RMA | Flags.ATOMIC)) {
            MemoryRegion target = exposed(pair, 0x4444);
            long key = target.key();
            Endpoint endpoint = pair.a.endpoint;
            MemoryRegion local = pair.a.memory;
            TriggeredContext trigger = new TriggeredContext();
            RemoteRequest remote = new RemoteRequest().memory(local.address(0), 8).destAddr(pair.toB);
            // an inject has the bytes of now
            local.buffer().putLong(0, 1);
            assertEquals(0, endpoint.remoteMemory().writemsg(remote.remote(0, key).opContext(1).remoteCqData(33)
                .flags(Flags.INJECT).trigger(trigger.threshold(pair.counter, 1))));
            AtomicRequest atomic = new AtomicRequest().operation(AtomicOperation.SUM, AtomicDatatype.INT64, 1)
                .operands(local.address(8)).results(local.address(16)).destAddr(pair.toB).remote(0, key);
            local.buffer().putLong(8, 10);
            assertEquals(0, endpoint.atomics().atomicmsg(
                atomic.opContext(2).flags(Flags.INJECT).trigger(trigger.threshold(pair.counter, 2))));
            assertEquals(0, endpoint.atomics().fetchAtomicmsg(
                atomic.opContext(3).flags(0).trigger(trigger.threshold(pair.counter, 3))));
            assertEquals(0, endpoint.remoteMemory().readmsg(remote.clear().memory(local.address(24), 8)
                .destAddr(pair.toB).remote(0, key).opContext(4).trigger(trigger.threshold(pair.counter, 4))));
            assertEquals(-FabricErrno.EBADFLAGS, endpoint.remoteMemory().readmsg(remote.flags(Flags.INJECT)));
            local.buffer().putLong(0, 99);
            local.buffer().putLong(8, 100);
            pair.quiet();
            assertEquals(0, target.buffer().getLong(0));
            assertEquals(0, pair.counter.add(4));
            long[] flags = {Flags.RMA | Flags.WRITE, Flags.ATOMIC | Flags.WRITE, Flags.ATOMIC | Flags.READ,
                Flags.RMA | Flags.READ};
            long data = 0;
            for (int i = 0; i < flags.length; i++) {
                FabricNode.Entry[] entry = new FabricNode.Entry[1];
                long[] seen = {data};
                pair.await("entry " + i, () -> {
                    FabricNode.Entry told = pair.b.poll();
                    seen[0] += told == null ? 0 : told.data();
                    entry[0] = pair.a.poll();
                    return entry[0] != null;
                }, () -> pair.counter);
                data = seen[0];
                assertEquals(0, entry[0].err());
                assertEquals(i + 1, entry[0].context());
                assertEquals(flags[i], entry[0].flags());
            }
            assertEquals(33, data);
            assertEquals(11, local.buffer().getLong(16));
            assertEquals(111, local.buffer().getLong(24));
            target.close();
        }
    }

    private static MemoryRegion exposed(TriggerPair pair, long key) {
        return pair.b.domain.allocate(
            4096, new MemoryRegionAttr().access(Flags.REMOTE_READ | Flags.REMOTE_WRITE).requestedKey(key));
    }
}
