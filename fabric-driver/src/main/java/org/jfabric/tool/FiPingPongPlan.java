package org.jfabric.tool;

import java.util.ArrayList;
import java.util.List;

import org.jfabric.EndpointType;
import org.jfabric.FabricAddress;
import org.jfabric.Flags;
import org.jfabric.Info;
import org.jfabric.Protocol;

/**
 * What a run exchanges. Both sides must be told the same; only the number of iterations is compared.
 *
 * @param provider   as libfabric calls it.
 * @param type       of the endpoints.
 * @param tagged     whether messages carry {@link #TAG}.
 * @param iterations messages in each direction for each size.
 * @param sizes      in bytes, in this order; those that are longer than the endpoint's longest message are left out.
 * @param check      whether contents are written and compared.
 */
record FiPingPongPlan(
    String provider, EndpointType type, boolean tagged, int iterations, List<Long> sizes, boolean check) {
    /** Tag of every message, the last one included. */
    static final long TAG = 1234;

    private static final int LARGEST_SHIFT = 22;

    /** The sizes without a choice. */
    static List<Long> usualSizes() {
        return List.of(64L, 256L, 1024L, 4096L, 65536L, 1048576L);
    }

    /** Powers of two and what lies in the middle between them. */
    static List<Long> allSizes() {
        List<Long> sizes = new ArrayList<>(List.of(0L, 1L));
        for (int shift = 1; shift <= LARGEST_SHIFT; shift++) {
            sizes.add(1L << shift);
            sizes.add((1L << shift) + (1L << (shift - 1)));
        }
        return sizes;
    }

    /**
     * The link that speaks what a provider speaks. {@code tcp} means what Debian 12's libfabric 1.17 means by it:
     * messages over rxm for reliable datagrams, and {@code net} is what later versions call {@code tcp}.
     */
    String link() {
        return switch (provider) {
            case "net" -> "tcp";
            case "tcp" -> type == EndpointType.RDM ? "rxm" : "tcp";
            case "tcp;ofi_rxm", "ofi_rxm;tcp", "ofi_rxm" -> "rxm";
            case "verbs" -> switch (type) {
                case RDM -> "verbsrxm";
                case DGRAM -> "verbsud";
                default -> "verbs";
            };
            case "verbs;ofi_rxm", "ofi_rxm;verbs" -> "verbsrxm";
            default -> provider;
        };
    }

    /** What the endpoint must be able to do. */
    Info hints() {
        Info hints = new Info().caps((tagged ? Flags.TAGGED : Flags.MSG) | Flags.SEND | Flags.RECV).linkName(link());
        hints.epAttr().type(type).protocol(protocol());
        return hints;
    }

    private Protocol protocol() {
        return switch (link()) {
            case "tcp" -> type == EndpointType.RDM ? Protocol.XNET : Protocol.SOCK_TCP;
            case "rxm", "verbsrxm" -> Protocol.RXM;
            case "verbs" -> Protocol.RDMA_CM_IB_RC;
            case "verbsud" -> Protocol.IB_UD;
            case "udp" -> Protocol.UDP;
            default -> Protocol.UNSPEC;
        };
    }

    /** Destination of a receive's source: any. */
    static long anySource() {
        return FabricAddress.ADDR_UNSPEC;
    }
}
