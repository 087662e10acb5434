package org.jfabric.layout;

import org.agrona.UnsafeApi;

/**
 * Layout of the words that synchronize sleeping threads with the threads that wake them: one cache line in each {@code
 * .cq} file, or in a {@code .wait} file for the queues of one wait set.
 *
 * <pre>
 *    0  sleepers, 4 bytes    set to 1 by a sleeper before it sleeps, to 0 by a waker
 *    4  armed, 4 bytes       set to 1 by a thread before it waits at the wait channel, to 0 by a waker
 *    8  signal, 4 bytes      the futex word: a waker adds 1 before it wakes
 *   16  wake at, 8 bytes     number of entries written at which sleepers must be woken
 * </pre>
 *
 * <p>No wake-up is lost. A sleeper reads {@code signal}, sets {@code sleepers}, fences, polls once more, and sleeps
 * only while {@code signal} has the value that it read. A waker writes the entry and fences; if {@code sleepers} is
 * set, it clears it, adds 1 to {@code signal} and wakes all sleepers. Either the sleeper finds the entry, or the waker
 * finds the sleeper. A sleeper whose {@code sleepers} is cleared by a concurrent waker has read {@code signal} before
 * the waker increased it.
 *
 * <p>The wait channel works in the same way. Before a thread waits, it reads all bytes of the channel, sets {@code
 * armed}, fences and polls once more. A waker writes the entry and fences; if {@code armed} is set, it clears it and
 * writes one byte.
 *
 * <p>All words belong to the client: the driver uses them only to decide whether to wake this client.
 */
public final class WaitDescriptor {
    /** Offset of the word that is 1 if a thread sleeps. */
    public static final int SLEEPERS_OFFSET = 0;
    /** Offset of the word that is 1 if a thread waits at the wait channel. */
    public static final int ARMED_OFFSET = 4;
    /** Offset of the futex word. */
    public static final int SIGNAL_OFFSET = 8;
    /** Offset of the number of entries at which sleepers must be woken. */
    public static final int WAKE_AT_OFFSET = 16;
    /** Bytes of the line. */
    public static final int LENGTH = 64;
    /** Offset of the line in a {@code .wait} file. */
    public static final int WAIT_FILE_OFFSET = 256;
    /** Bytes of a {@code .wait} file. */
    public static final int WAIT_FILE_LENGTH = 4096;

    private WaitDescriptor() {
    }

    /**
     * Whether a thread may have to be woken.
     *
     * @param line native address.
     * @return true if one of the words {@code sleepers} and {@code armed} is set; both are read at once.
     */
    public static boolean isWanted(long line) {
        return UnsafeApi.getLong(line) != 0;
    }

    /**
     * Clears {@code sleepers} and increments {@code signal}; the caller must wake the sleepers then.
     *
     * @param line native address.
     * @return native address of the futex word at which they sleep.
     */
    public static long takeSleepers(long line) {
        // the order matters: the reverse could clear the word of a sleeper that has read the larger signal
        UnsafeApi.putIntVolatile(null, line + SLEEPERS_OFFSET, 0);
        UnsafeApi.getAndAddInt(null, line + SIGNAL_OFFSET, 1);
        return line + SIGNAL_OFFSET;
    }

    /**
     * Clears {@code armed}, if it is set.
     *
     * @param line native address.
     * @return true if it was set: the caller must write a byte to the wait channel.
     */
    public static boolean takeArmed(long line) {
        if (UnsafeApi.getInt(line + ARMED_OFFSET) == 0) {
            return false;
        }
        // before the byte: the thread that reads the byte arms again, and that must not be cleared
        UnsafeApi.putIntVolatile(null, line + ARMED_OFFSET, 0);
        return true;
    }

    /**
     * Sets {@code armed}, because a thread is about to wait at the channel.
     *
     * @param line native address.
     */
    public static void arm(long line) {
        UnsafeApi.putIntRelease(null, line + ARMED_OFFSET, 1);
        // before the last poll for entries; a waker fences between its entries and its load of this word
        UnsafeApi.fullFence();
    }

    /**
     * Clears {@code armed}, because the thread does not wait at the channel after all.
     *
     * @param line native address.
     */
    public static void disarm(long line) {
        UnsafeApi.putIntRelease(null, line + ARMED_OFFSET, 0);
    }
}
