package org.jfabric.driver.link.verbsud;

/**
 * An address handle: the way to a port, or to a group. Owner: progress agent.
 */
final class VerbsUdHandle {
    /** It is being made. */
    static final int MAKING = 0;
    /** It can be used. */
    static final int READY = 1;
    /** It cannot be made. */
    static final int FAILED = 2;
    /** It was given up, or failed and that was told. */
    static final int GONE = 3;

    final String way;
    /** One of the states. */
    int state;
    /** Why it cannot be made; a positive errno. */
    int errno;
    /** Sends that are with the card. */
    int sends;
    /** When it was used last, in uses of all handles. */
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

    /** Number that a channel's datagrams are for. */
    int queuePair(VerbsUdChannel channel) {
        return membership == null ? channel.queuePair() : membership.queuePair();
    }

    /** Q_Key of those that it leads to. */
    int key() {
        return membership == null ? VerbsUdPort.KEY : membership.key();
    }
}
