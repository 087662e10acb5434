package org.jfabric.tool;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.driver.log.EventKind;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.MappedFile;
import org.jfabric.ffi.NativeCallException;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.layout.EventRecordDescriptor;
import org.jfabric.layout.FileHeaderDescriptor;
import org.jfabric.layout.FileType;

/**
 * The contents of the {@code record} file of a driver when it was read. The driver may run, or may have been killed.
 *
 * @param startTimeMs of the driver, since 1970.
 */
record RecordView(Path file, long pid, long startTimeMs, List<Event> events) {
    private static final int MAX_RINGS = 1 << 12;
    private static final int MAX_EVENTS = 1 << 20;

    /**
     * One event.
     *
     * @param thread      number of the thread that reported to the agent's ring last, 0 if unknown.
     * @param sequence    number of the event in its ring, from 1.
     * @param epochNs     time since 1970.
     * @param monotonicNs time by {@link System#nanoTime()} of this host.
     * @param kind        null if there is none of that number, in a damaged file.
     * @param client      number of the client, 0 for none.
     * @param object      number of the client's object, 0 for none.
     * @param text        may be empty.
     */
    record Event(String agent, int thread, long sequence, long epochNs, long monotonicNs, EventKind kind, int kindCode,
        long client, long object, long first, long second, String text) {

        String kindText() {
            return kind == null ? "kind-" + kindCode : kind.text();
        }

        /** Name of the first number; empty if there is none. */
        String firstName() {
            return kind == null ? "first" : kind.first();
        }

        /** Name of the second number; empty if there is none. */
        String secondName() {
            return kind == null ? "second" : kind.second();
        }
    }

    /**
     * Reads a file. That of a driver of another user, which was named, is passed by the driver while it runs; the one
     * of its predecessor is not. Root reads both by their names, also those of a driver that was killed.
     *
     * @return null if there is no such file.
     * @throws ToolException if it cannot be read.
     */
    static RecordView read(Path directory, String name) {
        CncView.requireDirectory(directory);
        boolean isReadable = CncView.isOwn(directory) || Libc.geteuid() == 0;
        if (!isReadable && !name.equals(EventRecordDescriptor.FILE_NAME)) {
            return null;
        }
        try (MappedFile file = isReadable ? open(directory, name)
            : CncView.openPassed(FileType.RECORD, directory, EventRecordDescriptor.FIRST_RING_OFFSET)) {
            return read(directory.resolve(name), file);
        } catch (NativeCallException ex) {
            if (ex.errno() == FabricErrno.ENOENT) {
                return null;
            }
            throw new ToolException(ex.getMessage() + '.', ex);
        } catch (FabricException refused) {
            if (refused.errno() == FabricErrno.ENOENT) {
                return null;
            }
            throw refused;
        } catch (InternalError cut) {
            throw new ToolException(directory.resolve(name) + " was cut while it was read.", cut);
        }
    }

    private static MappedFile open(Path directory, String name) {
        int fd = CncView.openDirectory(directory);
        try {
            return MappedFile.open(fd, name, true, EventRecordDescriptor.FIRST_RING_OFFSET);
        } finally {
            Libc.close(fd);
        }
    }

    private static RecordView read(Path path, MappedFile file) {
        UnsafeBuffer header = readable(file, 0, EventRecordDescriptor.FIRST_RING_OFFSET);
        String wrong = FileHeaderDescriptor.verify(header, FileType.RECORD);
        int rings = header.getInt(EventRecordDescriptor.RINGS_OFFSET, LITTLE_ENDIAN);
        int each = header.getInt(EventRecordDescriptor.EVENTS_OFFSET, LITTLE_ENDIAN);
        if (wrong == null && (rings < 1 || rings > MAX_RINGS || each < 1 || each > MAX_EVENTS
            || EventRecordDescriptor.fileLength(rings, each) > file.lengthBytes())) {
            wrong = "its header says " + rings + " rings of " + each + " events, it has " + file.lengthBytes()
                + " bytes";
        }
        if (wrong != null) {
            throw new ToolException(path + " cannot be read: " + wrong + '.');
        }
        List<Event> events = new ArrayList<>();
        int length = Math.toIntExact(EventRecordDescriptor.ringLength(each));
        for (int i = 0; i < rings; i++) {
            readRing(readable(file, EventRecordDescriptor.FIRST_RING_OFFSET + (long) i * length, length), each, events);
        }
        events.sort(Comparator.comparingLong(Event::monotonicNs).thenComparing(Event::agent)
            .thenComparingLong(Event::sequence));
        return new RecordView(path, header.getLong(FileHeaderDescriptor.PARAMETER_2_OFFSET, LITTLE_ENDIAN),
            header.getLong(FileHeaderDescriptor.PARAMETER_1_OFFSET, LITTLE_ENDIAN), events);
    }

    private static void readRing(UnsafeBuffer ring, int count, List<Event> events) {
        int nameLength = ring.getInt(EventRecordDescriptor.NAME_LENGTH_OFFSET, LITTLE_ENDIAN);
        String agent = nameLength < 0 || nameLength > EventRecordDescriptor.MAX_NAME_LENGTH ? "?"
            : ring.getStringWithoutLengthAscii(EventRecordDescriptor.NAME_OFFSET, nameLength);
        int thread = ring.getInt(EventRecordDescriptor.THREAD_OFFSET, LITTLE_ENDIAN);
        for (int i = 0; i < count; i++) {
            int at = EventRecordDescriptor.FIRST_EVENT_OFFSET + i * EventRecordDescriptor.EVENT_LENGTH;
            long sequence = ring.getLongVolatile(at + EventRecordDescriptor.SEQUENCE_OFFSET);
            if (sequence <= 0) {
                continue;
            }
            Event event = event(ring, at, agent, thread, sequence);
            UnsafeApi.loadFence();
            // else the driver has begun to put a new event in its place
            if (ring.getLongVolatile(at + EventRecordDescriptor.SEQUENCE_OFFSET) == sequence) {
                events.add(event);
            }
        }
    }

    private static Event event(UnsafeBuffer ring, int at, String agent, int thread, long sequence) {
        int code = ring.getInt(at + EventRecordDescriptor.KIND_OFFSET, LITTLE_ENDIAN);
        int length = ring.getInt(at + EventRecordDescriptor.TEXT_LENGTH_OFFSET, LITTLE_ENDIAN);
        byte[] text = new byte[Math.clamp(length, 0, EventRecordDescriptor.MAX_TEXT_LENGTH)];
        ring.getBytes(at + EventRecordDescriptor.TEXT_OFFSET, text);
        return new Event(agent, thread, sequence,
            ring.getLong(at + EventRecordDescriptor.EPOCH_NS_OFFSET, LITTLE_ENDIAN),
            ring.getLong(at + EventRecordDescriptor.MONOTONIC_NS_OFFSET, LITTLE_ENDIAN),
            EventKind.of(code), code,
            ring.getLong(at + EventRecordDescriptor.CLIENT_OFFSET, LITTLE_ENDIAN),
            ring.getLong(at + EventRecordDescriptor.OBJECT_OFFSET, LITTLE_ENDIAN),
            ring.getLong(at + EventRecordDescriptor.FIRST_OFFSET, LITTLE_ENDIAN),
            ring.getLong(at + EventRecordDescriptor.SECOND_OFFSET, LITTLE_ENDIAN),
            new String(text, StandardCharsets.UTF_8));
    }

    private static UnsafeBuffer readable(MappedFile file, long offset, int length) {
        return new UnsafeBuffer(file.directBuffer(offset, length));
    }
}
