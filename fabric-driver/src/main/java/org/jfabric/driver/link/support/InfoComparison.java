package org.jfabric.driver.link.support;

import org.jfabric.AddressFormat;
import org.jfabric.AddressVectorType;
import org.jfabric.DomainAttr;
import org.jfabric.EndpointAttr;
import org.jfabric.EndpointType;
import org.jfabric.Flags;
import org.jfabric.Info;
import org.jfabric.Mode;
import org.jfabric.Order;
import org.jfabric.Progress;
import org.jfabric.Protocol;
import org.jfabric.Reason;
import org.jfabric.RxAttr;
import org.jfabric.TrafficClass;
import org.jfabric.TxAttr;
import org.jfabric.client.BufferedMode;

import java.util.ArrayList;
import java.util.List;

/**
 * Compares what an application asks for with what a link offers, and keeps a reason for each difference.
 *
 * <p>Zero and unspecified members of the hints ask for nothing. One object for each comparison; any thread.
 */
public final class InfoComparison {
    /** Longest authorization key: peers show theirs to each other when they meet. */
    private static final int MAX_AUTH_KEY_BYTES = 128;

    private final List<Reason> reasons = new ArrayList<>();

    /** A comparison without differences. */
    public InfoComparison() {
    }

    /**
     * Compares all members.
     *
     * @param hints   what is asked for.
     * @param offered what the link offers; its operation flags name the default level.
     * @param levels  completion levels that can be asked for, as {@code Flags.*_COMPLETE} bits.
     * @return one reason for each condition that does not hold; empty if the link suits.
     */
    public static List<Reason> compare(Info hints, Info offered, long levels) {
        InfoComparison comparison = new InfoComparison();
        comparison.bits("caps", hints.caps(), offered.caps(), Flags.Kind.CAPABILITY);
        if ((hints.caps() & (Flags.SOURCE | Flags.SOURCE_ERR)) == Flags.SOURCE_ERR) {
            comparison.reasons.add(new Reason("caps", "SOURCE_ERR without SOURCE", "SOURCE",
                "Ask for SOURCE too: what is not reported cannot be in error"));
        }
        if (hints.addrFormat() != AddressFormat.UNSPEC && hints.addrFormat() != offered.addrFormat()) {
            comparison.differs("addr_format", offered.addrFormat(), hints.addrFormat());
        }
        comparison.transmit(hints.txAttr(), offered.txAttr(), levels);
        // a flag as default needs the capability, which is asked for unless nothing is
        long multiReceive = hints.caps() == 0 ? offered.caps() : hints.caps() & offered.caps();
        comparison.receive(hints.rxAttr(), offered.rxAttr(), multiReceive & Flags.MULTI_RECV);
        comparison.subset("tx_attr", hints, hints.txAttr().caps(), hints.txAttr().mode());
        comparison.subset("rx_attr", hints, hints.rxAttr().caps(), hints.rxAttr().mode());
        comparison.buffered(hints);
        comparison.endpoint(hints.epAttr(), offered.epAttr());
        if (!hints.fabricAttr().precedes(1, 5)) {
            // applications of older versions may have anything there: the member did not exist
            comparison.atMost("ep_attr.auth_key_size", hints.epAttr().authKeySize(), MAX_AUTH_KEY_BYTES, null);
        }
        comparison.domain(hints.domainAttr(), offered.domainAttr());
        String provider = hints.fabricAttr().provName();
        if (provider != null && !provider.isEmpty() && !provider.equals(offered.fabricAttr().provName())) {
            comparison.differs("fabric_attr.prov_name", offered.fabricAttr().provName(), provider);
        }
        return comparison.reasons;
    }

    /** What one direction asks for must be asked for by the whole too (fi_endpoint(3), caps and mode). */
    private void subset(String context, Info hints, long caps, long mode) {
        long requested = InfoNarrowing.requested(hints.caps());
        if (hints.caps() != 0 && (caps & ~requested) != 0) {
            reasons.add(new Reason(context + ".caps", Flags.toString(caps, Flags.Kind.CAPABILITY),
                Flags.toString(caps & requested, Flags.Kind.CAPABILITY),
                "Ask for these capabilities in caps too, or leave those of the context 0"));
        }
        if ((mode & ~hints.mode()) != 0) {
            reasons.add(new Reason(context + ".mode", Mode.toString(mode), Mode.toString(mode & hints.mode()),
                "Name these modes in mode too, or leave those of the context 0"));
        }
    }

    /** A message in the driver's memory needs no room in a buffer, and an error entry for it would lose it. */
    private void buffered(Info hints) {
        long excluded = hints.caps() & BufferedMode.EXCLUDED_CAPS;
        if (BufferedMode.isAskedFor(hints) && excluded != 0) {
            reasons.add(new Reason("mode", Mode.toString(0), Mode.toString(Mode.BUFFERED_RECV),
                "Ask for the mode without the capabilities " + Flags.toString(excluded, Flags.Kind.CAPABILITY)));
        }
    }

    private void trafficClass(String name, int tclass) {
        if (!TrafficClass.isDefined(tclass)) {
            reasons.add(new Reason(name, "0x" + Integer.toHexString(tclass), "a label or TrafficClass.dscpSet(0..255)",
                "Ask for a class of TrafficClass, or leave it 0"));
        }
    }

