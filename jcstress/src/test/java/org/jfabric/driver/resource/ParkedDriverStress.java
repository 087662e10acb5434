package org.jfabric.driver.resource;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.nio.file.Path;
import org.agrona.UnsafeApi;
import org.jfabric.client.Doorbell;
import org.jfabric.client.QueueSignal;
import org.jfabric.ffi.UnixSocket;
import org.jfabric.layout.CncDescriptor;
import org.jfabric.layout.RecordConsumer;
import org.jfabric.layout.RecordProducer;
import org.jfabric.stress.NativeMemory;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** A driver's thread that is about to sleep, and a client that commits to a queue or changes a word. */
public final class ParkedDriverStress {
    private static final int CNC_LENGTH = 192;
    private static final int ACTIVITY = CNC_LENGTH;
    private static final int AWAITED = ACTIVITY + 64;
    private static final int CHANGED = AWAITED + 64;
    private static final int RING = CHANGED + 64;
    private static final int CAPACITY = 512;
    private static final int LENGTH = RING + CAPACITY + 64;
    private static final int TYPE = 2;

    private ParkedDriverStress() {
    }

    /** A doorbell for each thread, at whose other end the thread notices whether it has rung. */
    private static final class Bell {
        private static final ThreadLocal<Bell> BELLS = ThreadLocal.withInitial(Bell::new);

        final Doorbell doorbell;
        private final int driverEnd;

        private Bell() {
            Path path = Path.of(System.getProperty("java.io.tmpdir"),
                "jfabric-stress-" + ProcessHandle.current().pid() + '-' + Thread.currentThread().threadId());
            int listening = UnixSocket.listen(path, 1);
            doorbell = new Doorbell(UnixSocket.connect(path, UnixSocket.SOCK_NONBLOCK));
            driverEnd = UnixSocket.accept4(listening, UnixSocket.SOCK_NONBLOCK);
            path.toFile().delete();
            if (driverEnd < 0) {
                throw new AssertionError("no socket: " + driverEnd);
            }
        }

        static Bell own() {
            return BELLS.get();
        }

        int takeRing() {
            return UnixSocket.recv(driverEnd, ringAddress(), 1, UnixSocket.MSG_DONTWAIT) == 1 ? 1 : 0;
        }

        private static long ringAddress() {
            return Scratch.ADDRESS;
        }
    }

    /** Of the byte that is received and not read. */
    private static final class Scratch {
        static final long ADDRESS = NativeMemory.allocate(64);

        private Scratch() {
        }
    }

    /** Either the driver finds the record before it sleeps, or the client rings. */
    @JCStressTest
    @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "The record is found.")
    @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "The driver is woken.")
    @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "Both.")
    @Outcome(expect = FORBIDDEN, desc = "The driver sleeps beside a record.")
    @State
    public static class NoCommitIsMissed {
        private final long memory = NativeMemory.allocate(LENGTH);
        private final ParkedWord parked = new ParkedWord(memory);
        private final RecordProducer producer = new RecordProducer(
            memory + RING, CAPACITY, memory + RING + CAPACITY);
        private final RecordConsumer consumer = new RecordConsumer(
            memory + RING, CAPACITY, memory + RING + CAPACITY, TYPE);

        @Actor
        public void park(II_Result result) {
            parked.set();
            result.r1 = consumer.poll();
        }

        @Actor
        public void commit(II_Result result) {
            Bell bell = Bell.own();
            QueueSignal signal = new QueueSignal(
                memory + ACTIVITY, memory + CncDescriptor.PARKED_OFFSET, bell.doorbell);
            int offset = producer.claim(16);
            producer.commit(offset, 16, TYPE);
            signal.onCommit();
            result.r2 = bell.takeRing();
        }

        @Arbiter
        public void end(II_Result result) {
            NativeMemory.free(memory);
        }
    }

    /** Either the driver finds the change that it awaits before it sleeps, or the client rings. */
    @JCStressTest
    @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "The change is found.")
    @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "The driver is woken.")
    @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "Both.")
    @Outcome(expect = FORBIDDEN, desc = "The driver sleeps beside a change that it awaits.")
    @State
    public static class NoAwaitedChangeIsMissed {
        private final long memory = NativeMemory.allocate(LENGTH);
        private final ParkedWord parked = new ParkedWord(memory);

        @Actor
        public void park(II_Result result) {
            UnsafeApi.putIntRelease(null, memory + AWAITED, 1);
            parked.set();
            result.r1 = (int) UnsafeApi.getLongAcquire(null, memory + CHANGED);
        }

        @Actor
        public void change(II_Result result) {
            Bell bell = Bell.own();
            QueueSignal signal = new QueueSignal(0, memory + CncDescriptor.PARKED_OFFSET, bell.doorbell);
            UnsafeApi.putLongRelease(null, memory + CHANGED, 1);
            signal.onChange(memory + AWAITED);
            result.r2 = bell.takeRing();
        }

        @Arbiter
        public void end(II_Result result) {
            NativeMemory.free(memory);
        }
    }
}
