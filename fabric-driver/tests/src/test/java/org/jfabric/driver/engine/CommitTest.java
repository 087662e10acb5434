package org.jfabric.driver.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.status.CountersManager;
import org.agrona.concurrent.status.CountersReader;
import org.jfabric.driver.resource.DescriptorWatcher;
import org.jfabric.driver.resource.Inbox;
import org.jfabric.driver.resource.RegionKey;
import org.jfabric.driver.resource.RegionSync;
import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.driver.resource.ResourceAgent;
import org.jfabric.driver.resource.StableStorage;
import org.jfabric.driver.resource.SystemCounter;
import org.jfabric.driver.resource.SystemCounters;
import org.jfabric.ffi.NativeCallException;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Writes that are committed to a storage that the test lets wait and fail. */
@Timeout(60)
class CommitTest {
    private static final long KEY = 7;
    private static final int LENGTH = 1 << 17;
    private static final long COMMIT = Flags.WRITE | Flags.COMMIT_COMPLETE;

    /** Each sync takes one permit. */
    private static final class Storage implements StableStorage {
        private final Semaphore permits = new Semaphore(0);
        private final AtomicInteger begun = new AtomicInteger();
        private volatile boolean fails;

        @Override
        public void sync() {
            begun.incrementAndGet();
            permits.acquireUninterruptibly();
            if (fails) {
                throw new NativeCallException("fdatasync", FabricErrno.ENOSPC, "the storage of the test");
            }
        }
    }

    private final DescriptorWatcher watcher = new DescriptorWatcher();
    private final List<Throwable> errors = new ArrayList<>();
    private final ResourceAgent resource = new ResourceAgent(watcher, errors::add, true);
    private final Inbox inbox = new Inbox();
    private final Storage storage = new Storage();
    private final SystemCounters counters = new SystemCounters(new CountersManager(
        new UnsafeBuffer(new byte[64 * CountersReader.METADATA_LENGTH]),
        new UnsafeBuffer(ByteBuffer.allocateDirect(64 * CountersReader.COUNTER_LENGTH))));
    private final RegionSync sync = new RegionSync(storage, resource, inbox, counters, errors::add);
    private RemoteRig rig;
    private RemoteRig.Node writer;
    private RemoteRig.Node target;
    private RegisteredRegion region;
    private int index;
    private boolean isReleased;
    private long to;

    @AfterEach
    void close() {
        storage.permits.release(1000);
        if (rig != null) {
            rig.close();
        }
        resource.close();
        inbox.drain(Integer.MAX_VALUE);
        watcher.close();
    }

    private void open(boolean isShm, long caps, int driverShare) {
        rig = new RemoteRig(isShm, caps, false, driverShare);
        writer = rig.add("a");
        target = rig.add("b");
        long memory = UnsafeApi.allocateMemory(LENGTH);
        target.allocated.add(memory);
        UnsafeApi.setMemory(memory, LENGTH, (byte) 0);
        region = new RegisteredRegion(0, 0x1_0000_0044L, memory, LENGTH,
            new RegionKey(0, KEY, RemoteRig.BOTH), () -> isReleased = true);
        region.sync(sync);
        index = target.session.regions().add(region);
        to = writer.to(target);
    }

    private void post(long flags, long remote, int length, long context) {
        assertEquals(0, writer.access(flags, 0, length, to, remote, KEY, 0, context));
    }

    private void steps() {
        for (int i = 0; i < 50; i++) {
            inbox.drain(16);
            rig.steps(1);
        }
    }

    private CompletionReader.Entry next() {
        CompletionReader.Entry[] entry = new CompletionReader.Entry[1];
        Deadline.usual().until("an entry", () -> {
            steps();
            entry[0] = writer.completions.take();
            return entry[0] != null;
        }, Thread::yield, storage.begun::get);
        return entry[0];
    }

    private void awaitBegun(int syncs) {
        Deadline.usual().until("the begin of a sync", () -> {
            steps();
            return storage.begun.get() == syncs;
        }, Thread::yield, storage.begun::get);
    }

    private void assertEnds(long context, int err) {
        CompletionReader.Entry entry = next();
        assertEquals(context, entry.context());
        assertEquals(err, entry.errno());
    }

    private void assertNothing() {
        steps();
        assertNull(writer.completions.take());
    }