    private void transmit(TxAttr hints, TxAttr offered, long levels) {
        bits("tx_attr.caps", hints.caps(), offered.caps(), Flags.Kind.CAPABILITY);
        bits("tx_attr.op_flags", hints.opFlags(), offered.opFlags() | Flags.COMPLETION | Flags.INJECT | levels
                | offered.caps() & Flags.MULTICAST,
            Flags.Kind.OPERATION);
        order("tx_attr.msg_order", hints.msgOrder(), offered.msgOrder());
        order("tx_attr.comp_order", hints.compOrder(), offered.compOrder());
        atMost("tx_attr.inject_size", hints.injectSize(), offered.injectSize(), "jfabric.queue.injectSize");
        atMost("tx_attr.size", hints.size(), offered.size(), "jfabric.queue.txSize");
        atMost("tx_attr.iov_limit", hints.iovLimit(), offered.iovLimit(), null);
        atMost("tx_attr.rma_iov_limit", hints.rmaIovLimit(), offered.rmaIovLimit(), null);
        trafficClass("tx_attr.tclass", hints.tclass());
    }

    private void receive(RxAttr hints, RxAttr offered, long multiReceive) {
        bits("rx_attr.caps", hints.caps(), offered.caps(), Flags.Kind.CAPABILITY);
        bits("rx_attr.op_flags", hints.opFlags(), offered.opFlags() | Flags.COMPLETION | multiReceive,
            Flags.Kind.OPERATION);
        order("rx_attr.msg_order", hints.msgOrder(), offered.msgOrder());
        order("rx_attr.comp_order", hints.compOrder(), offered.compOrder());
        atMost("rx_attr.size", hints.size(), offered.size(), "jfabric.queue.rxSize");
        atMost("rx_attr.iov_limit", hints.iovLimit(), offered.iovLimit(), null);
    }

    private void endpoint(EndpointAttr hints, EndpointAttr offered) {
        if (hints.type() != EndpointType.UNSPEC && hints.type() != offered.type()) {
            differs("ep_attr.type", offered.type(), hints.type());
        }
        if (hints.protocol() != Protocol.UNSPEC && hints.protocol() != offered.protocol()) {
            differs("ep_attr.protocol", offered.protocol(), hints.protocol());
        }
        atMost("ep_attr.protocol_version", Integer.toUnsignedLong(hints.protocolVersion()),
            Integer.toUnsignedLong(offered.protocolVersion()), null);
        atMost("ep_attr.max_msg_size", hints.maxMsgSize(), offered.maxMsgSize(), null);
        atMost("ep_attr.max_order_raw_size", hints.maxOrderRawSize(), offered.maxOrderRawSize(), null);
        atMost("ep_attr.max_order_war_size", hints.maxOrderWarSize(), offered.maxOrderWarSize(), null);
        atMost("ep_attr.max_order_waw_size", hints.maxOrderWawSize(), offered.maxOrderWawSize(), null);
        atMost("ep_attr.tx_ctx_cnt", hints.txCtxCnt(), offered.txCtxCnt(), null);
        atMost("ep_attr.rx_ctx_cnt", hints.rxCtxCnt(), offered.rxCtxCnt(), null);
    }

    private void domain(DomainAttr hints, DomainAttr offered) {
        if (hints.name() != null && !hints.name().isEmpty() && !hints.name().equals(offered.name())) {
            differs("domain_attr.name", offered.name(), hints.name());
        }
        trafficClass("domain_attr.tclass", hints.tclass());
        if (hints.dataProgress() == Progress.AUTO && offered.dataProgress() != Progress.AUTO) {
            differs("domain_attr.data_progress", offered.dataProgress(), hints.dataProgress());
        }
        if (hints.avType() != AddressVectorType.UNSPEC && hints.avType() != offered.avType()
            && offered.avType() != AddressVectorType.UNSPEC) {
            differs("domain_attr.av_type", offered.avType(), hints.avType());
        }
        atMost("domain_attr.cq_data_size", hints.cqDataSize(), offered.cqDataSize(), null);
        bits("domain_attr.caps", hints.caps(), offered.caps(), Flags.Kind.CAPABILITY);
    }

    private void bits(String name, long needed, long seen, Flags.Kind kind) {
        long missing = needed & ~seen;
        if (missing != 0) {
            reasons.add(new Reason(
                name,
                Flags.toString(seen, kind),
                Flags.toString(missing, kind),
                "Ask without these bits, or for a link that offers them"));
        }
    }

    private void order(String name, long needed, long seen) {
        long missing = needed & ~seen;
        if (missing != 0) {
            reasons.add(new Reason(
                name, Order.toString(seen), Order.toString(missing), "Ask for an ordering that the link holds"));
        }
    }

    private void atMost(String name, long needed, long seen, String option) {
        if (Long.compareUnsigned(needed, seen) > 0) {
            reasons.add(new Reason(
                name,
                Long.toUnsignedString(seen),
                Long.toUnsignedString(needed),
                option == null ? "Ask for at most the value seen" : "Ask for at most the value seen, or raise the"
                    + " option " + option + " of the driver"));
        }
    }

    private void differs(String name, Object seen, Object needed) {
        reasons.add(new Reason(name, String.valueOf(seen), String.valueOf(needed), "Ask for the value seen, or leave"
            + " it unspecified"));
    }
}
