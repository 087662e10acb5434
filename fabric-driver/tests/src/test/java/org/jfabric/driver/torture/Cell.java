package org.jfabric.driver.torture;

import java.util.ArrayList;
import java.util.List;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.info.EndpointType;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;

/**
 * One link, with the drivers in processes of their own or in those of the workers.
 *
 * @param link     name.
 * @param embedded mode of the drivers in the workers, or null for daemons.
 */
record Cell(String link, ThreadingMode embedded) {
    /** All links of a driver of this run. */
    static final String LINKS = "loopback,shm,rxm,tcp,udp";

    static List<Cell> all() {
        List<Cell> cells = new ArrayList<>();
        for (String link : LINKS.split(",")) {
            cells.add(new Cell(link, null));
            for (ThreadingMode mode : ThreadingMode.values()) {
                cells.add(new Cell(link, mode));
            }
        }
        return cells;
    }

    static Cell parse(String text) {
        return matching(text).getFirst();
    }

    /** All cells of a text such as {@code shm/daemon}, in which a star stands for any link or any mode. */
    static List<Cell> matching(String text) {
        String pattern = text.replace("*", "[a-z]+");
        List<Cell> cells = all().stream().filter(each -> each.toString().matches(pattern)).toList();
        if (cells.isEmpty()) {
            throw new IllegalArgumentException("no such cell: " + text + ", there are " + all());
        }
        return cells;
    }

    boolean isDaemon() {
        return embedded == null;
    }

    boolean isLocal() {
        return link.equals("loopback");
    }

    /** Each message arrives once and in order, or its send fails. */
    boolean isReliable() {
        return !link.equals("udp");
    }

    /**
     * Of the sends: the strongest that the link has. Over tcp a confirmed message may also be kept by the receiver's
     * driver, so that there the sender does not send more than the receiver has receives.
     */
    long level() {
        return switch (link) {
            case "udp" -> 0;
            case "tcp" -> Flags.DELIVERY_COMPLETE;
            default -> Flags.MATCH_COMPLETE;
        };
    }

    /** The wire of tcp has no atomic operations. */
    boolean hasAtomics() {
        return isReliable() && !link.equals("tcp");
    }

    /** Accesses of peers to memory that is copied, and not mapped by the driver, are served. */
    boolean hasAccessesByCopy() {
        return isLocal() || link.equals("shm");
    }

    boolean isPaced() {
        return link.equals("tcp");
    }

    int longest() {
        return isReliable() ? Payload.LONGEST : 1_472;
    }

    Info hints() {
        if (isReliable()) {
            return new Info().caps(Flags.TAGGED | Flags.MSG | Flags.SOURCE | Flags.DIRECTED_RECV | Flags.RMA
                | (hasAtomics() ? Flags.ATOMIC : 0));
        }
        Info hints = new Info().caps(Flags.MSG | Flags.SOURCE).srcAddr("fi_sockaddr_in://127.0.0.1:0");
        hints.epAttr().type(EndpointType.DGRAM);
        return hints;
    }

    @Override
    public String toString() {
        return link + '/' + (embedded == null ? "daemon" : embedded.name().toLowerCase(java.util.Locale.ROOT));
    }
}
