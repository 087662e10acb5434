package org.jfabric.client;

import org.agrona.DirectBuffer;
import org.jfabric.codec.control.CompletionQueueReady;
import org.jfabric.codec.control.ControlMessage.DriverMessage;
import org.jfabric.codec.control.InfoMatch;
import org.jfabric.info.CompletionFormat;
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
     * Takes the next message. The record is given back before the return, so that the handling of a message may read
     * further ones.
     *
     * @return the answer to a command, an event, or null if there is none.
     * @throws FabricException with {@link FabricErrno#EIO} if what stands there cannot be one.
     */
    public DriverMessage next() {
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
            return decode(consumer.type(), ring, block, end);
        } catch (FabricException undecodable) {
            throw broken("record of type " + consumer.type() + ": " + undecodable.getMessage(), undecodable);
        } finally {
            consumer.advance();
            consumer.release();
        }
    }

    private static DriverMessage decode(int type, DirectBuffer buffer, int block, int end) {
        int blockLength = DriverMessage.blockLength(type);
        if (blockLength < 0) {
            throw new FabricException(FabricErrno.EINVAL, "type " + type + " is not known");
        }
        if (end - block < blockLength) {
            throw new FabricException(FabricErrno.EINVAL,
                "the record has " + (end - block) + " bytes, its block needs " + blockLength);
        }
        DriverMessage message = DriverMessage.decode(type, new FieldReader(buffer, block, end));
        // codes that are not known show a broken ring, too
        if (message instanceof InfoMatch match) {
            InfoCodec.info(match);
        } else if (message instanceof CompletionQueueReady ready) {
            CompletionFormat.of(ready.format());
        }
        return message;
    }

    private static FabricException broken(String what, FabricException cause) {
        return new FabricException(FabricErrno.EIO, "the event ring of the driver is broken: " + what,
            "Close this fabric; if the driver still runs, use the same version of JFabric on both sides.", cause);
    }
}
