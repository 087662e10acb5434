package org.jfabric.driver.link.verbs;

import org.jfabric.driver.link.BoundAddress;
import org.jfabric.info.SocketName;

/**
 * A group that an endpoint receives from: a queue pair of its own with the group's Q_Key, so that the datagrams of the
 * group can be distinguished from those to the endpoint itself. Owner: as {@link VerbsUdPort}.
 */
final class VerbsUdGroup extends BoundAddress {
    private final VerbsUdPort port;
    private final SocketName name;
    private final VerbsUdMembership membership;
    private VerbsUdQueuePair queuePair;
    private boolean isClosed;

    private VerbsUdGroup(VerbsUdPort port, SocketName name, VerbsUdMembership membership) {
        this.port = port;
        this.name = name;
        this.membership = membership;
    }

    /** Joins and begins to receive. */
    static VerbsUdGroup open(VerbsUdPort port, SocketName name) {
        VerbsUdGroup group = new VerbsUdGroup(port, name, VerbsUdMembership.join(port, name));
        try {
            group.queuePair = port.openGroup(group.membership);
            return group;
        } catch (RuntimeException | Error e) {
            group.close();
            throw e;
        }
    }

    VerbsUdQueuePair queuePair() {
        return queuePair;
    }

    @Override
    public String address() {
        return name.toString();
    }

    @Override
    public synchronized void close() {
        if (isClosed) {
            return;
        }
        isClosed = true;
        if (queuePair != null) {
            port.closeGroup(queuePair);
        }
        membership.close();
    }
}
