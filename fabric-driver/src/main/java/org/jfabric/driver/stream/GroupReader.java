package org.jfabric.driver.stream;

/**
 * A reader of a group, as the group's writer knows it: an endpoint of another driver, whose position is the last that
 * was reported, or one of this driver, whose position is read where it is.
 *
 * <p>Owner: progress agent.
 */
final class GroupReader {
    private final Group group;
    private final int id;
    private final String address;
    private final GroupWire wire;
    private final int remoteId;
    private final GroupMember local;
    private long position;

    private GroupReader(
        Group group, int id, String address, GroupWire wire, int remoteId, GroupMember local,
        long position) {
        this.group = group;
        this.id = id;
        this.address = address;
        this.wire = wire;
        this.remoteId = remoteId;
        this.local = local;
        this.position = position;
    }

    static GroupReader remote(
        Group group, int id, String address, GroupWire wire, int remoteId, long position) {
        return new GroupReader(group, id, address, wire, remoteId, null, position);
    }

    static GroupReader local(Group group, GroupMember member) {
        return new GroupReader(group, 0, member.endpoint().address(), null, 0, member, 0);
    }

    Group group() {
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
    GroupWire wire() {
        return wire;
    }

    /** The other driver's number of the membership. */
    int remoteId() {
        return remoteId;
    }

    /** The member itself, of this driver; else null. */
    GroupMember local() {
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
