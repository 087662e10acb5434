package org.jfabric.driver.conductor;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import org.agrona.DirectBuffer;
import org.jfabric.client.VarDataReader;

/**
 * A command as it arrived. The next one overwrites the body, so commands decode it when they are created.
 *
 * @param body     private memory that begins with the command's block; its lengths were checked.
 */
record CommandRequest(
    ConductorContext context, Registry registry, ClientSession session, DirectBuffer body, int length) {

    /** The first field of every command; the answer repeats it. */
    long correlationId() {
        return body.getLong(0, LITTLE_ENDIAN);
    }

    /** The variable-length fields after the block. */
    VarDataReader varData(int blockLength) {
        return new VarDataReader(body, blockLength, length);
    }
}
