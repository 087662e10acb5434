package org.jfabric.driver.stream;

/**
 * A reader of a group, as the group's writer knows it: an endpoint of another driver, whose place is the last that
 * was reported, or one of this driver, whose place is read where it is.
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
    private long offset;
    private long position;

    private GroupReader(
        Group group, int id, String address, GroupWire wire, int remoteId, GroupMember local,
        long offset, long position) {
        this.group = group;
        this.id = id;
        this.address = address;
        this.wire = wire;
        this.remoteId = remoteId;
        this.local = local;
        this.offset = offset;
        this.position = position;
    }

    static GroupReader remote(
        Group group, int id, GroupWire wire, GroupRequest request, long offset, long position) {
        return new GroupReader(
            group, id, request.source(), wire, request.join(), null, offset, position);
    }

    static GroupReader local(Group group, GroupMember member) {
        return new GroupReader(group, 0, member.endpoint().address(), null, 0, member, 0, 0);
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

    /** Everything before this offset of the ring has been read. */
    long offset() {
        return local != null ? local.offset() : offset;
    }

    /** Position of its next message; of a reader of another driver as it was reported last. */
    long position() {
        return local != null ? local.position() : position;
    }

    void reported(long newOffset, long newPosition) {
        offset = newOffset;
        position = newPosition;
    }
}
