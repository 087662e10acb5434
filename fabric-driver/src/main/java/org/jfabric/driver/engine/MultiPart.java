package org.jfabric.driver.engine;

import org.jfabric.driver.resource.RegisteredRegion;

/**
 * The receive of one message in a multi-receive buffer: a sub-buffer.
 *
 * <p>Owner: progress agent.
 */
final class MultiPart extends ReceiveOperation {
    /** Null before it is assigned, and after everything is done for it. */
    MultiBuffer buffer;
    /** The next later sub-buffer. */
    MultiPart nextPart;
    /** Bytes placed of a message that is lost. */
    long endPlaced;
    /** Whether the message is in the client's memory already, if that is copied. */
    boolean stored;
    /** Whether the entry is written. */
    boolean written;
    /** Whether only its entry still needs the record. */
    boolean released;

    MultiPart(int index) {
        super(index, true);
    }

    @Override
    RegisteredRegion region() {
        return buffer == null ? null : buffer.region;
    }
}
