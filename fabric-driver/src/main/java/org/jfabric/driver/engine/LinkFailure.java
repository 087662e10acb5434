package org.jfabric.driver.engine;

import org.jfabric.driver.link.Channel;

/**
 * The link's detail of a peer's failure, while the operations of that peer end: the {@code prov_errno} of their error
 * entries. There is one for each endpoint.
 *
 * <p>Owner: progress agent.
 */
final class LinkFailure {
    private int provErrno;

    LinkFailure() {
    }

    /**
     * The operations of a peer end from now on. The application may reuse the memory as soon as it reads an entry, so
     * the link stops using it here.
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

    void end() {
        provErrno = 0;
    }

    /** The {@code prov_errno} of an error entry. Returns the link's error number if it gave one, else the errno. */
    int of(int errno) {
        return provErrno == 0 ? errno : provErrno;
    }
}
