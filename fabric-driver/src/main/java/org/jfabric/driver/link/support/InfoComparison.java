package org.jfabric.driver.link.support;

import java.util.ArrayList;
import java.util.List;
import org.jfabric.client.BufferedMode;
import org.jfabric.client.PrefixMode;
import org.jfabric.info.AddressFormat;
import org.jfabric.info.AddressVectorType;
import org.jfabric.info.Codes;
import org.jfabric.info.DomainAttr;
import org.jfabric.info.EndpointAttr;
import org.jfabric.info.EndpointType;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricAttr;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Mode;
import org.jfabric.info.MrMode;
import org.jfabric.info.Order;
import org.jfabric.info.Progress;
import org.jfabric.info.Protocol;
import org.jfabric.info.Reason;
import org.jfabric.info.RxAttr;
import org.jfabric.info.TrafficClass;
import org.jfabric.info.TxAttr;

/**
 * Compares an application's hints with the attributes that a link offers, and collects a reason for each difference.
 *
 * <p>Zero and unspecified members of the hints request nothing. One object for each comparison; any thread.
 */
public final class InfoComparison {
    /** Length of the longest authorization key: peers exchange their keys when they connect. */
    private static final int MAX_AUTH_KEY_BYTES = 128;

    private final List<Reason> reasons = new ArrayList<>();
    /** What capabilities are called in the version of the hints. */
    private final Flags.Kind capabilities;

    private InfoComparison(Flags.Kind capabilities) {
        this.capabilities = capabilities;
    }

    /**
     * Compares all members.
     *
     * @param offered attributes that the link offers; the operation flags name the default completion level.
     * @param levels  completion levels that can be requested, as {@code Flags.*_COMPLETE} bits.
     * @return one reason for each condition that does not hold; empty if the link suits.
     */
    public static List<Reason> compare(Info hints, Info offered, long levels) {
        InfoComparison comparison = new InfoComparison(hints.fabricAttr().capabilityKind());
        SecondProfile.extend(hints, offered);
        SecondProfile.refuse(hints, comparison.reasons);
        comparison.bits("caps", hints.caps(), offered.caps(), comparison.capabilities);
        if ((hints.caps() & (Flags.SOURCE | Flags.SOURCE_ERR)) == Flags.SOURCE_ERR) {
            comparison.reasons.add(new Reason("caps", "SOURCE_ERR without SOURCE", "SOURCE",
                "Ask for SOURCE too: SOURCE_ERR must be combined with it"));
        }
        comparison.remoteEvents(hints.caps());
        if (hints.addrFormat() != AddressFormat.UNSPEC && hints.addrFormat() != offered.addrFormat()) {
            comparison.differs("addr_format", offered.addrFormat(), hints.addrFormat());
        }
        comparison.transmit(hints.txAttr(), offered.txAttr(), levels);
        // a default operation flag needs the capability; hints without capabilities get all that are offered
        long multiReceive = hints.caps() == 0 ? offered.caps() : hints.caps() & offered.caps();
        comparison.receive(hints.rxAttr(), offered.rxAttr(), multiReceive & Flags.MULTI_RECV);
        comparison.subset("tx_attr", hints, hints.txAttr().caps(), hints.txAttr().mode());
        comparison.subset("rx_attr", hints, hints.rxAttr().caps(), hints.rxAttr().mode());
        comparison.buffered(hints);
        comparison.prefix(hints);
        comparison.shared(hints);
        comparison.endpoint(hints.epAttr(), offered.epAttr());
        comparison.contexts(hints.epAttr(), offered.domainAttr());
        if (!hints.fabricAttr().precedes(1, 5)) {
            // in applications of older versions this member has no defined value, because it did not exist
            comparison.atMost("ep_attr.auth_key_size", hints.epAttr().authKeySize(), MAX_AUTH_KEY_BYTES, null);
            comparison.atMost(
                "domain_attr.auth_key_size", hints.domainAttr().authKeySize(), MAX_AUTH_KEY_BYTES, null);
        }
        comparison.domain(hints.domainAttr(), offered.domainAttr());
        comparison.domainLimits(hints.domainAttr(), offered.domainAttr());
        comparison.registration(hints, offered.domainAttr().mrMode());
        comparison.fabric(hints.fabricAttr(), offered.fabricAttr());
        return comparison.reasons;
    }

    /**
     * Refuses authorization keys, for links whose wire carries none.
     *
     * @param hints   what is asked for; an application of an API version without keys asks for none.
     */
    public static void refuseKeys(Info hints, List<Reason> reasons, String remedy) {
        if (hints.fabricAttr().precedes(1, 5)) {
            return;
        }
        int[] lengths = {hints.epAttr().authKeySize(), hints.domainAttr().authKeySize()};
        for (int i = 0; i < lengths.length; i++) {
            if (lengths[i] != 0) {
                reasons.add(new Reason((i == 0 ? "ep_attr" : "domain_attr") + ".auth_key_size", "0",
                    Integer.toString(lengths[i]), remedy));
            }
        }
    }

