package org.jfabric;

import org.jfabric.client.PeekFlags;
import org.jfabric.info.EndpointType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;

/**
 * Which operation flags are offered, for calls with a flags argument and as defaults of the calls without one, and what
 * the defaults of one endpoint are.
 *
 * <p>A flag that is not offered is refused and never ignored. Only remote writes have {@link
 * Flags#COMMIT_COMPLETE} ({@link RemoteMemory}), and sends to recorded groups, which also have {@link
 * Flags#RECORDED}.
 *
 * <p>Owner: control calls, under the fabric's lock.
 */
final class OperationFlags {
    /** The completion levels that our own wires give, the weakest first. */
    static final long LEVELS = Flags.INJECT_COMPLETE | Flags.TRANSMIT_COMPLETE | Flags.DELIVERY_COMPLETE
        | Flags.MATCH_COMPLETE;
    /** Those of remote accesses, which match nothing. */
    static final long ACCESS_LEVELS = LEVELS & ~Flags.MATCH_COMPLETE;
    /** Flags that a send call may carry. */
    static final long SEND_CALL = Flags.COMPLETION | Flags.REMOTE_CQ_DATA | Flags.MORE | Flags.FENCE | Flags.INJECT
        | Flags.LENT | LEVELS;
    /** Flags that a receive call may carry; one of one piece also {@link Flags#MULTI_RECV}, with that capability. */
    static final long RECV_CALL = Flags.COMPLETION | Flags.MORE;
    /** Flags that a receive call may carry that peeks at unexpected messages. */
    static final long PEEK_CALL = Flags.COMPLETION | Flags.MORE | PeekFlags.ANY;

    /** Flags that a send call of a datagram endpoint may carry: delivery is not reported there. */
    private static final long DATAGRAM_SEND_CALL = Flags.COMPLETION | Flags.MORE | Flags.INJECT
        | Flags.INJECT_COMPLETE | Flags.TRANSMIT_COMPLETE;

    private static final long SEND_DEFAULT = Flags.COMPLETION | Flags.INJECT | LEVELS;
    private static final long RECV_DEFAULT = Flags.COMPLETION;
    private static final long DIRECTIONS = Flags.TRANSMIT | Flags.RECV;

    private final long multiReceive;
    private final long taggedMultiReceive;
    private final boolean isDatagram;
    private final long multicast;
    private final long sendCall;
    private long transmit;
    private long receive;

    /** The flags of an endpoint that was opened with these attributes. */
    OperationFlags(Info info) {
        this.transmit = info.txAttr().opFlags();
        this.receive = info.rxAttr().opFlags();
        this.multiReceive = info.caps() & Flags.MULTI_RECV;
        this.taggedMultiReceive = info.hasTaggedMultiReceive() ? Flags.MULTI_RECV : 0;
        this.isDatagram = info.epAttr().type() == EndpointType.DGRAM;
        this.multicast = info.caps() & Flags.MULTICAST;
        this.sendCall = isDatagram ? DATAGRAM_SEND_CALL | multicast
            : SEND_CALL & ~info.epAttr().protocol().missingLevels() | multicast
                | (multicast == 0 ? 0 : Flags.COMMIT_COMPLETE | Flags.RECORDED);
    }

    /** A copy that changes apart from the original. */
    OperationFlags(OperationFlags other) {
        this.multiReceive = other.multiReceive;
        this.taggedMultiReceive = other.taggedMultiReceive;
        this.isDatagram = other.isDatagram;
        this.multicast = other.multicast;
        this.sendCall = other.sendCall;
        this.transmit = other.transmit;
        this.receive = other.receive;
    }

    /** The flags of one direction, without its bit. */
    long get(long direction) {
        return isTransmit(direction) ? transmit : receive;
    }

    /** Replaces the flags of the direction whose bit is among them. */
    void set(long flags) {
        boolean isTransmit = isTransmit(flags & DIRECTIONS);
        long operation = flags & ~DIRECTIONS;
        long offered = isTransmit ? (SEND_DEFAULT | multicast) & sendCall() : RECV_DEFAULT | multiReceive;
        if ((operation & ~offered) != 0) {
            throw new FabricException(FabricErrno.EBADFLAGS, "operation flags are "
                + Flags.toString(flags, Flags.Kind.OPERATION_DEFAULT) + ", offered as default are "
                + Flags.toString(offered, Flags.Kind.OPERATION_DEFAULT), "Set only flags that are offered.");
        }
        if (isTransmit) {
            transmit = operation;
        } else {
            receive = operation;
        }
    }

    /** Flags that a send call with flags of its own may carry. */
    long sendCall() {
        return sendCall;
    }

    /** Flags that a peeking receive call may carry; 0 for datagrams, at which no call can peek. */
    long peekCall() {
        return isDatagram ? 0 : PEEK_CALL;
    }

    /** Flags of each send without flags of its own. */
    long sendDefault(boolean selective) {
        return transmit & (SEND_DEFAULT | multicast) | always(selective);
    }

    /** Flags of each receive without flags of its own. */
    long recvDefault(boolean selective) {
        return receive & RECV_DEFAULT | always(selective);
    }

    /** Additional flags of each untagged receive without flags of its own; tagged ones ignore them. */
    long untaggedRecvDefault() {
        return receive & multiReceive;
    }

    /** Flags that an untagged receive call may carry. */
    long untaggedRecvCall() {
        return RECV_CALL | multiReceive;
    }

    /** Flags that a tagged receive call of one piece may carry. */
    long taggedRecvCall() {
        return RECV_CALL | taggedMultiReceive;
    }

    /** A queue that is not selective gets an entry for each operation, whatever its flags say. */
    static long always(boolean selective) {
        return selective ? 0 : Flags.COMPLETION;
    }

    private static boolean isTransmit(long direction) {
        if (direction == Flags.TRANSMIT) {
            return true;
        }
        if (direction == Flags.RECV) {
            return false;
        }
        throw new FabricException(FabricErrno.EINVAL, "the direction is "
            + Flags.toString(direction, Flags.Kind.OPERATION_DEFAULT), "Name either Flags.TRANSMIT or Flags.RECV.");
    }
}
