package org.jfabric;

import org.jfabric.info.Attribute;
import org.jfabric.info.AttributeStructure;
import org.jfabric.info.Codes;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Order;
import org.jfabric.info.RxAttr;
import org.jfabric.info.TxAttr;

/**
 * Attributes of shared contexts: those that are left 0 are taken from the domain, none may exceed the domain's, and an
 * endpoint that uses a context may ask for none beyond the context's (fi_endpoint(3), fi_stx_context, fi_srx_context).
 *
 * <p>Stateless; any thread.
 */
final class ContextAttributes {
    /** What a shared receive context knows of a message; all else concerns its endpoints. */
    private static final long MATCHING = Flags.MSG | Flags.TAGGED | Flags.DIRECTED_RECV | Flags.TRIGGER;

    /** Orders of completions that links offer, whatever the domain was opened with. */
    static final long COMPLETION_ORDER = Order.STRICT;

    private ContextAttributes() {
    }

    /** The attributes of a shared transmit context. */
    static TxAttr settle(TxAttr wanted, Info domain) {
        TxAttr most = domain.txAttr();
        TxAttr attr = Codes.required(wanted, "attr").copy();
        takeOver(attr, most);
        requireBits("the shared transmit context", "the domain", "tx_attr.mode", attr.mode(), domain.mode());
        EndpointInfo.requireTrafficClass(attr.tclass());
        attr.tclass(attr.tclass() != 0 ? attr.tclass() : domain.domainAttr().tclass());
        requireWithin("the shared transmit context", "the domain", attr,
            most.copy().compOrder(COMPLETION_ORDER));
        return attr;
    }

    /** The attributes of a shared receive context, without FI_MULTI_RECV. */
    static RxAttr settle(RxAttr wanted, Info domain) {
        RxAttr most = domain.rxAttr();
        RxAttr attr = Codes.required(wanted, "attr").copy();
        if ((attr.opFlags() & Flags.MULTI_RECV) != 0) {
            throw new FabricException(FabricErrno.EOPNOTSUPP, "rx_attr.op_flags has MULTI_RECV, a shared receive"
                + " context has one message in each buffer", "Post a buffer for each message.");
        }
        long opFlags = attr.opFlags();
        takeOver(attr, most);
        attr.opFlags(opFlags).caps(attr.caps() & ~Flags.MULTI_RECV);
        requireBits("the shared receive context", "the domain", "rx_attr.mode", attr.mode(), domain.mode());
        requireWithin("the shared receive context", "the domain", attr,
            most.copy().compOrder(COMPLETION_ORDER).opFlags(opFlags));
        return attr;
    }

    /** What the driver is asked for when it opens a shared receive context. */
    static Info receiveContext(Info domain, RxAttr attr) {
        Info wanted = domain.copy();
        long matching = attr.caps() & MATCHING & domain.caps();
        wanted.srcAddr(null).destAddr(null).handle(null);
        wanted.caps(matching | Flags.RECV).mode(0);
        // orders of remote accesses, which the domain may have, are not of messages
        wanted.txAttr().caps(0).mode(0).opFlags(0).msgOrder(0).rmaIovLimit(0);
        wanted.rxAttr().caps(0).mode(0).opFlags(attr.opFlags()).size(attr.size()).compOrder(attr.compOrder())
            .msgOrder(attr.msgOrder() & Order.SAS).iovLimit(attr.iovLimit());
        wanted.epAttr().txCtxCnt(0).rxCtxCnt(0).msgPrefixSize(0)
            .maxOrderRawSize(0).maxOrderWarSize(0).maxOrderWawSize(0);
        return wanted;
    }

    /** Takes over what is left open and bounded. */
    static <S extends AttributeStructure<S>> void takeOver(S attr, S most) {
        for (Attribute<?> each : attr.attributes()) {
            if (each.isBounded() && each.number(attr) == 0) {
                each.number(attr, each.number(most));
            }
        }
    }

    /** Requires that an endpoint asks for nothing beyond the context that it uses. */
    static <S extends AttributeStructure<S>> void requireWithin(String who, String of, S asked, S most) {
        for (Attribute<?> each : asked.attributes()) {
            if (each.rule() == Attribute.Rule.AT_MOST) {
                requireAtMost(who, of, each.name(), each.number(asked), each.number(most));
            } else if (each.isBounded()) {
                requireBits(who, of, each.name(), each.number(asked), each.number(most));
            }
        }
    }

    /** Requires that no bit is asked for that something else lacks. */
    static void requireBits(String who, String of, String name, long asked, long most) {
        if ((asked & ~most) != 0) {
            throw new FabricException(FabricErrno.EINVAL, name + " of " + who + " is " + Codes.hex(asked) + ", that of "
                + of + " is " + Codes.hex(most) + " and lacks " + Codes.hex(asked & ~most),
                "Ask " + who + " for a part of it only.");
        }
    }

    /** Requires that a requested size is at most another one; sizes are unsigned. */
    static void requireAtMost(String who, String of, String name, long asked, long most) {
        if (Long.compareUnsigned(asked, most) > 0) {
            throw new FabricException(FabricErrno.EINVAL, name + " of " + who + " is "
                + Long.toUnsignedString(asked) + ", that of " + of + " is " + Long.toUnsignedString(most),
                "Ask " + who + " for at most as much.");
        }
    }
}
