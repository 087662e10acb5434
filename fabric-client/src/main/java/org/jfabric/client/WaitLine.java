package org.jfabric.client;

import org.agrona.UnsafeApi;
import org.jfabric.ffi.Futex;
import org.jfabric.layout.WaitDescriptor;

import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;

/**
 * The client's end of a line of wait words: goes to sleep there and wakes others of this client.
 *
 * <p>Any number of threads may sleep and wake. The order of a sleeper is: {@link #signal()}, {@link #announce(long)},
 * one more check of what it waits for, {@link #sleep(int, long)}.
 */
public final class WaitLine {
    private final long line;
    private final MemorySegment memory;

    /**
     * The line in a mapped file.
     *
     * @param line   native address, see {@link WaitDescriptor}.
     */
    public WaitLine(long line, MemorySegment memory) {
        this.line = line;
        this.memory = memory;
    }

    /** The futex word. Returns its value, to be given to {@link #sleep(int, long)}. */
    public int signal() {
        return UnsafeApi.getIntAcquire(null, line + WaitDescriptor.SIGNAL_OFFSET);
    }

    /**
     * Says that the calling thread is about to sleep.
     *
     * @param wakeAt entries that must have been written before it wants to be woken.
     */
    public void announce(long wakeAt) {
        UnsafeApi.putLong(line + WaitDescriptor.WAKE_AT_OFFSET, wakeAt);
        UnsafeApi.putIntRelease(null, line + WaitDescriptor.SLEEPERS_OFFSET, 1);
        // before the caller's last poll for entries; the driver fences between its entries and its check for sleepers
        UnsafeApi.fullFence();
    }

    /**
     * Sleeps while the futex word has the value that was seen.
     *
     * @param seen      by {@link #signal()}.
     * @param timeoutNs longest sleep; negative for no limit.
     */
    public void sleep(int seen, long timeoutNs) {
        Futex.wait(line + WaitDescriptor.SIGNAL_OFFSET, seen, timeoutNs);
        Reference.reachabilityFence(memory);
    }

    /** Whether a thread may have to be woken for what the calling thread has just stored. */
    public boolean isWanted() {
        // what was stored before the check for sleepers; a sleeper announces itself before its last check
        UnsafeApi.fullFence();
        boolean wanted = WaitDescriptor.isWanted(line);
        Reference.reachabilityFence(memory);
        return wanted;
    }

    /** Wakes all sleepers, because of something that is not an entry. */
    public void wakeAll() {
        Futex.wake(WaitDescriptor.takeSleepers(line), Integer.MAX_VALUE);
        Reference.reachabilityFence(memory);
    }

    /** Says that a thread is about to wait at the wait channel; one more check of what it waits for must follow. */
    public void arm() {
        WaitDescriptor.arm(line);
        Reference.reachabilityFence(memory);
    }

    /** Says that no thread waits at the wait channel after all. */
    public void disarm() {
        WaitDescriptor.disarm(line);
        Reference.reachabilityFence(memory);
    }

    /** Whether a thread may wait at the wait channel; takes over the duty to make it readable. */
    public boolean takeArmed() {
        // what the caller has just stored before this check, as a waiter arms before its last check
        UnsafeApi.fullFence();
        boolean armed = WaitDescriptor.takeArmed(line);
        Reference.reachabilityFence(memory);
        return armed;
    }
}
