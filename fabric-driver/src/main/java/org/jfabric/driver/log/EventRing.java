package org.jfabric.driver.log;

import static org.jfabric.layout.EventRecordDescriptor.CLIENT_OFFSET;
import static org.jfabric.layout.EventRecordDescriptor.EPOCH_NS_OFFSET;
import static org.jfabric.layout.EventRecordDescriptor.EVENT_LENGTH;
import static org.jfabric.layout.EventRecordDescriptor.FIRST_EVENT_OFFSET;
import static org.jfabric.layout.EventRecordDescriptor.FIRST_OFFSET;
import static org.jfabric.layout.EventRecordDescriptor.KIND_OFFSET;
import static org.jfabric.layout.EventRecordDescriptor.MAX_NAME_LENGTH;
import static org.jfabric.layout.EventRecordDescriptor.MAX_TEXT_LENGTH;
import static org.jfabric.layout.EventRecordDescriptor.MONOTONIC_NS_OFFSET;
import static org.jfabric.layout.EventRecordDescriptor.NAME_LENGTH_OFFSET;
import static org.jfabric.layout.EventRecordDescriptor.NAME_OFFSET;
import static org.jfabric.layout.EventRecordDescriptor.OBJECT_OFFSET;
import static org.jfabric.layout.EventRecordDescriptor.SECOND_OFFSET;
import static org.jfabric.layout.EventRecordDescriptor.SEQUENCE_OFFSET;
import static org.jfabric.layout.EventRecordDescriptor.TEXT_LENGTH_OFFSET;
import static org.jfabric.layout.EventRecordDescriptor.TEXT_OFFSET;
import static org.jfabric.layout.EventRecordDescriptor.THREAD_OFFSET;

import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.HighResolutionClock;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.driver.resource.FaultPoint;

/**
 * The last events of one agent in the {@code record} file. A new event takes the place of the oldest.
 *
 * <p>An agent is the only writer of its ring. The lock is for the driver's own ring, which threads share that are no
 * agents, and for the close.
 */
final class EventRing implements EventSink {
    private static final Path OWN_THREAD = Path.of("/proc/thread-self");
    private static final int ASCII_END = 0x80;
    private static final long NS_PER_MS = 1_000_000;
    private static final long MOST_DIFFERENCE_MS = 2;

    private final EventRecord record;
    private final UnsafeBuffer ring;
    private final int mask;
    private long sequence;
    private Thread writer;
    private long epochOffsetNs = HighResolutionClock.epochNanos() - System.nanoTime();

    /**
     * A ring without events.
     *
     * @param events that it keeps, a power of two.
     */
    EventRing(EventRecord record, UnsafeBuffer ring, int events, String name) {
        this.record = record;
        this.ring = ring;
        this.mask = events - 1;
        byte[] bytes = name.getBytes(StandardCharsets.US_ASCII);
        int length = Math.min(bytes.length, MAX_NAME_LENGTH);
        ring.putBytes(NAME_OFFSET, bytes, 0, length);
        ring.putInt(NAME_LENGTH_OFFSET, length, ByteOrder.LITTLE_ENDIAN);
    }

    @Override
    public synchronized void write(
        EventKind kind, long clientId, long objectId, long first, long second, String text) {
        if (!record.isOpen()) {
            return;
        }
        try {
            noteThread();
            long next = ++sequence;
            int at = FIRST_EVENT_OFFSET + ((int) (next - 1) & mask) * EVENT_LENGTH;
            ring.putLongRelease(at + SEQUENCE_OFFSET, 0);
            // the fields must not be stored before that: a reader would take parts of two events for one
            UnsafeApi.storeStoreFence();
            long nowNs = System.nanoTime();
            ring.putLong(at + EPOCH_NS_OFFSET, epochNs(nowNs), ByteOrder.LITTLE_ENDIAN);
            ring.putLong(at + MONOTONIC_NS_OFFSET, nowNs, ByteOrder.LITTLE_ENDIAN);
            ring.putInt(at + KIND_OFFSET, kind.code(), ByteOrder.LITTLE_ENDIAN);
            ring.putLong(at + CLIENT_OFFSET, clientId, ByteOrder.LITTLE_ENDIAN);
            ring.putLong(at + OBJECT_OFFSET, objectId, ByteOrder.LITTLE_ENDIAN);
            ring.putLong(at + FIRST_OFFSET, first, ByteOrder.LITTLE_ENDIAN);
            ring.putLong(at + SECOND_OFFSET, second, ByteOrder.LITTLE_ENDIAN);
            ring.putInt(at + TEXT_LENGTH_OFFSET, putText(at + TEXT_OFFSET, text), ByteOrder.LITTLE_ENDIAN);
            ring.putLongRelease(at + SEQUENCE_OFFSET, next);
            FaultPoint.pass();
        } catch (InternalError fault) {
            // an earlier access of this thread to other memory may be the cause, and the agent handles that
            if (!record.closeIfCut()) {
                throw fault;
            }
        }
    }

    /** Stores a text, returns its length in bytes; allocates nothing for names and addresses, which are ASCII. */
    private int putText(int at, String text) {
        int length = Math.min(text.length(), MAX_TEXT_LENGTH);
        for (int i = 0; i < length; i++) {
            char c = text.charAt(i);
            if (c >= ASCII_END) {
                byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
                length = Math.min(bytes.length, MAX_TEXT_LENGTH);
                ring.putBytes(at, bytes, 0, length);
                return length;
            }
            ring.putByte(at + i, (byte) c);
        }
        return length;
    }

    /** The time since 1970; follows the system's clock when that is set. Reading that in nanoseconds allocates. */
    private long epochNs(long nowNs) {
        long ms = System.currentTimeMillis();
        long ns = nowNs + epochOffsetNs;
        if (Math.abs(ns / NS_PER_MS - ms) > MOST_DIFFERENCE_MS) {
            ns = ms * NS_PER_MS;
            epochOffsetNs = ns - nowNs;
        }
        return ns;
    }

    /** Returns when no thread stores into the ring any more; the record is closed. */
    synchronized void awaitWriter() {
        assert !record.isOpen();
    }

    /** The number of the thread, by which a tool finds how long it waited for a core. */
    private void noteThread() {
        if (Thread.currentThread() == writer) {
            return;
        }
        writer = Thread.currentThread();
        int thread = 0;
        try {
            thread = Integer.parseInt(Files.readSymbolicLink(OWN_THREAD).getFileName().toString());
        } catch (IOException | NumberFormatException ex) {
            // it remains unknown
            thread = 0;
        }
        ring.putInt(THREAD_OFFSET, thread, ByteOrder.LITTLE_ENDIAN);
    }
}
