package org.jfabric.driver.link.tcp;

import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.ProtocolErrno;
import org.jfabric.driver.link.support.PeerProtocol;

import java.nio.ByteBuffer;

/**
 * What reliable-datagram endpoints tell each other in the {@link CmMessage}: who asks, by the port that it listens on.
 *
 * <pre>
 *   0 version u8: bits 0 to 6, bit 7 "I look at the version" in responses | 1 features u8
 *   2 port on which the requester listens u16 | 4 process id u32                       both in network order
 * </pre>
 *
 * <p>Version 0 is what this link speaks, and answers whatever is asked: with 1 a peer could expect the tagged
 * rendezvous. The process id only has to be the same for all connections of one endpoint, and another one after a
 * restart. Immutable.
 *
 * @param version    of the protocol.
 * @param features   bit 0: the requester cannot be connected to.
 * @param listenPort 1 to 65535.
 * @param processId  not 0.
 */
record RdmConnectData(int version, int features, int listenPort, int processId) {
    static final int LENGTH = 8;

    private static final int VERSION = 0;

    /** A request of this link. */
    static RdmConnectData request(int listenPort, int processId) {
        return new RdmConnectData(VERSION, 0, listenPort, processId);
    }

    /** The answer of an endpoint with that process id. */
    RdmConnectData response(int ownProcessId) {
        return new RdmConnectData(VERSION, 0, listenPort, ownProcessId);
    }

    byte[] encode() {
        return ByteBuffer.allocate(LENGTH).put((byte) version).put((byte) features).putShort((short) listenPort)
            .putInt(processId).array();
    }

    /**
     * Reads it.
     *
     * @throws FabricException {@code FI_EIO} if it is none.
     */
    static RdmConnectData decode(byte[] data) {
        if (data.length != LENGTH) {
            throw new FabricException(FabricErrno.EIO, "connect data of " + data.length + " bytes, needed are "
                + LENGTH, ProtocolErrno.describe(PeerProtocol.of(data)));
        }
        ByteBuffer buffer = ByteBuffer.wrap(data);
        RdmConnectData decoded = new RdmConnectData(
            buffer.get() & 0xFF, buffer.get() & 0xFF, buffer.getShort() & 0xFFFF, buffer.getInt());
        if (decoded.listenPort == 0) {
            throw new FabricException(FabricErrno.EIO, "connect data with listen port 0",
                "The other end must tell where it listens; that is its name.");
        }
        return decoded;
    }
}
