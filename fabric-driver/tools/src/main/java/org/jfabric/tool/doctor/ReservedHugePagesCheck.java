package org.jfabric.tool.doctor;

import org.jfabric.driver.config.LinkConfig;
/** Huge pages that the administrator has reserved, which links of RDMA devices use for their buffers. */
final class ReservedHugePagesCheck implements Check {
    private static final String NAME = "reserved huge pages";

    @Override
    public Finding examine(Host host) {
        long total = value(host, "HugePages_Total:");
        long free = value(host, "HugePages_Free:");
        boolean hasDevice = host.config().get(LinkConfig.ENABLED).stream().anyMatch(link -> link.startsWith("verbs"));
        String seen = total + " reserved, " + free + " free";
        return hasDevice && free == 0
            ? Finding.note(NAME, seen, "Links of RDMA devices take huge pages for their buffers if some are free.",
                "sysctl vm.nr_hugepages=" + (total + 64))
            : Finding.ok(NAME, seen);
    }

    private static long value(Host host, String name) {
        return host.lines("/proc/meminfo").stream().filter(line -> line.startsWith(name))
            .map(line -> line.substring(name.length()).strip()).filter(text -> text.matches("\\d{1,18}"))
            .mapToLong(Long::parseLong).findFirst().orElse(0);
    }
}
