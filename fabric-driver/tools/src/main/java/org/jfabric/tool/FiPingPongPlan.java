package org.jfabric.tool;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jfabric.info.EndpointType;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Protocol;

/**
 * The messages of a run. Both sides need the same plan; only the number of iterations is compared.
 *
 * @param tagged     true if messages carry {@link #TAG}.
 * @param sizes      in bytes, in this order; those that are longer than the endpoint's longest message are left out.
 */
record FiPingPongPlan(
    String provider, EndpointType type, boolean tagged, int iterations, List<Long> sizes, boolean check) {
    /** Tag of every message, the last one included. */
    static final long TAG = 1234;

    private static final int LARGEST_SHIFT = 22;
    /** Links whose messages have no tags on the wire: datagrams, and connections of verbs. */
    private static final Set<String> UNTAGGED = Set.of("udp", "packet", "verbsud", "verbs");
    private static final Map<String, Map<EndpointType, String>> LINKS = links();

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
     * The link with the protocol that a provider uses for a type of endpoints, as in libfabric 1.18 and later: {@code
     * tcp} with {@code rdm} is the provider's own protocol, which 1.17 calls {@code net}; what 1.17 means by it is
     * {@code tcp;ofi_rxm}. Returns null if there is no such provider here, or not with that type.
     */
    static String link(String provider, EndpointType type) {
        return LINKS.getOrDefault(provider, Map.of()).get(type);
    }

    /** Returns true if messages of a supported combination can have tags. */
    static boolean hasTags(String provider, EndpointType type) {
        return !UNTAGGED.contains(link(provider, type));
    }

    String link() {
        return link(provider, type);
    }

    /** The providers with their types, for people. */
    static String combinations() {
        return LINKS.entrySet().stream().map(each -> each.getKey() + " ("
            + each.getValue().keySet().stream().map(type -> type.name().toLowerCase(Locale.ROOT))
                .collect(Collectors.joining(", ")) + ')').collect(Collectors.joining("; "));
    }

    /** Returns the capabilities that the endpoint needs. */
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
            case "udp", "packet" -> Protocol.UDP;
            default -> Protocol.UNSPEC;
        };
    }

    private static Map<String, Map<EndpointType, String>> links() {
        Map<String, Map<EndpointType, String>> links = new LinkedHashMap<>();
        links.put("udp", Map.of(EndpointType.DGRAM, "udp"));
        // not one of libfabric's: the same wire, so the other side calls it udp
        links.put("packet", Map.of(EndpointType.DGRAM, "packet"));
        links.put("tcp", new EnumMap<>(Map.of(EndpointType.MSG, "tcp", EndpointType.RDM, "tcp")));
        links.put("net", links.get("tcp"));
        links.put("tcp;ofi_rxm", Map.of(EndpointType.RDM, "rxm"));
        links.put("verbs", new EnumMap<>(
            Map.of(EndpointType.MSG, "verbs", EndpointType.RDM, "verbsrxm", EndpointType.DGRAM, "verbsud")));
        links.put("verbs;ofi_rxm", Map.of(EndpointType.RDM, "verbsrxm"));
        // libfabric takes the parts in either order
        links.put("ofi_rxm;tcp", links.get("tcp;ofi_rxm"));
        links.put("ofi_rxm;verbs", links.get("verbs;ofi_rxm"));
        return links;
    }

    /** Destination of a receive's source: any. */
    static long anySource() {
        return FabricAddress.ADDR_UNSPEC;
    }
}
