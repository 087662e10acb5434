package org.jfabric.driver.link.rxm;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jfabric.driver.link.support.PeerProtocol;
import org.jfabric.info.ProtocolErrno;

/**
 * The private data of a connection request, of its acceptance, and of its refusal. Words are in the byte order of the
 * sender; the second byte of a request names that order.
 *
 * <pre>
 *   request                                            acceptance
 *    0  u8 1 | u8 order | u8 4 | u8 3                   0  u64 number that packets to the acceptor carry
 *    4  u16 port | u8 flow control | u8 connection     8  u32 receives kept posted
 *    8  u32 longest eager message                      12  u8 flow control | 3 bytes 0
 *   12  u32 receives kept posted                       refusal
 *   16  u64 number that packets to the requester carry  0  u8 1 | u8 reason
 * </pre>
 *
 * <p>A number has the process in its high 32 bits and a table index in the low ones; packets carry the low half.
 *
 * @param port        on which the requester listens; 0 in an acceptance.
 * @param flowControl {@link #FLOW_LOCAL}, {@link #FLOW_ON} or {@link #FLOW_OFF}.
 * @param eagerLimit  longest eager message in bytes; 0 in an acceptance.
 */
record RxmConnectData(int port, int flowControl, int eagerLimit, int receives, long number) {
    /** The other side may decide. */
    static final int FLOW_LOCAL = 0;
    /** Packets need credits. */
    static final int FLOW_ON = 1;
    /** Packets need no credits. */
    static final int FLOW_OFF = 2;

    /** Refused without a reason. */
    static final int REASON_UNSPECIFIED = 0;
    /** The two sides are not compatible. */
    static final int REASON_REFUSED = 1;
    /** There is a connection, or the refusing side's own request is in progress. */
    static final int REASON_ALREADY = 2;

    private static final int REQUEST_LENGTH = 24;
    private static final int ACCEPTANCE_LENGTH = 16;
    private static final int REFUSAL_LENGTH = 2;
    private static final byte VERSION = 1;
    private static final byte CONTROL_VERSION = 4;
    private static final byte OP_VERSION = 3;
    private static final byte ORDER = (byte) (ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN ? 1 : 2);

    /** Whether packets need credits, if the other side allows flow control. */
    boolean hasFlowControl() {
        return flowControl == FLOW_ON || flowControl == FLOW_LOCAL;
    }

    /** The process part of the number. */
    int process() {
        return (int) (number >>> 32);
    }

    /** The number in packets to the sender of this data: C peers sign-extend it. */
    long packetNumber() {
        return (int) number;
    }

    byte[] toRequest() {
        ByteBuffer buffer = buffer(REQUEST_LENGTH);
        buffer.put(VERSION).put(ORDER).put(CONTROL_VERSION).put(OP_VERSION)
            .putShort((short) port).put((byte) flowControl).put((byte) 0)
            .putInt(eagerLimit).putInt(receives).putLong(number);
        return buffer.array();
    }

    byte[] toAcceptance() {
        ByteBuffer buffer = buffer(ACCEPTANCE_LENGTH);
        buffer.putLong(number).putInt(receives).put((byte) flowControl);
        return buffer.array();
    }

    static byte[] toRefusal(int reason) {
        return new byte[] {VERSION, (byte) reason};
    }

    /**
     * Why a request is not compatible with this side.
     *
     * @param eagerLimit of this side, which has to be the same.
     * @return the reason as text, or null if the request is compatible.
     */
    static String mismatch(byte[] request, int eagerLimit) {
        if (request.length < REQUEST_LENGTH) {
            return "its connection request has only " + request.length + " bytes, needed are " + REQUEST_LENGTH + ". "
                + ProtocolErrno.describe(PeerProtocol.of(request));
        }
        if (request[0] != VERSION || request[2] != CONTROL_VERSION || request[3] != OP_VERSION) {
            return "it speaks version " + request[0] + '.' + request[2] + '.' + request[3] + " of the protocol, "
                + "this driver " + VERSION + '.' + CONTROL_VERSION + '.' + OP_VERSION;
        }
        if (request[1] != ORDER) {
            return "its byte order is the other one";
        }
        if (request[7] != 0) {
            return "it asks for connection " + (request[7] & 0xff) + " besides that which there is, and here each peer "
                + "has one; set FI_OFI_RXM_NUM_MSG_EPS of the peer to 1";
        }
        int theirs = buffer(request).getInt(8);
        return theirs == eagerLimit ? null
            : "its longest eager message has " + theirs + " bytes, here it has " + eagerLimit
            + "; set FI_OFI_RXM_BUFFER_SIZE of the peer to the same";
    }

    /** Reads a request for which {@link #mismatch} returns null. */
    static RxmConnectData ofRequest(byte[] request) {
        ByteBuffer buffer = buffer(request);
        return new RxmConnectData(
            buffer.getShort(4) & 0xffff, request[6], buffer.getInt(8), buffer.getInt(12), buffer.getLong(16));
    }

    /** Reads an acceptance; null if it is too short. */
    static RxmConnectData ofAcceptance(byte[] data) {
        if (data.length < ACCEPTANCE_LENGTH) {
            return null;
        }
        ByteBuffer buffer = buffer(data);
        return new RxmConnectData(0, data[12], 0, buffer.getInt(8), buffer.getLong(0));
    }

    /** Reads the reason of a refusal, also of one without a reason. */
    static int reason(byte[] data) {
        return data.length < REFUSAL_LENGTH ? REASON_UNSPECIFIED : data[1];
    }

    private static ByteBuffer buffer(int length) {
        return ByteBuffer.allocate(length).order(ByteOrder.nativeOrder());
    }

    private static ByteBuffer buffer(byte[] bytes) {
        return ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
    }
}
