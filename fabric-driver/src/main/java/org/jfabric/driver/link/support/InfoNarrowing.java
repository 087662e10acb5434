package org.jfabric.driver.link.support;

import org.jfabric.client.BufferedMode;
import org.jfabric.client.PrefixMode;
import org.jfabric.info.AddressVectorType;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Mode;
import org.jfabric.info.ResourceManagement;
import org.jfabric.info.Threading;
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
        | Flags.XPU | Flags.TAGGED_MULTI_RECV;
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
            // these turn successes into errors, take slots of queues, and are of use only with persistent regions
            offered.caps(offered.caps()
                & ~(Flags.SOURCE_ERR | Flags.RMA_EVENT | Flags.RMA_PMEM | SecondProfile.ON_REQUEST));
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
        // links on one host treat all classes alike; the class is only reported back to the application
        if (hints.domainAttr().tclass() != TrafficClass.UNSPEC.code()) {
            offered.domainAttr().tclass(hints.domainAttr().tclass());
        }
        offered.txAttr().tclass(hints.txAttr().tclass() != TrafficClass.UNSPEC.code()
            ? hints.txAttr().tclass() : offered.domainAttr().tclass());
        if (hints.txAttr().opFlags() != 0) {
            offered.txAttr().opFlags(hints.txAttr().opFlags() | offered.txAttr().opFlags());
        }
        offered.rxAttr().opFlags(hints.rxAttr().opFlags());
        if (hints.epAttr().memTagFormat() != 0) {
            // every bit of a tag is compared and every mask is allowed, so that every format is supported
            offered.epAttr().memTagFormat(hints.epAttr().memTagFormat());
        }
        if (hints.epAttr().txCtxCnt() != 0) {
            offered.epAttr().txCtxCnt(hints.epAttr().txCtxCnt());
        }
        if (hints.epAttr().rxCtxCnt() != 0) {
            offered.epAttr().rxCtxCnt(hints.epAttr().rxCtxCnt());
        }
        if (hints.domainAttr().threading() != Threading.UNSPEC) {
            // only the client uses it: it locks as the level requires
            offered.domainAttr().threading(hints.domainAttr().threading());
        }
        if (hints.domainAttr().avType() != AddressVectorType.UNSPEC) {
            offered.domainAttr().avType(hints.domainAttr().avType());
        }
        SecondProfile.narrow(hints, offered);
        if (hints.domainAttr().resourceManagement() == ResourceManagement.DISABLED) {
            // no link depends on it: only the client decides by it whether it counts the slots
            offered.domainAttr().resourceManagement(ResourceManagement.DISABLED);
        }
        return offered;
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
