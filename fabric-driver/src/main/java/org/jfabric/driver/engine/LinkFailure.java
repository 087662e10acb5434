package org.jfabric.driver.engine;

import org.jfabric.driver.link.Channel;

/**
 * What the link says of a peer's failure besides the errno, while the operations of that peer end: the
 * {@code prov_errno} of their entries. One for each endpoint; looked at for error entries only.
 *
 * <p>Owner: progress agent.
 */
final class LinkFailure {
    private int provErrno;

    LinkFailure() {
    }

    /**
     * Operations of a peer end from now on. Whoever sees one of their entries may use the memory for something else at
     * once, so the link lets go of it here.
     *
     * @param channel to the peer, or null if there was none yet.
     */
    void begin(Channel channel) {
        provErrno = 0;
        if (channel != null) {
            provErrno = channel.provErrno();
            channel.quiesce();
        }
    }

    /** They have ended. */
    void end() {
        provErrno = 0;
    }

    /**
     * The detail of an entry.
     *
     * @param errno of the entry.
     * @return what the link said, else the errno.
     */
    int of(int errno) {
        return provErrno == 0 ? errno : provErrno;
    }
}
