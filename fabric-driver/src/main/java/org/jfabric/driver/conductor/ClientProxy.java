package org.jfabric.driver.conductor;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import java.util.ArrayDeque;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.client.FieldWriter;
import org.jfabric.codec.control.ClientEnded;
import org.jfabric.codec.control.ControlMessage.DriverMessage;
import org.jfabric.info.FabricErrno;
import org.jfabric.layout.RecordProducer;
import org.jfabric.layout.RecordRingDescriptor;

/**
 * Sends answers and events to one client through its event ring.
 *
 * <p>A client that does not read loses no answer: events that do not fit into the ring are queued here, up to a bound
 * that only unsolicited events can exceed. Owner: conductor.
 */
final class ClientProxy {
    private static final int MAX_PENDING = 16 * 1024;

    private final FieldWriter fields = new FieldWriter(false);
    private final ArrayDeque<byte[]> pending = new ArrayDeque<>();
    private final RecordProducer ring;
    private final UnsafeBuffer records;
    private final Runnable doorbell;
    private boolean broken;
    private boolean closed;

    /**
     * A proxy for a fresh ring.
     *
     * @param doorbell rung after each event.
     */
    ClientProxy(RecordProducer ring, Runnable doorbell) {
        this.ring = ring;
        this.records = new UnsafeBuffer(ring.ringAddress(), ring.capacity());
        this.doorbell = doorbell;
    }

    /** Sends an answer or event; {@link ClientEnded} is the last one. */
    void send(DriverMessage message) {
        if (closed) {
            return;
        }
        fields.clear();
        // the record's word
        fields.int32(0);
        fields.int32(message.templateId());
        message.encode(fields);
        byte[] record = new byte[fields.length()];
        fields.buffer().getBytes(0, record);
        if (!pending.isEmpty() || !offer(record)) {
            pending.addLast(record);
        }
        closed = message instanceof ClientEnded;
    }

    /** Stops sending, because the ring's memory is about to be unmapped. */
    void close() {
        closed = true;
        pending.clear();
    }

    /** Sends queued events that did not fit before. */
    int flush() {
        int work = 0;
        while (!closed && !pending.isEmpty() && offer(pending.peekFirst())) {
            pending.removeFirst();
            work++;
        }
        return work;
    }

    /** Whether events wait for space in the ring. */
    boolean hasPending() {
        return !closed && !pending.isEmpty();
    }

    /** Checks the client's end of the ring. Returns null, or the reason to end the client. */
    String broken() {
        if (broken) {
            return "the position in its event ring is impossible";
        }
        return pending.size() > MAX_PENDING
            ? "it does not read its events: " + pending.size() + " wait besides a full ring of " + ring.capacity()
                + " bytes"
            : null;
    }

    private boolean offer(byte[] record) {
        int offset = ring.claim(record.length);
        if (offset < 0) {
            broken |= offset != -FabricErrno.EAGAIN;
            return false;
        }
        records.putBytes(
            offset + RecordRingDescriptor.WORD_LENGTH,
            record,
            RecordRingDescriptor.WORD_LENGTH,
            record.length - RecordRingDescriptor.WORD_LENGTH);
        ring.commit(offset, record.length, new UnsafeBuffer(record).getInt(Integer.BYTES, LITTLE_ENDIAN));
        doorbell.run();
        return true;
    }
}
