package org.jfabric.driver.resource;

import java.security.SecureRandom;
import java.util.BitSet;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import org.agrona.concurrent.NanoClock;
import org.jfabric.ffi.Affinity;
import org.jfabric.ffi.MappedFile;
import org.jfabric.layout.OwnerId;

/**
 * The time, the random numbers, the threads and the files that a driver uses. This class has those of the system. A
 * simulation replaces them, so that one thread runs several drivers in an order that a seed determines, and has calls
 * fail; production code makes no subclass, so that each call has one target.
 *
 * <p>Any thread.
 */
public class Environment implements NanoClock {
    public static final Environment SYSTEM = new Environment();
    private static final SecureRandom SECRETS = new SecureRandom();

    private static final long PAUSE_NS = 20_000;

    private final BitSet processors = Affinity.cpus();

    /** For the one of the system, and for simulations. */
    protected Environment() {
    }

    /** Reads the clock. Returns the nanoseconds since any moment, as of {@link System#nanoTime()}. */
    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    /**
     * Reads the time of day, which is shown and stands in files. It may jump: nothing is decided by it. Returns the
     * milliseconds since 1970, as of {@link System#currentTimeMillis()}.
     */
    public long currentTimeMillis() {
        return System.currentTimeMillis();
    }

    /**
     * Makes a file of the driver.
     *
     * @return as {@link MappedFile#create}.
     * @throws org.jfabric.ffi.NativeCallException as there.
     */
    public final MappedFile createFile(int directoryFd, String name, long lengthBytes) {
        return createFile(directoryFd, name, lengthBytes, lengthBytes);
    }

    /**
     * Makes a file of the driver.
     *
     * @return as {@link MappedFile#create}.
     * @throws org.jfabric.ffi.NativeCallException as there.
     */
    public MappedFile createFile(int directoryFd, String name, long lengthBytes, long reservedBytes) {
        return MappedFile.create(directoryFd, name, lengthBytes, reservedBytes);
    }

    /**
     * Opens a file of another driver for reading.
     *
     * @param minLengthBytes least length that is accepted.
     * @return as {@link MappedFile#open}.
     * @throws org.jfabric.ffi.NativeCallException as there.
     */
    public MappedFile openFile(int directoryFd, String name, long minLengthBytes) {
        return MappedFile.open(directoryFd, name, true, minLengthBytes);
    }

    /** The files of the logs that it writes. Returns the same object always. */
    public LogDisk logDisk() {
        return LogDisk.SYSTEM;
    }

    /** Makes the identity of a driver. Returns an id that no other driver has, on any host. */
    public OwnerId ownerId() {
        return OwnerId.random();
    }

    /**
     * Draws a number. It distinguishes files and processes from earlier ones; it protects nothing. Returns the 64
     * random bits.
     */
    public long randomLong() {
        return ThreadLocalRandom.current().nextLong();
    }

    /** Draws a number that cannot be guessed. Returns the 64 random bits. */
    public long secretLong() {
        return SECRETS.nextLong();
    }

    /** Draws a number for a process. Returns 1 to {@link Integer#MAX_VALUE} - 1. */
    public final int randomNumber() {
        return 1 + (int) ((randomLong() >>> 1) % (Integer.MAX_VALUE - 1));
    }

    /**
     * Whether the driver may start threads for slow work. Without them its cycles run that work, in mode INVOKER.
     *
     * @return the same for each call.
     */
    public boolean hasThreads() {
        return true;
    }

    /** Whether a simulation has killed the process: what its driver releases then is not reported to anybody. */
    public boolean isKilled() {
        return false;
    }

    /**
     * Processors for threads beside those that are bound to one: a thread that is started by a bound one is bound, too.
     *
     * @return those that the process could use when it began to use drivers; not to be changed.
     */
    public final BitSet processors() {
        return processors;
    }

    /** The calling thread waits for something that its own cycles do not bring nearer. */
    public void pause() {
        LockSupport.parkNanos(PAUSE_NS);
    }

    /**
     * An error was recorded in the error log of the driver.
     *
     * @param error of any kind.
     */
    public void onError(Throwable error) {
        // the error log is the place of the system's drivers
    }
}
