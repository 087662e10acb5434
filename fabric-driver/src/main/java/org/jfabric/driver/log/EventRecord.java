package org.jfabric.driver.log;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import java.util.ArrayList;
import java.util.List;
import org.agrona.ErrorHandler;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.LogConfig;
import org.jfabric.driver.config.Sizing;
import org.jfabric.ffi.MappedFile;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.layout.EventRecordDescriptor;
import org.jfabric.layout.FileHeaderDescriptor;
import org.jfabric.layout.FileType;
import org.jfabric.layout.OwnerId;

/**
 * The driver's {@code record} file: the last events of each agent, also after the driver was killed. Each agent has a
 * ring for what happens, a progress thread another one for how long something took.
 *
 * <p>Rings are made by the thread that launches the driver. After a fault, because the file was cut, nothing is
 * recorded any more.
 */
public final class EventRecord implements AutoCloseable {
    private final MappedFile file;
    private final ErrorHandler recorder;
    private final List<EventRing> rings = new ArrayList<>();
    private final int events;
    private volatile boolean open = true;

    private EventRecord(MappedFile file, ErrorHandler recorder, int events) {
        this.file = file;
        this.recorder = recorder;
        this.events = events;
    }

    /**
     * Makes the file.
     *
     * @param recorder is notified if the file is cut.
     * @return null if no events are to be kept.
     */
    public static EventRecord create(int dirFd, OwnerId owner, DriverConfig config, ErrorHandler recorder) {
        int events = config.get(LogConfig.RECORD_EVENTS);
        if (events == 0) {
            return null;
        }
        int rings = Sizing.recordRings(config);
        long length = EventRecordDescriptor.fileLength(rings, events);
        MappedFile file = MappedFile.create(dirFd, EventRecordDescriptor.FILE_NAME, length);
        UnsafeBuffer header = file.buffer(0, EventRecordDescriptor.FIRST_RING_OFFSET);
        header.putLong(FileHeaderDescriptor.PARAMETER_1_OFFSET, System.currentTimeMillis(), LITTLE_ENDIAN);
        header.putLong(FileHeaderDescriptor.PARAMETER_2_OFFSET, ProcessHandle.current().pid(), LITTLE_ENDIAN);
        header.putInt(EventRecordDescriptor.RINGS_OFFSET, rings, LITTLE_ENDIAN);
        header.putInt(EventRecordDescriptor.EVENTS_OFFSET, events, LITTLE_ENDIAN);
        FileHeaderDescriptor.write(
            header, FileType.RECORD, 0, owner, 1, length - FileHeaderDescriptor.HEADER_LENGTH);
        UnsafeApi.fullFence();
        return new EventRecord(file, recorder, events);
    }

    /** The next ring of the file. */
    EventRing ring(String name) {
        long length = EventRecordDescriptor.ringLength(events);
        long offset = EventRecordDescriptor.FIRST_RING_OFFSET + rings.size() * length;
        // beyond the last ring there is no such part of the file
        EventRing ring = new EventRing(this, file.buffer(offset, Math.toIntExact(length)), events, name);
        rings.add(ring);
        return ring;
    }

    boolean isOpen() {
        return open;
    }

    /** Ends recording if the file was cut; any thread, after a failed access. Returns false if it was not. */
    public synchronized boolean closeIfCut() {
        if (!open || !file.isCut()) {
            return !open;
        }
        open = false;
        recorder.onError(new FabricException(FabricErrno.EIO,
            "the driver's own file " + EventRecordDescriptor.FILE_NAME + " was cut; no events are recorded any more",
            "Find the processes that truncate files in the driver's directory, and restart the driver."));
        return true;
    }

    /** Unmaps the file. A thread that reports something later has no event. */
    @Override
    public void close() {
        synchronized (this) {
            open = false;
        }
        rings.forEach(EventRing::awaitWriter);
        file.close();
    }
}
