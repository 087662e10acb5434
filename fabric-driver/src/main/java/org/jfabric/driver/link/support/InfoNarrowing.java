package org.jfabric.driver.link.support;

import org.jfabric.client.BufferedMode;
import org.jfabric.client.PrefixMode;
import org.jfabric.info.Attribute;
import org.jfabric.info.AttributeStructure;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Mode;
import org.jfabric.info.ResourceManagement;
import org.jfabric.info.TrafficClass;

/**
 * Narrows the attributes that a link offers to those that one application gets.
 *
 * <p>Stateless; any thread.
 */
public final class InfoNarrowing {
    /** Capabilities that concern transmit contexts (fi_endpoint(3), Transmit Context Attributes, caps). */
    public static final long TRANSMIT_CAPS = Flags.MSG | Flags.RMA | Flags.TAGGED | Flags.ATOMIC | Flags.READ
        | Flags.WRITE | Flags.SEND | Flags.HMEM | Flags.TRIGGER | Flags.FENCE | Flags.MULTICAST | Flags.RMA_PMEM
        | Flags.NAMED_RX_CTX | Flags.COLLECTIVE | Flags.XPU;
    /** Capabilities that concern receive contexts (fi_endpoint(3), Receive Context Attributes, caps). */
    public static final long RECEIVE_CAPS = Flags.MSG | Flags.RMA | Flags.TAGGED | Flags.ATOMIC | Flags.REMOTE_READ
        | Flags.REMOTE_WRITE | Flags.RECV | Flags.HMEM | Flags.TRIGGER | Flags.RMA_PMEM | Flags.DIRECTED_RECV
        | Flags.VARIABLE_MSG | Flags.MULTI_RECV | Flags.SOURCE | Flags.RMA_EVENT | Flags.SOURCE_ERR | Flags.COLLECTIVE
        | Flags.XPU | Flags.TAGGED_MULTI_RECV | Timestamps.CAPS;
    /** Granted to every application, because they cost nothing. */
    private static final long FREE_CAPS = Flags.FENCE | Flags.LOCAL_COMM;

    private InfoNarrowing() {
    }

    /**
     * Grants an application the capabilities that it requests and those that cost nothing, and copies the attributes
     * that are its own choice. Returns the same object.
     */
    public static Info narrow(Info hints, Info offered) {
        SecondProfile.extend(hints, offered);
        if (hints.caps() == 0) {
            // these turn successes into errors, take slots of queues, are of use only with persistent regions, and cost
            // the system work for each packet
            offered.caps(offered.caps()
                & ~(Flags.SOURCE_ERR | Flags.RMA_EVENT | Flags.RMA_PMEM | Timestamps.CAPS
                    | SecondProfile.ON_REQUEST));
        } else {
            offered.caps(requested(hints.caps()) & (hints.caps() | offered.caps()));
        }
        if (hints.epAttr().rxCtxCnt() == FabricAddress.SHARED_CONTEXT) {
            offered.caps(offered.caps() & ~(Flags.MULTI_RECV | SecondProfile.ON_REQUEST));
        }
        narrowModes(hints, offered);
        offered.fabricAttr().apiVersion(hints.fabricAttr().apiVersion());
        offered.rxAttr().caps(narrow(hints.rxAttr().caps(), offered.rxAttr().caps() & offered.caps()));
        offered.txAttr().caps(narrow(hints.txAttr().caps(), offered.txAttr().caps() & offered.caps()));
        if (!hints.fabricAttr().precedes(1, 5)) {
            offered.epAttr().authKey(hints.epAttr().authKey());
            offered.domainAttr().authKey(hints.domainAttr().authKey());
        }
        choose(hints.txAttr(), offered.txAttr());
        choose(hints.epAttr(), offered.epAttr());
        choose(hints.domainAttr(), offered.domainAttr());
        if (offered.txAttr().tclass() == TrafficClass.UNSPEC.code()) {
            offered.txAttr().tclass(offered.domainAttr().tclass());
        }
        if (hints.txAttr().opFlags() != 0) {
            offered.txAttr().opFlags(hints.txAttr().opFlags() | offered.txAttr().opFlags());
        }
        offered.rxAttr().opFlags(hints.rxAttr().opFlags());
        SecondProfile.narrow(hints, offered);
        if (hints.domainAttr().resourceManagement() == ResourceManagement.DISABLED) {
            // no link depends on it: only the client decides by it whether it counts the slots
            offered.domainAttr().resourceManagement(ResourceManagement.DISABLED);
        }
        return offered;
    }

    /**
     * Takes over what is the application's choice. Of a traffic class links on one host make nothing, and report it
     * back all the same.
     */
    private static <S extends AttributeStructure<S>> void choose(S hints, S offered) {
        for (Attribute<?> each : hints.attributes()) {
            boolean isChosen = each.rule() == Attribute.Rule.CHOSEN || each.rule() == Attribute.Rule.TRAFFIC_CLASS;
            if (isChosen && each.number(hints) != 0) {
                each.number(offered, each.number(hints));
            }
        }
    }

    private static void narrowModes(Info hints, Info offered) {
        if (BufferedMode.isAskedFor(hints)) {
            // granted on request only: it costs a slab and changes the meaning of receives
            offered.caps(offered.caps() & ~BufferedMode.EXCLUDED_CAPS);
            offered.mode(Mode.BUFFERED_RECV);
            offered.rxAttr().mode(Mode.BUFFERED_RECV);
        }
        if (PrefixMode.bytes(hints) != 0) {
            // no link needs it, so it is granted only with a length
            offered.mode(offered.mode() | Mode.MSG_PREFIX);
            offered.txAttr().mode(offered.txAttr().mode() | Mode.MSG_PREFIX);
            offered.rxAttr().mode(offered.rxAttr().mode() | Mode.MSG_PREFIX);
            offered.epAttr().msgPrefixSize(hints.epAttr().msgPrefixSize());
        }
    }

    /** Capabilities that an endpoint may use if it requests these. Without a direction both directions are granted. */
    static long requested(long caps) {
        return caps | FREE_CAPS | Info.directions(caps);
    }

    /** Capabilities of one direction; for a request of 0 all of the endpoint's that apply to it. */
    private static long narrow(long asked, long applicable) {
        return asked == 0 ? applicable : applicable & (asked | FREE_CAPS);
    }
}