    private long syncs() {
        return counters.value(SystemCounter.REGION_SYNCS);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldEndACommitAfterItsSyncAndPlaceOthersMeanwhile(boolean isShm) {
        open(isShm, 0, 256);
        // the first answer says that writes need not wait for each other
        post(Flags.WRITE, 0, 1, 0);
        assertEnds(0, 0);
        UnsafeApi.setMemory(writer.memory, LENGTH, (byte) 1);
        post(COMMIT, 0, 50_000, 1);
        awaitBegun(1);
        assertEquals(1, UnsafeApi.getByte(region.address() + 49_999));
        // behind it, and done before
        UnsafeApi.setMemory(writer.memory, LENGTH, (byte) 2);
        post(Flags.WRITE, 60_000, 30_000, 2);
        assertEnds(2, 0);
        assertEquals(2, UnsafeApi.getByte(region.address() + 89_999));
        // commits that come meanwhile are not served by the sync that is running
        for (int i = 0; i < 5; i++) {
            post(COMMIT, 100_000 + i, 1, 3 + i);
        }
        assertNothing();
        assertEquals(0, syncs());
        storage.permits.release();
        assertEnds(1, 0);
        awaitBegun(2);
        assertNothing();
        assertEquals(1, syncs());
        // one for all of them
        storage.permits.release();
        for (int i = 0; i < 5; i++) {
            assertEnds(3 + i, 0);
        }
        assertEquals(2, syncs());
        assertEquals(2, storage.begun.get());
        assertTrue(errors.isEmpty());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldNeverMakeASuccessOfAFailedSync(boolean isShm) {
        open(isShm, 0, 256);
        post(COMMIT, 0, 100, 1);
        awaitBegun(1);
        post(COMMIT, 200, 100, 2);
        assertNothing();
        storage.fails = true;
        storage.permits.release();
        assertEnds(1, FabricErrno.EIO);
        assertEnds(2, FabricErrno.EIO);
        // the storage works again, and the kernel would say so
        storage.fails = false;
        storage.permits.release(100);
        UnsafeApi.setMemory(writer.memory, 100, (byte) 3);
        for (int i = 0; i < 3; i++) {
            post(COMMIT, 400, 100, 3);
            assertEnds(3, FabricErrno.EIO);
        }
        assertEquals(0, UnsafeApi.getByte(region.address() + 400), "nothing of it is placed");
        post(Flags.WRITE, 400, 100, 4);
        assertEnds(4, 0);
        assertEquals(1, storage.begun.get());
        assertEquals(1, errors.size());
        assertTrue(errors.getFirst().getMessage().contains("the storage of the test"));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldReportAfterTheSyncAndKeepASlotForThat(boolean isShm) {
        open(isShm, Flags.RMA_EVENT, 2);
        post(COMMIT | Flags.REMOTE_CQ_DATA, 0, 100, 1);
        awaitBegun(1);
        assertEquals(1, target.completions.writer.driverQuota().inUse());
        assertNull(target.completions.take());
        storage.permits.release();
        assertEnds(1, 0);
        assertEquals(100, target.completions.take().length());
        assertEquals(0, target.completions.writer.driverQuota().inUse());
        post(COMMIT | Flags.REMOTE_CQ_DATA, 0, 100, 2);
        awaitBegun(2);
        storage.fails = true;
        storage.permits.release();
        assertEnds(2, FabricErrno.EIO);
        assertEquals(0, target.completions.writer.driverQuota().inUse());
        assertNull(target.completions.take());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldKeepTheRegionUntilTheLastSyncHasEnded(boolean isShm) {
        open(isShm, 0, 256);
        post(COMMIT, 0, 100, 1);
        awaitBegun(1);
        target.session.regions().close(index);
        assertNothing();
        assertTrue(!isReleased);
        storage.permits.release();
        assertEnds(1, 0);
        assertTrue(isReleased);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldForgetCommitsOfAConnectionThatHasEnded(boolean isShm) {
        open(isShm, Flags.RMA_EVENT, 256);
        post(COMMIT, 0, 100, 1);
        awaitBegun(1);
        writer.closeEndpoint();
        steps();
        storage.permits.release();
        Deadline.usual().until("the sync", () -> {
            steps();
            return syncs() == 1;
        }, Thread::yield, storage.begun::get);
        steps();
        assertNull(target.completions.take(), "a report of nobody's write");
        assertEquals(0, target.completions.writer.driverQuota().inUse());
        assertEquals(List.of(), rig.logged());
    }
}
