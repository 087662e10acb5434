package org.jfabric.driver.engine;

import org.agrona.UnsafeApi;
import org.jfabric.ffi.Futex;
import org.jfabric.ffi.UnixSocket;
import org.jfabric.layout.WaitDescriptor;

/**
 * Where the driver wakes those who wait for entries of one completion queue, or of all queues of a wait set.
 *
 * <p>Costs a full fence and one load per batch, and a system call only if somebody waits. Owner: progress agent.
 */
public final class WaitPoint {
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
     * From now on who waits at the wait channel is woken by a byte.
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

    /**
     * Entries were written, or an end that a reader must notice.
     *
     * @param written entries since the start.
     * @param urgent  whether sleepers are woken whatever number of entries they wait for.
     */
    void onWritten(long written, boolean urgent) {
        // the entries before the look for sleepers; a sleeper sets its word before it looks for entries
        UnsafeApi.fullFence();
        if (WaitDescriptor.isWanted(line)) {
            wake(written, urgent);
        }
    }

    private void wake(long written, boolean urgent) {
        if (UnsafeApi.getInt(line + WaitDescriptor.SLEEPERS_OFFSET) != 0
            && (urgent || written - UnsafeApi.getLong(line + WaitDescriptor.WAKE_AT_OFFSET) >= 0)) {
            Futex.wake(WaitDescriptor.takeSleepers(line), Integer.MAX_VALUE);
        }
        // any entry wakes here: a threshold is only known to a blocking read
        if (channelFd != NO_CHANNEL && WaitDescriptor.takeArmed(line)) {
            // of a non-blocking socket; without room it is readable already, a broken one shows its end elsewhere
            UnixSocket.ring(channelFd);
        }
    }
}
