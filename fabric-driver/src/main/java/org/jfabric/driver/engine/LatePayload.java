package org.jfabric.driver.engine;

/**
 * Fields of a receive that are needed only if the payload of its message arrives after the match, or if its entry has
 * to wait for its turn. They are separate from {@link ReceiveOperation}, so that a posted receive occupies few cache
 * lines.
 *
 * <p>Owner: progress agent.
 */
final class LatePayload {
    /** Next receive that takes an announced payload of the same peer; {@link PullList}. */
    ReceiveOperation nextPull;
    /** Previous in {@link PullList}. */
    ReceiveOperation previousPull;
    /** Next receive with a control message for the peer; {@link PullList}. */
    ReceiveOperation nextControl;
    /** The message whose payload still streams into the store, in the state {@link ReceiveState#FILLING}. */
    StoredMessage filling;

    // of an announced message
    /** The sender's operation id. */
    long remoteOperation;
    /** Bytes fetched. */
    long received;
    /** The status for the sender: 0 or a positive fabric errno. */
    int finishErrno;

    /** Next in {@link EntryOrder}. */
    ReceiveOperation nextInOrder;
    /** Whether it is in the {@link EntryOrder} of its peer. */
    boolean inOrder;
    /** The result while the entry waits: 0 or a positive fabric errno. */
    int endedErrno;
    /** Bytes placed of a message that is lost, while its entry waits. */
    long endedPlaced;

    /** Initializes the fields for an announced message. */
    void announced(long operation) {
        remoteOperation = operation;
        received = 0;
        finishErrno = 0;
    }
}
