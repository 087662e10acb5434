package org.jfabric.driver.stream;

import org.jfabric.driver.link.GroupHandler;
import org.jfabric.driver.link.JoinedGroup;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.LogPosition;
import org.jfabric.layout.ReadPlaceDescriptor;

/**
 * An endpoint of this driver that wants to read a group, until it does: where its reading begins.
 *
 * <p>Owner: progress agent.
 */
final class GroupJoin {
    private final int id;
    private final LocalEndpoint endpoint;
    private final String group;
    private final GroupHandler handler;
    private GroupWire wire;
    /** The writer's driver has named another of its threads. */
    private boolean isMoved;
    private final long deadlineNs;
    private boolean isOver;
    private LogPosition from;
    private final boolean inPlace;
    private GroupAnswer answer;
    /** The writer has left while the ring was being mapped. */
    private int endErrno;
    private long endOffset;

    GroupJoin(
        int id, LocalEndpoint endpoint, String group, LogPosition from, boolean inPlace, GroupHandler handler,
        GroupWire wire, long deadlineNs) {
        this.id = id;
        this.endpoint = endpoint;
        this.group = group;
        this.from = from;
        this.inPlace = inPlace;
        this.handler = handler;
        this.wire = wire;
        this.deadlineNs = deadlineNs;
    }

    int id() {
        return id;
    }

    LocalEndpoint endpoint() {
        return endpoint;
    }

    String group() {
        return group;
    }

    /** The connection to the writer's progress thread; null if that is this one. */
    GroupWire wire() {
        return wire;
    }

    /** Whether its endpoint has no authorization key. */
    boolean isKeyless() {
        return endpoint.authKey().length == 0;
    }

    /** Whether the client reads the ring itself. */
    boolean isInPlace() {
        return inPlace;
    }

    boolean isMoved() {
        return isMoved;
    }

    /** The writer is on another progress thread of its driver. */
    void moveTo(GroupWire newWire) {
        wire = newWire;
        isMoved = true;
    }

    boolean isLate(long nowNs) {
        return nowNs - deadlineNs > 0;
    }

    /** The writer's driver lets the endpoint read. */
    void answered(GroupAnswer newAnswer) {
        answer = newAnswer;
    }

    /** What the writer's driver has answered; null before that. */
    GroupAnswer answer() {
        return answer;
    }

    /** Its log is read from there, where its ring begins. */
    void beginAt(LogPosition start) {
        from = start;
    }

    /** The request to the writer's driver. */
    GroupRequest request() {
        return new GroupRequest(id, endpoint.address(), group, endpoint.authKey(), from);
    }

    void ending(int errno, long end) {
        endErrno = errno;
        endOffset = end;
    }

    int endErrno() {
        return endErrno;
    }

    long endOffset() {
        return endOffset;
    }

    /** Whether it has joined, or was refused. */
    boolean isOver() {
        return isOver;
    }

    /** The endpoint is detached. */
    void closed() {
        failed(FabricErrno.EOPBADSTATE, "was being joined by an endpoint that is closed", "Open another one.");
    }

    /** The endpoint writes the group. */
    void joined(LogPosition start, String log) {
        joined(new JoinedGroup(start, log, 0, 0, 0));
    }

    /** The endpoint reads the group, in place if its file has a number. */
    void joined(long ringNumber) {
        joined(new JoinedGroup(answer.start(), answer.log(), ringNumber, answer.offset(),
            (answer.isLossy() ? ReadPlaceDescriptor.IS_LOSSY : 0)
                | (answer.mayOverrun() ? ReadPlaceDescriptor.MAY_OVERRUN : 0)));
    }

    private void joined(JoinedGroup membership) {
        if (!isOver) {
            isOver = true;
            handler.onJoined(membership);
        }
    }

    void failed(int errno, String what, String remedy) {
        failed(new FabricException(errno, "group " + group + ' ' + what, remedy));
    }

    void failed(FabricException cause) {
        if (!isOver) {
            isOver = true;
            handler.onFailed(cause);
        }
    }
}
