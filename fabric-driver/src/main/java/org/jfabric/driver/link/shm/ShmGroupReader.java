package org.jfabric.driver.link.shm;

/**
 * A reader of a group, as the group's writer knows it: an endpoint of another driver, whose position is the last that
 * was reported, or one of this driver, whose position is read where it is.
 *
 * <p>Owner: progress agent.
 */
final class ShmGroupReader {
    private final ShmGroup group;
    private final int id;
    private final String address;
    private final ShmConnection connection;
    private final int remoteId;
    private final ShmGroupMember local;
    private long position;

    private ShmGroupReader(
        ShmGroup group, int id, String address, ShmConnection connection, int remoteId, ShmGroupMember local,
        long position) {
        this.group = group;
        this.id = id;
        this.address = address;
        this.connection = connection;
        this.remoteId = remoteId;
        this.local = local;
        this.position = position;
    }

    static ShmGroupReader remote(
        ShmGroup group, int id, String address, ShmConnection connection, int remoteId, long position) {
        return new ShmGroupReader(group, id, address, connection, remoteId, null, position);
    }

    static ShmGroupReader local(ShmGroup group, ShmGroupMember member) {
        return new ShmGroupReader(group, 0, member.endpoint().address(), null, 0, member, 0);
    }

    ShmGroup group() {
        return group;
    }

    /** This side's number of the membership; 0 for a member of this driver. */
    int id() {
        return id;
    }

    String address() {
        return address;
    }

    /** The connection to its driver; null for a member of this driver. */
    ShmConnection connection() {
        return connection;
    }

    /** The other driver's number of the membership. */
    int remoteId() {
        return remoteId;
    }

    /** The member itself, of this driver; else null. */
    ShmGroupMember local() {
        return local;
    }

    /** Everything before this position has been read. */
    long position() {
        return local != null ? local.position() : position;
    }

    void position(long newPosition) {
        position = newPosition;
    }
}