    /** Only what peers may access is the target of accesses (fi_getinfo(3), FI_RMA_EVENT). */
    private void remoteEvents(long caps) {
        long targets = Flags.REMOTE_READ | Flags.REMOTE_WRITE;
        if ((caps & Flags.RMA_EVENT) != 0 && (InfoNarrowing.requested(caps) & targets) == 0) {
            reasons.add(new Reason("caps", "RMA_EVENT without REMOTE_READ and REMOTE_WRITE",
                "REMOTE_READ or REMOTE_WRITE",
                "Ask for REMOTE_READ or REMOTE_WRITE too, or for RMA or ATOMIC without a direction"));
        }
    }

    /** The hints as a whole must include what is requested for one direction (fi_endpoint(3), caps and mode). */
    private void subset(String context, Info hints, long caps, long mode) {
        long requested = InfoNarrowing.requested(hints.caps());
        if (hints.caps() != 0 && (caps & ~requested) != 0) {
            reasons.add(new Reason(context + ".caps", Flags.toString(caps, capabilities),
                Flags.toString(caps & requested, capabilities),
                "Ask for these capabilities in caps too, or leave those of the context 0"));
        }
        if ((mode & ~hints.mode()) != 0) {
            reasons.add(new Reason(context + ".mode", Mode.toString(mode), Mode.toString(mode & hints.mode()),
                "Name these modes in mode too, or leave those of the context 0"));
        }
    }

    /** Receives of a shared context take one message each, into a posted buffer. */
    private void shared(Info hints) {
        if (hints.epAttr().rxCtxCnt() != FabricAddress.SHARED_CONTEXT) {
            return;
        }
        if ((hints.caps() & Flags.MULTI_RECV) != 0) {
            reasons.add(new Reason("caps", "caps without MULTI_RECV", "MULTI_RECV",
                "Post a buffer for each message to the shared receive context"));
        }
        if (hints.fabricAttr().isVersion2() && (hints.caps() & SecondProfile.ON_REQUEST) != 0) {
            String names = Flags.toString(hints.caps() & SecondProfile.ON_REQUEST, capabilities);
            reasons.add(new Reason("caps", "caps without " + names, names,
                "Post receives of one message, of any source, to the shared receive context"));
        }
        if (BufferedMode.isAskedFor(hints)) {
            reasons.add(new Reason("mode", Mode.toString(0), Mode.toString(Mode.BUFFERED_RECV),
                "Post buffers to the shared receive context"));
        }
    }

    /**
     * With buffered receives a message lies in the driver's memory and needs no room in a posted buffer. An error entry
     * for such a message would lose it.
     */
    private void buffered(Info hints) {
        long excluded = hints.caps() & BufferedMode.EXCLUDED_CAPS;
        if (BufferedMode.isAskedFor(hints) && excluded != 0) {
            reasons.add(new Reason("mode", Mode.toString(0), Mode.toString(Mode.BUFFERED_RECV),
                "Ask for the mode without the capabilities " + Flags.toString(excluded, capabilities)));
        }
    }

    /** No link needs a prefix: the application chooses its length, if it is able to give one at all. */
    private void prefix(Info hints) {
        long size = hints.epAttr().msgPrefixSize();
        if (size == 0) {
            return;
        }
        if (!PrefixMode.isAllowed(hints)) {
            reasons.add(new Reason("ep_attr.msg_prefix_size", "0", Long.toUnsignedString(size),
                "Ask for the mode MSG_PREFIX, without BUFFERED_RECV or a shared receive context, or leave it 0"));
        } else if (!PrefixMode.isPossible(size)) {
            reasons.add(new Reason("ep_attr.msg_prefix_size", "a multiple of " + PrefixMode.ALIGNMENT_BYTES
                + ", at most " + PrefixMode.MAX_BYTES, Long.toUnsignedString(size), "Ask for such a length"));
        }
    }

    private void trafficClass(String name, int tclass) {
        if (!TrafficClass.isDefined(tclass)) {
            reasons.add(new Reason(name, "0x" + Integer.toHexString(tclass), "a label or TrafficClass.dscpSet(0..255)",
                "Ask for a class of TrafficClass, or leave it 0"));
        }
    }

    private void transmit(TxAttr hints, TxAttr offered, long levels) {
        bits("tx_attr.caps", hints.caps(), offered.caps(), capabilities);
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
        bits("rx_attr.caps", hints.caps(), offered.caps(), capabilities);
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
        if (offered.memTagFormat() == 0 && hints.memTagFormat() != 0) {
            differs("ep_attr.mem_tag_format", 0, Codes.hex(hints.memTagFormat()));
        }
    }

