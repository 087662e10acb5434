package org.jfabric.driver.link.support;

import org.jfabric.AddressVectorType;
import org.jfabric.Flags;
import org.jfabric.Info;
import org.jfabric.Mode;
import org.jfabric.ResourceManagement;
import org.jfabric.Threading;
import org.jfabric.TrafficClass;
import org.jfabric.client.BufferedMode;

/**
 * Turns what a link offers to everybody into what one application gets.
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
        | Flags.XPU;
    /** Given to everybody, because they cost nothing. */
    private static final long FREE_CAPS = Flags.FENCE | Flags.LOCAL_COMM;

    private InfoNarrowing() {
    }

    /**
     * Gives a caller the capabilities that it asked for and those that cost nothing, and takes over what is its own
     * choice.
     *
     * @param hints   what it asked for, which the offer meets.
     * @param offered all that the link offers; changed.
     * @return the same object.
     */
    public static Info narrow(Info hints, Info offered) {
        if (hints.caps() == 0) {
            // it turns successes into errors: only for those who say that they expect it
            offered.caps(offered.caps() & ~Flags.SOURCE_ERR);
        } else {
            offered.caps(requested(hints.caps()) & (hints.caps() | offered.caps()));
        }
        if (BufferedMode.isAskedFor(hints)) {
            // the one mode that is a wish: it costs a slab, and changes what receives are
            offered.caps(offered.caps() & ~BufferedMode.EXCLUDED_CAPS);
            offered.mode(Mode.BUFFERED_RECV);
            offered.rxAttr().mode(Mode.BUFFERED_RECV);
        }
        offered.fabricAttr().apiVersion(hints.fabricAttr().apiVersion());
        offered.rxAttr().caps(narrow(hints.rxAttr().caps(), offered.rxAttr().caps() & offered.caps()));
        offered.txAttr().caps(narrow(hints.txAttr().caps(), offered.txAttr().caps() & offered.caps()));
        if (!hints.fabricAttr().precedes(1, 5)) {
            offered.epAttr().authKey(hints.epAttr().authKey());
            offered.domainAttr().authKey(hints.domainAttr().authKey());
        }
        // links on one host have one way for everything: the class is kept for the application
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
            // every bit of a tag counts and every mask is allowed: whatever the fields are, they are here
            offered.epAttr().memTagFormat(hints.epAttr().memTagFormat());
        }
        if (hints.domainAttr().threading() != Threading.UNSPEC) {
            // the client's own matter: it locks where the level asks for it
            offered.domainAttr().threading(hints.domainAttr().threading());
        }
        if (hints.domainAttr().avType() != AddressVectorType.UNSPEC) {
            offered.domainAttr().avType(hints.domainAttr().avType());
        }
        if (hints.domainAttr().resourceManagement() == ResourceManagement.DISABLED) {
            // nothing that a link does depends on it: the client counts the slots, or does not
            offered.domainAttr().resourceManagement(ResourceManagement.DISABLED);
        }
        return offered;
    }

    /** Capabilities that an endpoint may use if it asks for these; both directions, unless one is named. */
    static long requested(long caps) {
        boolean bothDirections = (caps & (Flags.SEND | Flags.RECV)) == 0;
        return caps | FREE_CAPS | (bothDirections ? Flags.SEND | Flags.RECV : 0);
    }

    /** 0 takes over what applies of the endpoint's. */
    private static long narrow(long asked, long applicable) {
        return asked == 0 ? applicable : applicable & (asked | FREE_CAPS);
    }
}
