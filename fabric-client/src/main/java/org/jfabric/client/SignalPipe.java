package org.jfabric.client;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.channels.SelectableChannel;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * A channel that is readable for as long as there is something to report: a pipe with one byte in it, or none.
 *
 * <p>Owner: whoever holds the lock of the object that reports. Both ends are non-blocking, so that neither a full pipe
 * nor an interrupt of the calling thread closes them.
 */
public final class SignalPipe {
    private final ByteBuffer one = ByteBuffer.allocateDirect(1);
    private final Pipe pipe;
    private boolean set;
    private boolean handedOut;

    /**
     * A pipe with nothing to report.
     *
     * @throws FabricException with {@link FabricErrno#EMFILE} if the system has no more descriptors.
     */
    public SignalPipe() {
        try {
            pipe = Pipe.open();
            pipe.source().configureBlocking(false);
            pipe.sink().configureBlocking(false);
        } catch (IOException failed) {
            throw new FabricException(FabricErrno.EMFILE, "no pipe for a wait object: " + failed.getMessage(),
                "Close some files, or raise the limit (ulimit -n).", failed);
        }
    }

    /** The channel to be registered with a selector, with {@link java.nio.channels.SelectionKey#OP_READ}. */
    public SelectableChannel channel() {
        handedOut = true;
        return pipe.source();
    }

    /** Makes the channel readable or not. */
    public void set(boolean due) {
        // an application that has closed its end early does without wake-ups
        if (due == set || !pipe.sink().isOpen() || !pipe.source().isOpen()) {
            return;
        }
        set = due;
        one.clear();
        try {
            if (due) {
                pipe.sink().write(one);
            } else {
                // an application that has read the byte itself has done what is to be done
                pipe.source().read(one);
            }
        } catch (IOException failed) {
            if (!pipe.source().isOpen()) {
                // closed by the application just now
                return;
            }
            throw new FabricException(FabricErrno.EIO, "the pipe of a wait object is broken: " + failed.getMessage(),
                "Close the queue and open another one.", failed);
        }
    }

    /**
     * Closes it; the channel is readable from now on. One that was asked for stays open, because a selector that is
     * about to sleep would forget a closed channel and sleep for ever: who asked for it closes it.
     */
    public void close() {
        try {
            pipe.sink().close();
            if (!handedOut) {
                pipe.source().close();
            }
        } catch (IOException failed) {
            throw new FabricException(FabricErrno.EIO, "the pipe of a wait object: " + failed.getMessage(),
                "Nothing; its descriptors may stay until the process ends.", failed);
        }
    }
}
