package org.jfabric.driver.engine;

/**
 * What a receive needs only if the payload of its message comes after the match, or if its entry has to wait for its
 * turn. It is apart from {@link ReceiveOperation}, so that those that wait for a message take few cache lines.
 *
 * <p>Owner: progress agent.
 */
final class LatePayload {
    /** Next receive that takes an announced payload of the same peer; {@link PullList}. */
    ReceiveOperation nextPull;
    /** Previous in {@link PullList}. */
    ReceiveOperation previousPull;
    /** Next receive with something to tell the peer; {@link PullList}. */
    ReceiveOperation nextControl;
    /** The message whose payload still streams into the store, in the state {@link ReceiveState#FILLING}. */
    StoredMessage filling;

    // of an announced message
    /** The sender's id of it. */
    long remoteOperation;
    /** Bytes fetched. */
    long received;
    /** What the sender is told, 0 or a positive fabric errno. */
    int finishErrno;

    /** Next in {@link EntryOrder}. */
    ReceiveOperation nextInOrder;
    /** Whether it is in the {@link EntryOrder} of its peer. */
    boolean inOrder;
    /** How it ended, while its entry waits: 0 or a positive fabric errno. */
    int endedErrno;
    /** Bytes placed of a message that is lost, while its entry waits. */
    long endedPlaced;

    /** Of an announced message: nothing is fetched yet. */
    void announced(long operation) {
        remoteOperation = operation;
        received = 0;
        finishErrno = 0;
    }
}
