package org.jfabric.driver.engine;

import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;

/**
 * Receives into memory of a client's process that the driver cannot map: the message is placed in a copy, and copied to
 * the client before the entry is written. It is the mode of such a receive only, from the moment when its memory is
 * found until its record is released, and never the mode of an endpoint: all else is done by the mode in whose place it
 * stands. So other receives need no test.
 *
 * <p>Owner: progress agent.
 */
final class CopiedReceives extends ReceiveMode {
    private final ReceiveMode replaced;

    CopiedReceives(EndedReceives ends, ReceiveMode replaced) {
        super(ends);
        this.replaced = replaced;
    }

    @Override
    void post(ReceiveOperation receive, long srcAddr, long tag, long ignore) {
        replaced.post(receive, srcAddr, tag, ignore);
    }

    @Override
    void peek(ReceiveOperation receive, long srcAddr, long tag, long ignore) {
        replaced.peek(receive, srcAddr, tag, ignore);
    }

    @Override
    ReceiveOperation arrive(PeerReceives from, long flags, long tag, long length) {
        return replaced.arrive(from, flags, tag, length);
    }

    @Override
    void complete(ReceiveOperation receive) {
        if ((receive.flags & Flags.DISCARD) != 0 || receive.store()) {
            replaced.complete(receive);
        } else {
            ends.notStored(receive);
            replaced.fail(receive, 0, FabricErrno.EFAULT);
        }
    }

    /** Copied at once: the sender is acknowledged before the entry is written. */
    @Override
    int delay(ReceiveOperation receive) {
        if ((receive.flags & Flags.DISCARD) != 0 || receive.store()) {
            receive.mode = replaced;
            return 0;
        }
        ends.notStored(receive);
        return FabricErrno.EFAULT;
    }

    @Override
    void found(ReceiveOperation peek, long buf) {
        replaced.found(peek, buf == 0 || peek.store() ? buf : 0);
    }

    /** The bytes that were placed before the failure may be any, so they are not copied. */
    @Override
    void fail(ReceiveOperation receive, long placed, int errno) {
        replaced.fail(receive, placed, errno);
    }

    @Override
    void release(ReceiveOperation receive) {
        receive.mode = replaced;
        replaced.release(receive);
    }

    @Override
    void cancel(ReceiveOperation receive, int errno) {
        replaced.cancel(receive, errno);
    }
}
