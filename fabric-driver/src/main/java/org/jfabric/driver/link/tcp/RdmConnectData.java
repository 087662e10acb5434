package org.jfabric.driver.link.tcp;

import java.nio.ByteBuffer;
import org.jfabric.driver.link.support.PeerProtocol;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.ProtocolErrno;

/**
 * The data that reliable-datagram endpoints exchange in the {@link CmMessage}. The port on which the requester listens
 * identifies it.
 *
 * <pre>
 *   0 version u8: bits 0 to 6, bit 7 "the version is checked" in responses | 1 features u8
 *   2 port on which the requester listens u16 | 4 process id u32                       both in network order
 * </pre>
 *
 * <p>This link uses version 0 and answers every request with it: after an answer of version 1 a peer could use the
 * tagged rendezvous. The process id has to be the same for all connections of one endpoint and has to change with a
 * restart. Immutable.
 *
 * @param features   bit 0: the requester cannot be connected to.
 * @param listenPort 1 to 65535.
 * @param processId  not 0.
 */
record RdmConnectData(int version, int features, int listenPort, int processId) {
    static final int LENGTH = 8;

    private static final int VERSION = 0;
    private static final int BEHIND_FIREWALL = 1;

    static RdmConnectData request(int listenPort, int processId) {
        return new RdmConnectData(VERSION, 0, listenPort, processId);
    }

    /** The answer of an endpoint with the process id {@code ownProcessId}. */
    RdmConnectData response(int ownProcessId) {
        return new RdmConnectData(VERSION, 0, listenPort, ownProcessId);
    }

    /** Whether the sender cannot be connected to: it answers only over connections that it has requested. */
    boolean isBehindFirewall() {
        return (features & BEHIND_FIREWALL) != 0;
    }

    byte[] encode() {
        return ByteBuffer.allocate(LENGTH).put((byte) version).put((byte) features).putShort((short) listenPort)
            .putInt(processId).array();
    }

    /**
     * Reads connect data.
     *
     * @throws FabricException {@code FI_EIO} if the bytes are not such data.
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
                "The peer must send the port on which it listens, which identifies it.");
        }
        return decoded;
    }
}
