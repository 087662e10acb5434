package org.jfabric.driver.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.status.CountersManager;
import org.agrona.concurrent.status.CountersReader;
import org.jfabric.driver.resource.ClientMemory;
import org.jfabric.driver.resource.Environment;
import org.jfabric.driver.resource.RegionKey;
import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.driver.resource.SharedFile;
import org.jfabric.driver.resource.SharedFiles;
import org.jfabric.driver.resource.SystemCounters;
import org.jfabric.ffi.Libc;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.layout.MemoryRegionDescriptor;
import org.jfabric.layout.OwnerId;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Accesses of peers to memory of a client's process that the driver cannot map. This process is the client. */
class CopiedTargetTest {
    private static final long KEY = 0xABC;
    private static final int LENGTH = 1 << 18;
    private static final int AT = 100;
    private static final byte OF_CLIENT = 0x11;
    private static final byte OF_COPY = 0x22;

    private final Path folder = TestDirectory.create();
    private final int folderFd = Libc.openDirectory(folder);
    private final SharedFiles files = new SharedFiles(folderFd, OwnerId.random(), new SystemCounters(
        new CountersManager(
            new UnsafeBuffer(new byte[64 * CountersReader.METADATA_LENGTH]),
            new UnsafeBuffer(ByteBuffer.allocateDirect(64 * CountersReader.COUNTER_LENGTH)))), Environment.SYSTEM);
    private final ClientMemory process = ClientMemory.open(
        Libc.openat(Libc.AT_FDCWD, "/proc/self/mem", Libc.O_RDWR | Libc.O_CLOEXEC, 0));
    private final long memory = UnsafeApi.allocateMemory(LENGTH);
    private RemoteRig rig;
    private RemoteRig.Node initiator;
    private RemoteRig.Node target;
    private SharedFile file;
    private long to;

    private void open(boolean isShm, long caps, long clientAddress) {
        rig = new RemoteRig(isShm, caps, false, 64);
        initiator = rig.add("i");
        target = rig.add("t");
        to = initiator.to(target);
        UnsafeApi.setMemory(memory, LENGTH, OF_CLIENT);
        long number = files.nextNumber();
        file = files.createRegion(
            1, number, files.randomGeneration(), MemoryRegionDescriptor.DATA_OFFSET + LENGTH, LENGTH);
        UnsafeApi.setMemory(file.address() + MemoryRegionDescriptor.DATA_OFFSET, LENGTH, OF_COPY);
        target.session.regions().add(RegisteredRegion.copied(
            file, LENGTH, new RegionKey(0, KEY, RemoteRig.BOTH), process, clientAddress, () -> { }));
        for (int i = 0; i < RemoteRig.MEMORY; i++) {
            initiator.write(i, Engines.pattern(7, i));
        }
    }

    @AfterEach
    void close() {
        rig.close();
        files.abandon();
        process.release();
        Libc.close(folderFd);
        TestDirectory.delete(folder);
        UnsafeApi.freeMemory(memory);
    }

    private CompletionReader.Entry next(RemoteRig.Node node) {
        CompletionReader.Entry entry = node.completions.take();
        for (Deadline deadline = Deadline.usual(); !deadline.isOver() && entry == null;) {
            rig.steps(1);
            entry = node.completions.take();
        }
        assertTrue(entry != null, "no entry");
        return entry;
    }

    private void assertBytes(long address, int from, int to, byte expected) {
        for (int i = from; i < to; i++) {
            assertEquals(expected, UnsafeApi.getByte(address + i));
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldPlaceAWriteInTheClientsMemoryAlone(boolean isShm) {
        open(isShm, 0, memory);
        for (int length : new int[] {1, 60, 5000, LENGTH - 2 * AT}) {
            UnsafeApi.setMemory(memory, LENGTH, OF_CLIENT);
            assertEquals(0, initiator.access(
                Flags.WRITE | Flags.REMOTE_CQ_DATA, 0, length, to, AT, KEY, 1000 + length, 5));
            CompletionReader.Entry ended = next(initiator);
            assertEquals(0, ended.errno(), "length " + length);
            assertEquals(5, ended.context());
            CompletionReader.Entry reported = next(target);
            assertEquals(1000 + length, reported.data());
            assertEquals(length, reported.length());
            assertBytes(memory, 0, AT, OF_CLIENT);
            for (int i = 0; i < length; i++) {
                assertEquals(Engines.pattern(7, i), UnsafeApi.getByte(memory + AT + i));
            }
            assertBytes(memory, AT + length, LENGTH, OF_CLIENT);
            assertBytes(file.address() + MemoryRegionDescriptor.DATA_OFFSET, 0, LENGTH, OF_COPY);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldReadTheClientsMemoryAlone(boolean isShm) {
        open(isShm, 0, memory);
        for (int length : new int[] {1, 60, 5000, LENGTH - 2 * AT}) {
            assertEquals(0, initiator.access(Flags.READ, 0, length, to, AT, KEY, 0, 5));
            assertEquals(0, next(initiator).errno());
            assertBytes(initiator.memory, 0, length, OF_CLIENT);
            assertEquals(Engines.pattern(7, length), UnsafeApi.getByte(initiator.memory + length));
        }
    }

    /** As the first page of a process is never mapped, the copy fails. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldFailAWriteWhoseMemoryIsNotThereAndReportNone(boolean isShm) {
        open(isShm, Flags.RMA_EVENT, 0);
        for (int length : new int[] {1, 60, 3000}) {
            assertEquals(0, initiator.access(Flags.WRITE, 0, length, to, AT, KEY, 0, 5));
            assertEquals(FabricErrno.EFAULT, next(initiator).errno());
        }
        rig.steps(100);
        assertEquals(0, target.completions.takeAll().size());
        assertEquals(0, target.completions.writer.driverQuota().inUse());
    }
}
