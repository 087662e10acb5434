package org.jfabric.driver.link.verbs;

/**
 * An address handle: the route to a port or to a group. Owner: progress agent.
 */
final class VerbsUdHandle {
    /** It is being made. */
    static final int MAKING = 0;
    /** It can be used. */
    static final int READY = 1;
    /** It cannot be made. */
    static final int FAILED = 2;
    /** It was evicted, or its failure was reported. */
    static final int GONE = 3;

    final String way;
    int state;
    /** Why it cannot be made; a positive errno. */
    int errno;
    /** Sends that are posted and not completed. */
    int sends;
    /** Its last use, as a count of the uses of all handles. */
    long lastUse;
    private long pointer;
    private VerbsUdMembership membership;

    VerbsUdHandle(String way) {
        this.way = way;
    }

    void ready(long made, VerbsUdMembership joined) {
        pointer = made;
        membership = joined;
        state = READY;
    }

    void failed(int why) {
        errno = why;
        state = FAILED;
    }

    long pointer() {
        return pointer;
    }

    /** Destination queue pair number of a channel's datagrams. */
    int queuePair(VerbsUdChannel channel) {
        return membership == null ? channel.queuePair() : membership.queuePair();
    }

    /** Q_Key of the destination. */
    int key() {
        return membership == null ? VerbsUdPort.KEY : membership.key();
    }
}
