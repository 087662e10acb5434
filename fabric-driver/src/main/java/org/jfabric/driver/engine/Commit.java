package org.jfabric.driver.engine;

import org.jfabric.driver.link.RemoteAccess;
import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.driver.resource.SyncWaiter;

/**
 * A peer's write with {@code FI_COMMIT_COMPLETE} that is placed and waits until its region is on stable storage: what
 * is reported, counted and answered then. Each target uses its records again.
 *
 * <p>Owner: progress agent.
 */
final class Commit extends SyncWaiter {
    final RemoteTarget target;
    /** The next free record of the target. */
    Commit nextFree;
    private PeerRemote peer;
    /** Number of the peer's connection: a later connection gets no answer to this write. */
    private int connection;
    private RegisteredRegion region;
    private long operation;
    private long length;
    private long data;
    private boolean hasData;
    private boolean isReported;

    Commit(RemoteTarget target) {
        this.target = target;
    }

    /** Begins the wait. The region is in use until its end. */
    void begin(PeerRemote writer, RegisteredRegion written, RemoteAccess access, boolean reported) {
        peer = writer;
        connection = writer.connection();
        region = written;
        operation = access.operation();
        length = access.lengthBytes();
        data = access.data();
        hasData = access.hasData();
        isReported = reported;
        region.retain();
        region.sync().await(this);
    }

    @Override
    protected void onSynced(int errno) {
        RegisteredRegion written = region;
        PeerRemote writer = peer;
        peer = null;
        region = null;
        written.release();
        target.endCommit(this, errno, connection == writer.connection() ? writer : null, written);
    }

    long operation() {
        return operation;
    }

    long lengthBytes() {
        return length;
    }

    long data() {
        return data;
    }

    boolean hasData() {
        return hasData;
    }

    boolean isReported() {
        return isReported;
    }
}
