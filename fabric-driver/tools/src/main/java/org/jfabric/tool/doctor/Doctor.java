package org.jfabric.tool.doctor;

import java.util.List;

/** All checks, in the order shown. Pure functions; any thread. */
public final class Doctor {
    private static final List<Check> CHECKS = List.of(
        new ConfigurationCheck(), new SharedMemoryCheck(), new LogoutCheck(), new LeftoversCheck(), new LimitsCheck(),
        new CoresCheck(), new ThrottlingCheck(), new BindingCheck(), new GovernorCheck(), new ClockSourceCheck(),
        new TransparentHugePagesCheck(), new ReservedHugePagesCheck(), new JavaCheck(), new LinksCheck(),
        new SocketLibraryCheck(), new CardClockCheck(), new SocketBuffersCheck(), new MulticastCheck(),
        new RecordingFolderCheck());

    private Doctor() {
    }

    public static List<Finding> examine(Host host) {
        return CHECKS.stream().map(check -> check.examine(host)).toList();
    }
}
