package org.jfabric;

import org.jfabric.ffi.ChannelDescriptor;

import java.nio.channels.SocketChannel;

/**
 * Receives what {@link ControlCommand#GETWAIT} and {@link ControlCommand#GETWAITOBJ} tell of a wait object, typed.
 * Owner: the calling thread.
 */
public final class WaitObjectHandle {
    private WaitObject waitObject = WaitObject.NONE;
    private SocketChannel channel;
    private MutexCond mutexCond;

    /** A handle of nothing. */
    public WaitObjectHandle() {
    }

    /**
     * Which kind of object it is.
     *
     * @return what the queue or set was opened with.
     */
    public WaitObject waitObject() {
        return waitObject;
    }

    /**
     * The channel of {@link WaitObject#FD}, readable when the object is signalled; register it with a selector, and
     * leave reading it to {@code tryWait}.
     *
     * @return non-blocking; null for another kind.
     */
    public SocketChannel channel() {
        return channel;
    }

    /**
     * The number of the descriptor of {@link WaitObject#FD}, for system calls of the application's own.
     *
     * @return 0 or more, valid until the queue or set is closed.
     * @throws FabricException {@link FabricErrno#ENODATA} for another kind; {@link FabricErrno#EOPNOTSUPP} naming the
     *     flag that the java command lacks.
     */
    public int fd() {
        if (channel == null) {
            throw new FabricException(FabricErrno.ENODATA, "wait object " + waitObject + " has no descriptor",
                "Open with FD.");
        }
        try {
            return ChannelDescriptor.of(channel);
        } catch (UnsupportedOperationException hidden) {
            throw new FabricException(FabricErrno.EOPNOTSUPP, "the number of the descriptor cannot be told: "
                + hidden.getMessage(), "Start java with " + ChannelDescriptor.FLAG + ", or use the channel.", hidden);
        }
    }

    /**
     * The pair of {@link WaitObject#MUTEX_COND}.
     *
     * @return null for another kind.
     */
    public MutexCond mutexCond() {
        return mutexCond;
    }

    void waitObject(WaitObject newWaitObject) {
        waitObject = newWaitObject;
        channel = null;
        mutexCond = null;
    }

    void channel(SocketChannel newChannel) {
        channel = newChannel;
    }

    void mutexCond(MutexCond newMutexCond) {
        mutexCond = newMutexCond;
    }
}
