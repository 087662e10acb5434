package org.jfabric.driver.link.support;

import java.util.List;
import org.jfabric.info.AddressVectorType;
import org.jfabric.info.EndpointType;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.MrMode;
import org.jfabric.info.Progress;
import org.jfabric.info.Reason;
import org.jfabric.info.TagFormat;

/**
 * What API version 2.0 and later change in discovery: what libfabric 2.x added is offered by links that have what it is
 * made of, and what it removed is refused. Hints of older versions are not touched.
 *
 * <p>Stateless; any thread.
 */
final class SecondProfile {
    /** Granted only to applications that ask for them: the one refuses calls, the other costs the short path. */
    static final long ON_REQUEST = Flags.EXACT_DIRECTED_RECV | Flags.TAGGED_MULTI_RECV;

    private static final String REMOVED = "Ask without it, or with API version 1.18: libfabric 2.x has it no more";
    /** FI_MR_BASIC and FI_MR_SCALABLE. */
    private static final long REMOVED_MR_MODES = 0x3;

    private SecondProfile() {
    }

    /** Adds to an offer what the version of the hints adds. Returns the same object. */
    static Info extend(Info hints, Info offered) {
        if (!hints.fabricAttr().isVersion2()) {
            return offered;
        }
        long added = (offered.caps() & Flags.DIRECTED_RECV) != 0 ? Flags.EXACT_DIRECTED_RECV : 0;
        if ((offered.caps() & Flags.TAGGED) != 0 && (offered.caps() & Flags.MULTI_RECV) != 0) {
            added |= Flags.TAGGED_MULTI_RECV;
        }
        offered.caps(offered.caps() | added);
        offered.rxAttr().caps(offered.rxAttr().caps() | added);
        return offered;
    }

    /** Refuses what the version of the hints has no more, and values that it gave a meaning which no link has. */
    static void refuse(Info hints, List<Reason> reasons) {
        if (!hints.fabricAttr().isVersion2()) {
            if (hints.domainAttr().controlProgress() == Progress.CONTROL_UNIFIED
                || hints.domainAttr().dataProgress() == Progress.CONTROL_UNIFIED) {
                reasons.add(new Reason("domain_attr.control_progress", Progress.MANUAL.name(),
                    Progress.CONTROL_UNIFIED.name(), "Ask with API version 2.0 or later"));
            }
            return;
        }
        EndpointType type = hints.epAttr().type();
        if (type == EndpointType.SOCK_STREAM || type == EndpointType.SOCK_DGRAM) {
            reasons.add(new Reason("ep_attr.type", "MSG, DGRAM or RDM", type.name(), REMOVED));
        }
        long modes = hints.domainAttr().mrMode() & REMOVED_MR_MODES;
        if (modes != 0) {
            reasons.add(new Reason("domain_attr.mr_mode", "bits from " + MrMode.toString(MrMode.LOCAL) + " on",
                MrMode.toString(modes), REMOVED));
        }
        long format = hints.epAttr().memTagFormat();
        if (Long.compareUnsigned(format, TagFormat.MPI) > 0 && Long.compareUnsigned(format, TagFormat.MAX_FORMAT) < 0) {
            reasons.add(new Reason("ep_attr.mem_tag_format", "0, 1, or from " + TagFormat.MAX_FORMAT + " on",
                Long.toString(format), "Ask for TagFormat.BITS, TagFormat.MPI or fields"));
        }
    }

    /** Settles in a match what is the application's choice. */
    static void narrow(Info hints, Info offered) {
        if (!hints.fabricAttr().isVersion2()) {
            return;
        }
        if (hints.domainAttr().avType() == AddressVectorType.MAP) {
            // there is only one type left; applications of the other one work with it
            offered.domainAttr().avType(AddressVectorType.TABLE);
        }
        offered.domainAttr()
            .controlProgress(progress(hints.domainAttr().controlProgress(), offered.domainAttr().controlProgress()))
            .dataProgress(progress(hints.domainAttr().dataProgress(), offered.domainAttr().dataProgress()));
    }

    /** A driver with threads of its own needs no call, so that there is nothing to serialize. */
    private static Progress progress(Progress asked, Progress offered) {
        return asked == Progress.CONTROL_UNIFIED && offered == Progress.MANUAL ? asked : offered;
    }
}
