package org.jfabric.driver.engine;

import org.jfabric.driver.resource.RegisteredRegion;

/**
 * One message in a multi-receive buffer: its receive is a sub-buffer.
 *
 * <p>Owner: progress agent.
 */
final class MultiPart extends ReceiveOperation {
    /** Null before it has one, and once nothing is left to do for it. */
    MultiBuffer buffer;
    /** The next younger one in the buffer. */
    MultiPart nextPart;
    /** Bytes placed of a message that is lost. */
    long endPlaced;
    /** Its entry is written. */
    boolean written;
    /** Nothing but its entry needs it. */
    boolean released;

    MultiPart(int index) {
        super(index, true);
    }

    @Override
    RegisteredRegion region() {
        return buffer == null ? null : buffer.region;
    }
}
