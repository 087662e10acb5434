package org.jfabric;

import org.jfabric.client.ContextPlace;
import org.jfabric.info.AttributeStructure;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FidClass;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Mode;
import org.jfabric.info.Order;
import org.jfabric.info.RxAttr;
import org.jfabric.info.TxAttr;

/**
 * What makes an endpoint a context: its scalable endpoint and its place there.
 *
 * @param parent    the scalable endpoint.
 * @param index     from 0.
 * @param transmits true of a transmit context, false of a receive context.
 */
record ScalableContext(ScalableEndpoint parent, int index, boolean transmits) {
    private static final long MESSAGES = Flags.MSG | Flags.TAGGED;
    private static final long ACCESSES = Flags.RMA | Flags.ATOMIC;
    private static final long MESSAGE_DIRECTIONS = Flags.SEND | Flags.RECV;
    private static final long ACCESS_DIRECTIONS =
        Flags.READ | Flags.WRITE | Flags.REMOTE_READ | Flags.REMOTE_WRITE;
    private static final long TRANSMIT_DIRECTIONS = Flags.SEND | Flags.READ | Flags.WRITE;
    private static final long RECEIVE_DIRECTIONS = Flags.RECV | Flags.REMOTE_READ | Flags.REMOTE_WRITE;
    /** Capabilities that mean nothing at a transmit context. */
    private static final long RECEIVE_ONLY = Flags.DIRECTED_RECV | Flags.SOURCE | Flags.SOURCE_ERR | Flags.MULTI_RECV
        | Flags.VARIABLE_MSG | Flags.RMA_EVENT;
    /** Capabilities that mean nothing at a receive context. */
    private static final long TRANSMIT_ONLY = Flags.FENCE | Flags.NAMED_RX_CTX;

    FidClass fidClass() {
        return transmits ? FidClass.TX_CTX : FidClass.RX_CTX;
    }

    ContextPlace place() {
        return new ContextPlace(parent.id(), index, transmits);
    }

    /** The attributes of a transmit context: those of the endpoint, or a subset, which is stored into {@code attr}. */
    static Info transmitInfo(Info endpoint, TxAttr attr) {
        Info own = endpoint.copy().srcAddr(null);
        own.epAttr().txCtxCnt(oneContext(endpoint.epAttr().txCtxCnt())).rxCtxCnt(1);
        own.caps(caps(endpoint.caps(), TRANSMIT_DIRECTIONS) & ~RECEIVE_ONLY).mode(own.mode() & ~Mode.BUFFERED_RECV);
        own.rxAttr().caps(0).mode(0);
        narrowOrder(own);
        TxAttr assigned = own.txAttr();
        assigned.caps(reported(own, assigned.caps()));
        if (attr == null) {
            return own;
        }
        requireSubset("tx_attr.caps", attr.caps(), own.caps());
        requireSubset("tx_attr.mode", attr.mode(), assigned.mode());
        if (attr.caps() != 0) {
            own.caps(caps(attr.caps(), TRANSMIT_DIRECTIONS & Info.directions(own.caps())));
            assigned.caps(reported(own, assigned.caps()));
            narrowOrder(own);
        }
        EndpointInfo.requireTrafficClass(attr.tclass());
        requireDefaults(own, attr.opFlags(), Flags.TRANSMIT);
        requireWithin(attr, assigned.copy().caps(attr.caps()).opFlags(attr.opFlags())
            .compOrder(ContextAttributes.COMPLETION_ORDER));
        ContextAttributes.takeOver(attr, assigned);
        // an operation always takes as many pieces as the link does
        attr.caps(assigned.caps()).mode(assigned.mode()).iovLimit(assigned.iovLimit())
            .rmaIovLimit(assigned.rmaIovLimit()).tclass(attr.tclass() != 0 ? attr.tclass() : assigned.tclass());
        own.txAttr(attr.copy());
        return own;
    }

    /** The attributes of a receive context: those of the endpoint, or a subset, which is stored into {@code attr}. */
    static Info receiveInfo(Info endpoint, RxAttr attr) {
        Info own = endpoint.copy().srcAddr(null);
        own.epAttr().txCtxCnt(1).rxCtxCnt(oneContext(endpoint.epAttr().rxCtxCnt()));
        own.caps(caps(endpoint.caps(), RECEIVE_DIRECTIONS) & ~TRANSMIT_ONLY);
        own.txAttr().caps(0).mode(0);
        narrowOrder(own);
        RxAttr assigned = own.rxAttr();
        assigned.caps(reported(own, assigned.caps()));
        if (attr == null) {
            return own;
        }
        requireSubset("rx_attr.caps", attr.caps(), own.caps());
        requireSubset("rx_attr.mode", attr.mode(), assigned.mode());
        if (attr.caps() != 0) {
            own.caps(caps(attr.caps(), RECEIVE_DIRECTIONS & Info.directions(own.caps())));
            assigned.caps(reported(own, assigned.caps()));
            narrowOrder(own);
        }
        requireDefaults(own, attr.opFlags(), Flags.RECV);
        requireWithin(attr, assigned.copy().caps(attr.caps()).opFlags(attr.opFlags())
            .compOrder(ContextAttributes.COMPLETION_ORDER));
        ContextAttributes.takeOver(attr, assigned);
        attr.caps(assigned.caps()).mode(assigned.mode()).totalBufferedRecv(assigned.totalBufferedRecv())
            .iovLimit(assigned.iovLimit());
        own.rxAttr(attr.copy());
        return own;
    }

    /** The count of a context, which may be a shared one. */
    private static long oneContext(long count) {
        return count == FabricAddress.SHARED_CONTEXT ? count : 1;
    }

    /** Without remote memory access there is nothing but messages that is kept in order. */
    private static void narrowOrder(Info own) {
        if ((own.caps() & ACCESSES) == 0) {
            own.txAttr().msgOrder(own.txAttr().msgOrder() & Order.SAS).rmaIovLimit(0);
            own.rxAttr().msgOrder(own.rxAttr().msgOrder() & Order.SAS);
            own.epAttr().maxOrderRawSize(0).maxOrderWarSize(0).maxOrderWawSize(0);
        }
    }

    /** Those of the context that concern its direction; an endpoint that names none of these leaves it open. */
    private static long reported(Info own, long ofDirection) {
        return own.caps() & (ofDirection == 0 ? ~(Flags.LOCAL_COMM | Flags.REMOTE_COMM) : ofDirection);
    }

    /** Capabilities for some directions only: kinds of transfer that none of them serves are left out. */
    private static long caps(long caps, long wanted) {
        long directions = Info.directions(caps) & wanted;
        long left = caps & ~(MESSAGE_DIRECTIONS | ACCESS_DIRECTIONS) | directions;
        if ((directions & MESSAGE_DIRECTIONS) == 0) {
            left &= ~MESSAGES;
        }
        if ((directions & ACCESS_DIRECTIONS) == 0) {
            left &= ~ACCESSES;
        }
        return left;
    }

    private static void requireSubset(String name, long wanted, long offered) {
        ContextAttributes.requireBits("a context", "the scalable endpoint", name, wanted, offered);
    }

    private static <S extends AttributeStructure<S>> void requireWithin(S wanted, S offered) {
        ContextAttributes.requireWithin("a context", "the scalable endpoint", wanted, offered);
    }

    /** Requires that the flags can be set as defaults of that direction. */
    private static void requireDefaults(Info own, long flags, long direction) {
        new OperationFlags(own).set(flags | direction);
    }
}
