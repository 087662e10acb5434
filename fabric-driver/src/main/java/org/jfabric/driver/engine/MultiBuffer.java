package org.jfabric.driver.engine;

/**
 * A receive of an endpoint with FI_MULTI_RECV: a buffer for many messages in the states {@link ReceiveState#BUFFER} and
 * {@link ReceiveState#ENDING}, else like any other.
 *
 * <p>Owner: progress agent.
 */
final class MultiBuffer extends ReceiveOperation {
    /** Bytes from its start that messages take, with the gaps that align them. */
    long used;
    /** It ends when fewer bytes than this are free behind a message. */
    long minFree;
    /** The oldest message in it without an entry. */
    MultiPart firstPart;
    MultiPart lastPart;

    MultiBuffer(int index) {
        super(index, false);
    }
}
