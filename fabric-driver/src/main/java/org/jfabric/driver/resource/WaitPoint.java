package org.jfabric.driver.resource;

import org.agrona.UnsafeApi;
import org.jfabric.client.Sleeper;
import org.jfabric.ffi.Futex;
import org.jfabric.ffi.UnixSocket;
import org.jfabric.layout.WaitDescriptor;

/**
 * Wakes the clients' threads that wait for entries of one completion queue, or of all queues of a wait set.
 *
 * <p>Costs a full fence and one load per batch, and a system call only if a thread waits. Owner: progress agent.
 */
public final class WaitPoint implements Sleeper {
    private static final int NO_CHANNEL = -1;

    private final long line;
    private int channelFd = NO_CHANNEL;

    /**
     * The driver's end of a line of wait words.
     *
     * @param line native address of the words, see {@link WaitDescriptor}.
     */
    public WaitPoint(long line) {
        this.line = line;
    }

    /**
     * Sets the wait channel; a thread that waits at it is woken by a byte from now on.
     *
     * @param fd non-blocking socket, open until {@link #clearChannel()}.
     */
    public void channel(int fd) {
        channelFd = fd;
    }

    /** The wait channel is about to be closed. */
    public void clearChannel() {
        channelFd = NO_CHANNEL;
    }

    @Override
    public boolean isArmed() {
        return UnsafeApi.getIntVolatile(null, line + WaitDescriptor.ARMED_OFFSET) != 0;
    }

    /** Wakes the thread that waits at the wait channel; any thread, while the channel is set. */
    @Override
    public void wakeSleeper() {
        if (channelFd != NO_CHANNEL && WaitDescriptor.takeArmed(line)) {
            // the socket is non-blocking; if it is full it is readable already, and a broken one is detected elsewhere
            UnixSocket.ring(channelFd);
        }
    }

    /**
     * Wakes sleepers after entries were written, or after a close that readers must notice.
     *
     * @param urgent  whether sleepers are woken however many entries they wait for.
     */
    public void onWritten(long written, boolean urgent) {
        // the stores of the entries come before the load of the sleepers; a sleeper stores its word before it polls
        UnsafeApi.fullFence();
        if (WaitDescriptor.isWanted(line)) {
            wake(written, urgent);
        }
    }

    /** Wakes sleepers after a change that is no entry. Returns whether there were any. */
    public boolean onChange() {
        UnsafeApi.fullFence();
        boolean wanted = isWanted();
        if (wanted) {
            wake(0, true);
        }
        return wanted;
    }

    /** Whether a thread sleeps here or is about to. */
    public boolean isWanted() {
        return WaitDescriptor.isWanted(line);
    }

    private void wake(long written, boolean urgent) {
        if (UnsafeApi.getInt(line + WaitDescriptor.SLEEPERS_OFFSET) != 0
            && (urgent || written - UnsafeApi.getLong(line + WaitDescriptor.WAKE_AT_OFFSET) >= 0)) {
            Futex.wake(WaitDescriptor.takeSleepers(line), Integer.MAX_VALUE);
        }
        // any entry wakes the channel: only a blocking read has a threshold
        wakeSleeper();
    }
}
