package org.jfabric.tool.doctor;

import java.util.ArrayList;
import java.util.List;
import org.jfabric.driver.config.LinkConfig;

/** Whether datagrams to a multicast group leave this host, and whether a bridge of it stops them after a while. */
final class MulticastCheck implements Check {
    private static final String NAME = "multicast";
    private static final String INTERFACES = "/sys/class/net";
    private static final int UP = 1;
    private static final int LOOPBACK = 8;
    private static final int MULTICAST = 0x1000;
    private static final int MASK_FIELD = 7;
    /** 224.0.0.0 as the file has it: bytes in the order of the network, read as a little-endian number. */
    private static final long GROUPS = 0xe0;

    @Override
    public Finding examine(Host host) {
        if (!host.config().get(LinkConfig.ENABLED).contains("udp")) {
            return Finding.ok(NAME, "link udp is not enabled");
        }
        List<String> able = new ArrayList<>();
        List<String> silent = new ArrayList<>();
        for (String name : host.files(INTERFACES)) {
            int flags = number(host.line(INTERFACES + '/' + name + "/flags"));
            if ((flags & (UP | LOOPBACK | MULTICAST)) == (UP | MULTICAST)) {
                able.add(name);
            }
            String bridge = INTERFACES + '/' + name + "/bridge/multicast_";
            if (host.line(bridge + "snooping").equals("1") && host.line(bridge + "querier").equals("0")) {
                silent.add(name);
            }
        }
        if (able.isEmpty()) {
            return Finding.note(NAME, "no interface that is up has MULTICAST", "Streams between hosts need unicast"
                + " addresses here. For multicast: ip link set dev <interface> multicast on.");
        }
        String seen = "interfaces " + String.join(", ", able);
        String route = route(host);
        if (route == null) {
            return Finding.note(NAME, seen + ", no route to multicast groups", "A group is reached only by an interface"
                + " that is named.", "ip route add 224.0.0.0/4 dev " + able.getFirst());
        }
        seen += ", route by " + route;
        return silent.isEmpty() ? Finding.ok(NAME, seen) : Finding.note(NAME, seen + "; IGMP snooping without a querier"
            + " on " + String.join(", ", silent), "Unless a router or switch of the network sends IGMP queries, the"
            + " bridge stops to forward a group some minutes after its members have joined.",
            silent.stream().map(each -> "echo 1 > " + INTERFACES + '/' + each + "/bridge/multicast_querier")
                .toArray(String[]::new));
    }

    /** The interface by which groups are reached, or null. */
    private static String route(Host host) {
        for (String line : host.lines("/proc/net/route")) {
            String[] fields = line.strip().split("\\s+");
            if (fields.length > MASK_FIELD && fields[1].matches("[0-9A-F]{8}") && fields[MASK_FIELD].matches(
                "[0-9A-F]{8}")) {
                long mask = Long.parseLong(fields[MASK_FIELD], 16);
                if (((GROUPS ^ Long.parseLong(fields[1], 16)) & mask) == 0) {
                    return fields[0];
                }
            }
        }
        return null;
    }

    private static int number(String hex) {
        return hex.matches("0x[0-9a-f]{1,7}") ? Integer.parseInt(hex.substring(2), 16) : 0;
    }
}
