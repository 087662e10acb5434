package org.jfabric.driver.engine;

/**
 * A receive of an endpoint with FI_MULTI_RECV: a buffer for many messages in the states {@link ReceiveState#BUFFER} and
 * {@link ReceiveState#ENDING}, else like any other.
 *
 * <p>Owner: progress agent.
 */
final class MultiBuffer extends ReceiveOperation {
    /** Bytes from the start that messages occupy, alignment gaps included. */
    long used;
    /** The buffer is released when fewer bytes than this are free. */
    long minFree;
    /** The oldest sub-buffer without an entry. */
    MultiPart firstPart;
    MultiPart lastPart;

    MultiBuffer(int index) {
        super(index, false);
    }
}
