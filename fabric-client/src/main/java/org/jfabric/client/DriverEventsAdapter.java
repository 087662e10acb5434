package org.jfabric.client;

import org.agrona.DirectBuffer;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.layout.RecordConsumer;
import org.jfabric.layout.RecordRingDescriptor;

/**
 * Reads the event ring. Nothing is read beyond a record, whatever stands in it.
 *
 * <p>Owner: the thread of the client's conductor, with an embedded driver the thread that uses the domain.
 */
public final class DriverEventsAdapter {
    private final RecordConsumer consumer;
    private final DirectBuffer ring;

    public DriverEventsAdapter(RecordConsumer consumer, DirectBuffer ring) {
        this.consumer = consumer;
        this.ring = ring;
    }

    /**
     * Takes the next event. The record is given back before the return, so that the handling of an event may read
     * further ones.
     *
     * @return the event, or null if there is none.
     * @throws FabricException with {@link FabricErrno#EIO} if what stands there cannot be an event.
     */
    public DriverEvent next() {
        int result = consumer.poll();
        if (result == RecordConsumer.EMPTY) {
            return null;
        }
        if (result == RecordConsumer.CORRUPT) {
            throw broken(consumer.describe(), null);
        }
        int block = consumer.offset() + RecordRingDescriptor.WORD_LENGTH;
        int end = consumer.offset() + consumer.length();
        try {
            return DriverEvent.decode(consumer.type(), ring, block, end);
        } catch (FabricException undecodable) {
            throw broken("record of type " + consumer.type() + ": " + undecodable.getMessage(), undecodable);
        } finally {
            consumer.advance();
            consumer.release();
        }
    }

    private static FabricException broken(String what, FabricException cause) {
        return new FabricException(FabricErrno.EIO, "the event ring of the driver is broken: " + what,
            "Close this fabric; if the driver still runs, use the same version of JFabric on both sides.", cause);
    }
}