    /** Contexts of one endpoint: a shared one, or several, which are those of a scalable endpoint. */
    private void contexts(EndpointAttr hints, DomainAttr offered) {
        if (hints.txCtxCnt() != FabricAddress.SHARED_CONTEXT) {
            atMost("ep_attr.tx_ctx_cnt", hints.txCtxCnt(), offered.maxEpTxCtx(), null);
        }
        if (hints.rxCtxCnt() != FabricAddress.SHARED_CONTEXT) {
            atMost("ep_attr.rx_ctx_cnt", hints.rxCtxCnt(), offered.maxEpRxCtx(), null);
        }
    }

    private void domain(DomainAttr hints, DomainAttr offered) {
        named("domain_attr.name", hints.name(), offered.name());
        trafficClass("domain_attr.tclass", hints.tclass());
        progress("domain_attr.control_progress", hints.controlProgress(), offered.controlProgress());
        progress("domain_attr.data_progress", hints.dataProgress(), offered.dataProgress());
        if (hints.avType() != AddressVectorType.UNSPEC && hints.avType() != offered.avType()
            && offered.avType() != AddressVectorType.UNSPEC) {
            differs("domain_attr.av_type", offered.avType(), hints.avType());
        }
        bits("domain_attr.caps", hints.caps(), offered.caps(), capabilities);
    }

    private void domainLimits(DomainAttr hints, DomainAttr offered) {
        atMost("domain_attr.mr_key_size", hints.mrKeySize(), offered.mrKeySize(), null);
        atMost("domain_attr.cq_data_size", hints.cqDataSize(), offered.cqDataSize(), null);
        atMost("domain_attr.cq_cnt", hints.cqCnt(), offered.cqCnt(), null);
        atMost("domain_attr.ep_cnt", hints.epCnt(), offered.epCnt(), null);
        atMost("domain_attr.tx_ctx_cnt", hints.txCtxCnt(), offered.txCtxCnt(), null);
        atMost("domain_attr.rx_ctx_cnt", hints.rxCtxCnt(), offered.rxCtxCnt(), null);
        atMost("domain_attr.max_ep_tx_ctx", hints.maxEpTxCtx(), offered.maxEpTxCtx(), null);
        atMost("domain_attr.max_ep_rx_ctx", hints.maxEpRxCtx(), offered.maxEpRxCtx(), null);
        atMost("domain_attr.max_ep_stx_ctx", hints.maxEpStxCtx(), offered.maxEpStxCtx(), null);
        atMost("domain_attr.max_ep_srx_ctx", hints.maxEpSrxCtx(), offered.maxEpSrxCtx(), null);
        atMost("domain_attr.cntr_cnt", hints.cntrCnt(), offered.cntrCnt(), null);
        atMost("domain_attr.mr_iov_limit", hints.mrIovLimit(), offered.mrIovLimit(), null);
        atMost("domain_attr.max_err_data", hints.maxErrDataSize(), offered.maxErrDataSize(), null);
        atMost("domain_attr.mr_cnt", hints.mrCnt(), offered.mrCnt(), null);
    }

    /**
     * The bits of a hint are what the application is able to do: an offer must not need another one (fi_domain(3),
     * mr_mode). FI_LOCAL_MR is the form of API versions below 1.5 for FI_MR_LOCAL.
     */
    private void registration(Info hints, long needed) {
        long able = hints.domainAttr().mrMode();
        if ((hints.mode() & Mode.LOCAL_MR) != 0 && !hints.fabricAttr().isVersion2()) {
            able |= MrMode.LOCAL;
        }
        if (hints.domainAttr().mrMode() != 0 && (needed & ~able) != 0) {
            reasons.add(new Reason("domain_attr.mr_mode", MrMode.toString(needed),
                MrMode.toString(hints.domainAttr().mrMode()),
                "Register memory as the bits seen say and add them to the hint, or leave it 0"));
        }
    }

    private void fabric(FabricAttr hints, FabricAttr offered) {
        named("fabric_attr.name", hints.name(), offered.name());
        named("fabric_attr.prov_name", hints.provName(), offered.provName());
        atMost("fabric_attr.prov_version", Integer.toUnsignedLong(hints.provVersion()),
            Integer.toUnsignedLong(offered.provVersion()), null);
    }

    /** Progress without calls serves an application that makes them too, but not the other way round. */
    private void progress(String name, Progress needed, Progress seen) {
        if (needed == Progress.AUTO && seen != Progress.AUTO) {
            differs(name, seen, needed);
        }
    }

    private void named(String name, String needed, String seen) {
        if (needed != null && !needed.isEmpty() && !needed.equals(seen)) {
            differs(name, seen, needed);
        }
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
