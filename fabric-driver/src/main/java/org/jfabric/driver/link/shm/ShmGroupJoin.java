package org.jfabric.driver.link.shm;

import org.jfabric.driver.link.GroupHandler;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * An endpoint of this driver that wants to read a group, until it does: where its reading begins.
 *
 * <p>Owner: progress agent.
 */
final class ShmGroupJoin {
    private final int id;
    private final LocalEndpoint endpoint;
    private final String group;
    private final GroupHandler handler;
    private final ShmConnection connection;
    private final long deadlineNs;
    private boolean isAnswered;
    private boolean isOver;
    private int remoteId;
    private boolean isLossy;
    private boolean mayOverrun;
    private long position;
    private long sequence;
    private String writer;
    /** The writer has left while the ring was being mapped. */
    private int endErrno;
    private long endPosition;

    ShmGroupJoin(
        int id, LocalEndpoint endpoint, String group, GroupHandler handler, ShmConnection connection,
        long deadlineNs) {
        this.id = id;
        this.endpoint = endpoint;
        this.group = group;
        this.handler = handler;
        this.connection = connection;
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

    /** The connection to the writer's driver; null if that is this driver. */
    ShmConnection connection() {
        return connection;
    }

    boolean isLate(long nowNs) {
        return nowNs - deadlineNs > 0;
    }

    /** The writer's driver lets the endpoint read. */
    void answered(
        int newRemoteId, String newWriter, boolean lossy, boolean overrun, long newPosition, long newSequence) {
        isAnswered = true;
        remoteId = newRemoteId;
        writer = newWriter;
        isLossy = lossy;
        mayOverrun = overrun;
        position = newPosition;
        sequence = newSequence;
    }

    boolean isAnswered() {
        return isAnswered;
    }

    int remoteId() {
        return remoteId;
    }

    String writer() {
        return writer;
    }

    boolean isLossy() {
        return isLossy;
    }

    boolean mayOverrun() {
        return mayOverrun;
    }

    long position() {
        return position;
    }

    long sequence() {
        return sequence;
    }

    void ending(int errno, long end) {
        endErrno = errno;
        endPosition = end;
    }

    int endErrno() {
        return endErrno;
    }

    long endPosition() {
        return endPosition;
    }

    /** Whether it has joined, or was refused. */
    boolean isOver() {
        return isOver;
    }

    /** The endpoint is detached. */
    void closed() {
        failed(FabricErrno.EOPBADSTATE, "was being joined by an endpoint that is closed", "Open another one.");
    }

    void joined() {
        if (!isOver) {
            isOver = true;
            handler.onJoined();
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
