package org.jfabric.tool.doctor;

import java.util.List;
import java.util.stream.Stream;
import org.jfabric.driver.config.LinkConfig;
import org.jfabric.driver.resource.PreloadedSockets;
import org.jfabric.info.Reason;

/** Which library sockets go through, and whether what {@code LD_PRELOAD} names has been loaded and has any. */
final class SocketLibraryCheck implements Check {
    private static final String NAME = "socket library";
    private static final String VARIABLE = "LD_PRELOAD=";

    @Override
    public Finding examine(Host host) {
        List<String> named = Stream.of(String.join("\n", host.lines(host.process() + "/environ")).split("\0"))
            .filter(each -> each.startsWith(VARIABLE))
            .flatMap(each -> Stream.of(each.substring(VARIABLE.length()).split("[ :]+")))
            .filter(each -> !each.isEmpty()).toList();
        List<String> mapped = host.lines(host.process() + "/maps");
        List<String> missing = mapped.isEmpty() ? List.of()
            : named.stream().filter(each -> mapped.stream().noneMatch(line -> isOf(line, each, host))).toList();
        String who = host.driverPid() > 0 ? "the driver's" : "this";
        if (!missing.isEmpty()) {
            return Finding.warning(NAME, "LD_PRELOAD in " + who + " environment names " + String.join(", ", missing)
                + ", which the loader has not loaded", "Name a library of this machine by its whole path; ld.so has"
                + " said what is wrong when the process started.", "cat " + host.process() + "/maps");
        }
        String used = host.verdicts().stream().flatMap(each -> each.reasons().stream())
            .filter(each -> each.condition().equals(PreloadedSockets.CONDITION)).map(Reason::seen).findFirst()
            .orElse(null);
        if (used != null) {
            return Finding.note(NAME, "sockets go through " + used, "It was loaded in front of the C library. "
                + LinkConfig.SOCKET_LIBRARY.name() + "=SYSTEM passes it by.");
        }
        if (!named.isEmpty() && host.linksProblem() != null) {
            return Finding.note(NAME, "LD_PRELOAD names " + String.join(", ", named) + ", and no driver can be asked"
                + " whether sockets go through it", "Correct what stands at links.");
        }
        return Finding.ok(NAME, "sockets go through the C library" + (named.isEmpty() ? "" : "; "
            + String.join(", ", named) + " of LD_PRELOAD has no functions of sockets, or "
            + LinkConfig.SOCKET_LIBRARY.name() + " passes it by"));
    }

    /** A name without a folder is found by the loader in its own folders, and often is a link to the file. */
    private static boolean isOf(String line, String library, Host host) {
        return line.endsWith(host.target(library))
            || line.contains('/' + library.substring(library.lastIndexOf('/') + 1));
    }
}
