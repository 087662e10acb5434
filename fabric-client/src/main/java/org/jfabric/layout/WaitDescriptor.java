package org.jfabric.layout;

import org.agrona.UnsafeApi;

/**
 * Layout of the words by which sleepers and those who wake them find each other: one cache line in each {@code .cq}
 * file, or in a {@code .wait} file for the queues of one wait set.
 *
 * <pre>
 *    0  sleepers, 4 bytes    set to 1 by who goes to sleep, to 0 by who wakes
 *    4  armed, 4 bytes       set to 1 by who waits at the wait channel, to 0 by who writes to it
 *    8  signal, 4 bytes      the futex word: who wakes adds 1 first
 *   16  wake at, 8 bytes     entries that must have been written before sleepers want to be woken
 * </pre>
 *
 * <p>No wake-up is lost: a sleeper reads {@code signal}, sets {@code sleepers}, fences, looks once more, and sleeps
 * only while {@code signal} is what it read. Who wakes writes the entry, fences, and if {@code sleepers} is set
 * clears it, adds to {@code signal} and wakes everybody. Either the sleeper finds the entry or the waker finds the
 * sleeper; and a {@code sleepers} that is set while it is being cleared belongs to somebody who read {@code signal}
 * before it grew.
 *
 * <p>At the wait channel it is the same: who is about to wait takes the bytes that are there, sets {@code armed},
 * fences and looks once more. Who wakes writes the entry, fences, and if {@code armed} is set clears it and writes one
 * byte.
 *
 * <p>All words are the client's: the driver decides nothing by them but whether to wake this client.
 */
public final class WaitDescriptor {
    /** Offset of the word that says whether somebody sleeps. */
    public static final int SLEEPERS_OFFSET = 0;
    /** Offset of the word that says whether somebody waits at the wait channel. */
    public static final int ARMED_OFFSET = 4;
    /** Offset of the futex word. */
    public static final int SIGNAL_OFFSET = 8;
    /** Offset of the number of entries from which on sleepers want to be woken. */
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
     * Whether anybody may have to be woken.
     *
     * @param line native address.
     * @return one look at both words.
     */
    public static boolean isWanted(long line) {
        return UnsafeApi.getLong(line) != 0;
    }

    /**
     * Takes over the duty to wake the sleepers.
     *
     * @param line native address.
     * @return native address of the futex word to be woken at.
     */
    public static long takeSleepers(long line) {
        // the order matters: what is set after the clearing store belongs to a sleeper that reads the larger signal
        UnsafeApi.putIntVolatile(null, line + SLEEPERS_OFFSET, 0);
        UnsafeApi.getAndAddInt(null, line + SIGNAL_OFFSET, 1);
        return line + SIGNAL_OFFSET;
    }

    /**
     * Takes over the duty to make the wait channel readable.
     *
     * @param line native address.
     * @return true if somebody waits there: a byte must follow.
     */
    public static boolean takeArmed(long line) {
        if (UnsafeApi.getInt(line + ARMED_OFFSET) == 0) {
            return false;
        }
        // before the byte: who has taken the byte arms again, and that must not be cleared
        UnsafeApi.putIntVolatile(null, line + ARMED_OFFSET, 0);
        return true;
    }

    /**
     * Says that somebody is about to wait at the channel.
     *
     * @param line native address.
     */
    public static void arm(long line) {
        UnsafeApi.putIntRelease(null, line + ARMED_OFFSET, 1);
        // before the last look for entries, as who wakes fences between its entries and its look for waiters
        UnsafeApi.fullFence();
    }

    /**
     * Nobody waits at the channel after all.
     *
     * @param line native address.
     */
    public static void disarm(long line) {
        UnsafeApi.putIntRelease(null, line + ARMED_OFFSET, 0);
    }
}
