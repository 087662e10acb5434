package org.jfabric;

import org.jfabric.info.Codes;
import org.jfabric.info.FabricAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Mode;
import org.jfabric.info.MrMode;
import org.jfabric.info.TrafficClass;

/**
 * Checks the info for an endpoint: an offer of discovery for this domain, possibly edited, that must be consistent. The
 * driver checks what the links offer when the endpoint is enabled.
 *
 * <p>Stateless; any thread.
 */
final class EndpointInfo {
    /** Modes that libfabric 2.x has no more: they are cleared in its matches. */
    private static final long REMOVED_MODES = Mode.BUFFERED_RECV | Mode.NOTIFY_FLAGS_ONLY | Mode.RESTRICTED_COMP;

    private EndpointInfo() {
    }

    /**
     * Checks an info and takes over from the domain what it leaves open.
     *
     * @param wanted     a copy of what the application gave.
     * @param domain     what the domain was opened with.
     * @param driverName name of the driver, which is that of its domains.
     * @throws FabricException with {@link FabricErrno#EINVAL}.
     */
    static void settle(Info wanted, Info domain, String driverName) {
        if (!driverName.equals(wanted.domainAttr().name())) {
            throw new FabricException(FabricErrno.EINVAL, "domain_attr.name is " + wanted.domainAttr().name()
                + ", the domain is one of " + driverName,
                "Open endpoints with a match of Fabric.info of the same fabric, or with a copy of one.");
        }
        if (wanted.fabricAttr().isVersion2() && (wanted.mode() & REMOVED_MODES) != 0) {
            throw new FabricException(FabricErrno.EINVAL, "mode has " + Mode.toString(wanted.mode() & REMOVED_MODES)
                + ", which API version " + FabricAttr.versionText(wanted.fabricAttr().apiVersion()) + " has not",
                "Open it with the mode of a match, or use API version 1.18.");
        }
        requireSubset("tx_attr", wanted, wanted.txAttr().caps(), wanted.txAttr().mode());
        requireSubset("rx_attr", wanted, wanted.rxAttr().caps(), wanted.rxAttr().mode());
        requireSameKeys(wanted, domain);
        takeTrafficClass(wanted, domain);
        if (wanted.epAttr().authKeySize() == 0) {
            wanted.epAttr().authKey(domain.domainAttr().authKey());
        }
    }

    private static void requireSubset(String part, Info wanted, long caps, long mode) {
        // an endpoint without bits of a direction has both, one without any bits what its links offer
        long directions = Flags.SEND | Flags.RECV;
        long own = wanted.caps() | ((wanted.caps() & directions) == 0 ? directions : 0);
        if (wanted.caps() != 0 && (caps & ~own) != 0) {
            throw new FabricException(FabricErrno.EINVAL, part + ".caps has "
                + Flags.toString(caps & ~own, wanted.fabricAttr().capabilityKind()) + ", which caps has not",
                "Leave " + part + ".caps 0 after editing caps, or edit both.");
        }
        if ((mode & ~wanted.mode()) != 0) {
            throw new FabricException(FabricErrno.EINVAL, part + ".mode has "
                + Mode.toString(mode & ~wanted.mode()) + ", which mode has not", "Leave " + part + ".mode 0.");
        }
    }

    /** A region has one key, which is the card's or the application's for all peers that access it. */
    private static void requireSameKeys(Info wanted, Info domain) {
        boolean accesses = (wanted.caps() & (Flags.RMA | Flags.ATOMIC)) != 0;
        if (accesses && ((wanted.domainAttr().mrMode() ^ domain.domainAttr().mrMode()) & MrMode.PROV_KEY) != 0) {
            throw new FabricException(FabricErrno.EINVAL, "domain_attr.mr_mode is "
                + MrMode.toString(wanted.domainAttr().mrMode()) + ", that of the domain "
                + MrMode.toString(domain.domainAttr().mrMode()),
                "Open the domain with a match of the same link.");
        }
    }

    private static void takeTrafficClass(Info wanted, Info domain) {
        int tclass = wanted.txAttr().tclass();
        if (tclass == TrafficClass.UNSPEC.code()) {
            wanted.txAttr().tclass(domain.domainAttr().tclass());
        } else {
            requireTrafficClass(tclass);
        }
    }

    static void requireTrafficClass(int tclass) {
        if (!TrafficClass.isDefined(tclass)) {
            throw new FabricException(FabricErrno.EINVAL, "tx_attr.tclass is " + Codes.hex(tclass)
                + ", no link has classes of its own", "Use a label of TrafficClass, dscpSet, or 0.");
        }
    }
}
