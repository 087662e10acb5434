package org.jfabric.driver.link.support;

import java.util.ArrayList;
import java.util.List;
import org.jfabric.client.BufferedMode;
import org.jfabric.client.PrefixMode;
import org.jfabric.info.Attribute;
import org.jfabric.info.AttributeStructure;
import org.jfabric.info.Codes;
import org.jfabric.info.DomainAttr;
import org.jfabric.info.EndpointAttr;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Mode;
import org.jfabric.info.MrMode;
import org.jfabric.info.Progress;
import org.jfabric.info.Reason;
import org.jfabric.info.TrafficClass;

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
        comparison.members(hints, offered);
        if ((hints.caps() & (Flags.SOURCE | Flags.SOURCE_ERR)) == Flags.SOURCE_ERR) {
            comparison.reasons.add(new Reason("caps", "SOURCE_ERR without SOURCE", "SOURCE",
                "Ask for SOURCE too: SOURCE_ERR must be combined with it"));
        }
        if ((hints.caps() & Timestamps.CAPS) == Flags.CARD_CLOCK) {
            comparison.reasons.add(new Reason("caps", "CARD_CLOCK without TIMESTAMP", "TIMESTAMP",
                "Ask for TIMESTAMP too: CARD_CLOCK says whose clock its times are of"));
        }
        comparison.remoteEvents(hints.caps());
        comparison.members(hints.txAttr(), offered.txAttr().copy().opFlags(offered.txAttr().opFlags()
            | Flags.COMPLETION | Flags.INJECT | levels | offered.txAttr().caps() & Flags.MULTICAST));
        // a default operation flag needs the capability; hints without capabilities get all that are offered
        long multiReceive = (hints.caps() == 0 ? offered.caps() : hints.caps() & offered.caps()) & Flags.MULTI_RECV;
        comparison.members(hints.rxAttr(), offered.rxAttr().copy().opFlags(offered.rxAttr().opFlags()
            | Flags.COMPLETION | multiReceive));
        comparison.subset("tx_attr", hints, hints.txAttr().caps(), hints.txAttr().mode());
        comparison.subset("rx_attr", hints, hints.rxAttr().caps(), hints.rxAttr().mode());
        comparison.buffered(hints);
        comparison.prefix(hints);
        comparison.shared(hints);
        comparison.members(hints.epAttr(), offered.epAttr());
        if (offered.epAttr().memTagFormat() == 0 && hints.epAttr().memTagFormat() != 0) {
            comparison.differs("ep_attr.mem_tag_format", 0, Codes.hex(hints.epAttr().memTagFormat()));
        }
        comparison.contexts(hints.epAttr(), offered.domainAttr());
        if (!hints.fabricAttr().precedes(1, 5)) {
            // in applications of older versions this member has no defined value, because it did not exist
            comparison.atMost("ep_attr.auth_key_size", hints.epAttr().authKeySize(), MAX_AUTH_KEY_BYTES);
            comparison.atMost(
                "domain_attr.auth_key_size", hints.domainAttr().authKeySize(), MAX_AUTH_KEY_BYTES);
        }
        comparison.members(hints.domainAttr(), offered.domainAttr());
        comparison.registration(hints, offered.domainAttr().mrMode());
        comparison.members(hints.fabricAttr(), offered.fabricAttr());
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

    /** Contexts of one endpoint: a shared one, or several, which are those of a scalable endpoint. */
    private void contexts(EndpointAttr hints, DomainAttr offered) {
        if (hints.txCtxCnt() != FabricAddress.SHARED_CONTEXT) {
            atMost("ep_attr.tx_ctx_cnt", hints.txCtxCnt(), offered.maxEpTxCtx());
        }
        if (hints.rxCtxCnt() != FabricAddress.SHARED_CONTEXT) {
            atMost("ep_attr.rx_ctx_cnt", hints.rxCtxCnt(), offered.maxEpRxCtx());
        }
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

    private <S extends AttributeStructure<S>> void members(S hints, S offered) {
        hints.attributes().forEach(member -> member(member, hints, offered));
    }

    private void member(Attribute<?> member, AttributeStructure<?> hints, AttributeStructure<?> offered) {
        long needed = member.number(hints);
        long seen = member.number(offered);
        switch (member.rule()) {
            case AT_MOST -> atMost(member.name(), needed, seen);
            case BITS -> bits(member, needed, seen, "Ask without these bits, or for a link that offers them");
            case ORDER -> bits(member, needed, seen, "Ask for an ordering that the link holds");
            case SAME -> same(member, hints, offered, needed == 0 || needed == seen);
            // progress without calls serves an application that makes them too, but not the other way round
            case PROGRESS -> same(member, hints, offered, needed != Progress.AUTO.code() || needed == seen);
            case NAME -> {
                String name = member.text(hints, capabilities);
                same(member, hints, offered,
                    name == null || name.isEmpty() || name.equals(member.text(offered, capabilities)));
            }
            case TRAFFIC_CLASS -> {
                if (!TrafficClass.isDefined((int) needed)) {
                    reasons.add(new Reason(member.name(), member.text(needed, capabilities),
                        "a label or TrafficClass.dscpSet(0..255)", "Ask for a class of TrafficClass, or leave it 0"));
                }
            }
            default -> {
                // nothing to compare, or below together with others
            }
        }
    }

    private void bits(Attribute<?> member, long needed, long seen, String remedy) {
        long missing = needed & ~seen;
        if (missing != 0) {
            reasons.add(new Reason(
                member.name(), member.text(seen, capabilities), member.text(missing, capabilities), remedy));
        }
    }

    private void atMost(String name, long needed, long seen) {
        if (Long.compareUnsigned(needed, seen) > 0) {
            reasons.add(new Reason(
                name, Long.toUnsignedString(seen), Long.toUnsignedString(needed), "Ask for at most the value seen"));
        }
    }

    private void same(
        Attribute<?> member, AttributeStructure<?> hints, AttributeStructure<?> offered, boolean holds) {
        if (!holds) {
            differs(member.name(), member.text(offered, capabilities), member.text(hints, capabilities));
        }
    }

    private void differs(String name, Object seen, Object needed) {
        reasons.add(new Reason(name, String.valueOf(seen), String.valueOf(needed), "Ask for the value seen, or leave"
            + " it unspecified"));
    }
}
