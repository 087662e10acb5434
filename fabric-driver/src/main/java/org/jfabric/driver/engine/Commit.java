package org.jfabric.driver.engine;

import org.jfabric.driver.link.RemoteRanges;
import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.driver.resource.SyncWaiter;

/**
 * A peer's write with {@code FI_COMMIT_COMPLETE} that is placed and waits until its regions are on stable storage: what
 * is reported, counted and answered then. Each target uses its records again.
 *
 * <p>The fields that are not private are the target's. Owner: progress agent.
 */
final class Commit extends SyncWaiter {
    final RemoteTarget target;
    /** The next free record of the target. */
    Commit nextFree;
    boolean hasData;
    long data;
    boolean isOfStream;
    boolean isReported;
    private PeerRemote peer;
    /** Number of the peer's connection: a later connection gets no answer to this write. */
    private int connection;
    private final RemoteRanges ranges = new RemoteRanges();
    private final RegisteredRegion[] regions = new RegisteredRegion[RemoteRanges.MAX_RANGES];
    /** Ranges whose regions are on stable storage. */
    private int synced;
    private long operation;

    Commit(RemoteTarget target) {
        this.target = target;
    }

    /** Begins the wait. The regions are in use until its end. */
    void begin(PeerRemote writer, RemoteRanges written, RegisteredRegion[] found, long answered) {
        peer = writer;
        connection = writer.connection();
        operation = answered;
        ranges.set(written);
        for (int i = 0; i < ranges.count(); i++) {
            regions[i] = found[i];
            regions[i].retain();
        }
        synced = 0;
        regions[0].sync().await(this);
    }

    @Override
    protected void onSynced(int errno) {
        do {
            synced++;
        } while (synced < ranges.count() && ranges.isNamedBefore(synced));
        if (errno == 0 && synced < ranges.count()) {
            regions[synced].sync().await(this);
            return;
        }
        PeerRemote writer = peer;
        peer = null;
        for (int i = 0; i < ranges.count(); i++) {
            regions[i].release();
        }
        target.endCommit(this, errno, connection == writer.connection() ? writer : null);
    }

    long operation() {
        return operation;
    }

    /** The ranges of the write. */
    RemoteRanges ranges() {
        return ranges;
    }

    /** Copies the regions of the ranges, and forgets them. */
    void takeRegions(RegisteredRegion[] list) {
        for (int i = 0; i < ranges.count(); i++) {
            list[i] = regions[i];
            regions[i] = null;
        }
    }
}
