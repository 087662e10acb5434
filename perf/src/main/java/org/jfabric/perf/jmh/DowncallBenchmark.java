package org.jfabric.perf.jmh;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.concurrent.TimeUnit;
import org.jfabric.ffi.EventFd;
import org.jfabric.ffi.Futex;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.UnixSocket;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Calls of the C library by the Foreign Function &amp; Memory API: the cost of a wake-up for the thread that wakes.
 *
 * <p>No thread sleeps here, so the scheduler has no part in it; {@code WakeUpLatency} measures that.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class DowncallBenchmark {
    private static final int RECEIVE_LENGTH = 64;

    private final Arena arena = Arena.ofShared();
    private final long word = arena.allocate(RECEIVE_LENGTH, RECEIVE_LENGTH).address();
    private final long received = arena.allocate(RECEIVE_LENGTH, RECEIVE_LENGTH).address();
    private BenchmarkDirectory directory;
    private int eventFd;
    private int listenFd;
    private int sendFd;
    private int receiveFd;

    /** Creates the state; {@link #open()} opens the descriptors. */
    public DowncallBenchmark() {
    }

    /**
     * Opens the descriptors.
     *
     * @throws IOException if the folder of the socket cannot be made.
     */
    @Setup(Level.Trial)
    public void open() throws IOException {
        directory = new BenchmarkDirectory();
        eventFd = EventFd.create();
        listenFd = UnixSocket.listen(directory.path().resolve("bell"), 1);
        sendFd = UnixSocket.connect(directory.path().resolve("bell"), 0);
        receiveFd = UnixSocket.accept4(listenFd, 0);
        if (eventFd < 0 || listenFd < 0 || sendFd < 0 || receiveFd < 0) {
            throw new IOException(
                "descriptors " + eventFd + ' ' + listenFd + ' ' + sendFd + ' ' + receiveFd + ", needed are 4");
        }
    }

    /** Closes them. */
    @TearDown(Level.Trial)
    public void close() {
        Libc.close(receiveFd);
        Libc.close(sendFd);
        Libc.close(listenFd);
        Libc.close(eventFd);
        directory.close();
        arena.close();
    }

    /** A downcall to a system call that does nearly nothing. */
    @Benchmark
    public long trivial() {
        return Libc.geteuid();
    }

    /**
     * Wake-up of a driver's thread by another of its threads, while no thread sleeps. Returns 0, also {@code -EAGAIN}
     * when the counter is full.
     */
    @Benchmark
    public int eventFdWrite() {
        return EventFd.write(eventFd, 1);
    }

    /** Wake-up of a futex without a sleeper. Returns 0. */
    @Benchmark
    public int futexWake() {
        return Futex.wake(word, 1);
    }

    /** A doorbell's byte, and taking it out again so that the socket does not fill. Returns 1: bytes received. */
    @Benchmark
    public int doorbell() {
        UnixSocket.ring(sendFd);
        return UnixSocket.recv(receiveFd, received, RECEIVE_LENGTH, UnixSocket.MSG_DONTWAIT);
    }

    /** A read of a socket without data. */
    @Benchmark
    public int emptyReceive() {
        return UnixSocket.recv(receiveFd, received, RECEIVE_LENGTH, UnixSocket.MSG_DONTWAIT);
    }
}
