package org.jfabric;

import java.nio.channels.SelectableChannel;
import org.jfabric.ffi.ChannelDescriptor;
import org.jfabric.info.ControlCommand;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.WaitObject;

/**
 * Receives what {@link ControlCommand#GETWAIT} and {@link ControlCommand#GETWAITOBJ} report of a wait object, typed.
 * Owner: the calling thread.
 *
 * <pre>{@code
 * PortedCalls.control(queue, ControlCommand.GETWAIT.code(), handle);
 * SelectableChannel channel = handle.channel();
 * }</pre>
 */
public final class WaitObjectHandle {
    private WaitObject waitObject = WaitObject.NONE;
    private SelectableChannel channel;
    private MutexCond mutexCond;
    /** That of a socket, which has no channel; else negative. */
    private int descriptor = -1;

    /** A handle of nothing. */
    public WaitObjectHandle() {
    }

    /**
     * The kind of the object.
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
     * @return non-blocking; null for another kind, and for a {@link SocketEndpoint}, which has only {@link #fd()}.
     */
    public SelectableChannel channel() {
        return channel;
    }

    /**
     * The number of the descriptor of {@link WaitObject#FD}, for system calls of the application's own.
     *
     * @return 0 or more, valid until the queue, set or endpoint is closed.
     * @throws FabricException {@link FabricErrno#ENODATA} for another kind; {@link FabricErrno#EOPNOTSUPP} naming the
     *     flag that the java command lacks.
     */
    public int fd() {
        if (descriptor >= 0) {
            return descriptor;
        }
        if (channel == null) {
            throw new FabricException(FabricErrno.ENODATA, "wait object " + waitObject + " has no descriptor",
                "Open with FD.");
        }
        try {
            return ChannelDescriptor.of(channel);
        } catch (UnsupportedOperationException hidden) {
            throw new FabricException(FabricErrno.EOPNOTSUPP, "the number of the descriptor is hidden: "
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
        descriptor = -1;
    }

    void descriptor(int newDescriptor) {
        descriptor = newDescriptor;
    }

    void channel(SelectableChannel newChannel) {
        channel = newChannel;
    }

    void mutexCond(MutexCond newMutexCond) {
        mutexCond = newMutexCond;
    }
}
