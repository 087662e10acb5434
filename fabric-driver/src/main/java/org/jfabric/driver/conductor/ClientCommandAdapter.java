package org.jfabric.driver.conductor;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.client.FieldReader;
import org.jfabric.codec.control.ControlMessage;
import org.jfabric.codec.control.EnableEndpoint;
import org.jfabric.info.FabricException;
import org.jfabric.layout.RecordConsumer;
import org.jfabric.layout.RecordRingDescriptor;

/**
 * Takes the commands of clients from their rings, decodes them, and begins what {@link CommandTable} has for them.
 *
 * <p>A record is first copied out of the client's memory, then its lengths are checked, then it is decoded: the client
 * cannot change it any more after the check. Owner: conductor.
 */
final class ClientCommandAdapter {
    /** Greatest type that a record may have; the client learns which one is not known. */
    static final int MAX_TYPE = 255;

    private static final int BATCH = 16;
    private static final int MAX_VAR_FIELDS = 9;
    private static final int MAX_TEXT = 4096;
    /** No command is longer than the longest block with all its texts. */
    private static final int MAX_BODY =
        MAX_VAR_FIELDS * (MAX_TEXT + Integer.BYTES) + EnableEndpoint.BLOCK_LENGTH;

    private final DriverConductor conductor;
    private final ConductorContext context;
    private final Registry registry;
    private final UnsafeBuffer body = new UnsafeBuffer(new byte[MAX_BODY]);
    private final UnsafeBuffer source = new UnsafeBuffer(0, 0);

    ClientCommandAdapter(DriverConductor conductor, ConductorContext context, Registry registry) {
        this.conductor = conductor;
        this.context = context;
        this.registry = registry;
    }

    /**
     * Takes commands of a client.
     *
     * @param session not ending.
     * @return number of commands taken, the argument of {@link #isFull}.
     */
    int poll(ClientSession session) {
        RecordConsumer ring = session.commands();
        int work = 0;
        while (work < BATCH && !session.isEnding()) {
            int state = ring.poll();
            if (state == RecordConsumer.EMPTY) {
                break;
            }
            String wrong = state == RecordConsumer.CORRUPT ? ring.describe() : take(session, ring);
            if (wrong != null) {
                conductor.onCorruption(session, "the command ring is corrupt: " + wrong);
                return work;
            }
            ring.advance();
            work++;
        }
        ring.release();
        return work;
    }

    /**
     * Whether a poll stopped because it had reached its limit of commands.
     *
     * @param taken result of {@link #poll}.
     * @return true if it has to be called again.
     */
    static boolean isFull(int taken) {
        return taken == BATCH;
    }

    private String take(ClientSession session, RecordConsumer ring) {
        int type = ring.type();
        int length = ring.length() - RecordRingDescriptor.WORD_LENGTH;
        int block = ControlMessage.Command.blockLength(type);
        if (block < 0) {
            return "a command with template " + type + " is not known";
        }
        if (length < block || length > MAX_BODY) {
            return "a command with template " + type + " has " + length + " bytes, needed are " + block + " to "
                + MAX_BODY;
        }
        source.wrap(ring.address() + RecordRingDescriptor.WORD_LENGTH, length);
        body.putBytes(0, source, 0, length);
        int end = block;
        for (int i = 0; i < ControlMessage.Command.texts(type); i++) {
            if (length - end < Integer.BYTES) {
                return "text " + i + " of a command with template " + type + " is missing in " + length + " bytes";
            }
            int text = body.getInt(end, LITTLE_ENDIAN);
            end += Integer.BYTES;
            if (text < 0 || text > MAX_TEXT || text > length - end) {
                return "text " + i + " of a command with template " + type + " has a length of "
                    + Integer.toUnsignedString(text) + " bytes, " + (length - end) + " are left";
            }
            end += text;
        }
        FieldReader fields = new FieldReader(body, 0, end);
        CommandRequest request = new CommandRequest(context, registry, session, fields.int64());
        try {
            conductor.begin(CommandTable.command(request, ControlMessage.Command.decode(type, fields)));
        } catch (FabricException ex) {
            conductor.onRefused(session, request.correlationId(), ex);
        }
        return null;
    }
}
