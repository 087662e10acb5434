package org.jfabric.tool.doctor;

import java.util.ArrayList;
import java.util.List;

/** Which cards have clocks of their own, for times of arrival and departure. */
final class CardClockCheck implements Check {
    private static final String NAME = "clocks of cards";
    private static final String INTERFACES = "/sys/class/net";

    @Override
    public Finding examine(Host host) {
        List<String> found = new ArrayList<>();
        for (String name : host.files(INTERFACES)) {
            for (String clock : host.files(INTERFACES + '/' + name + "/device/ptp")) {
                found.add(name + " has /dev/" + clock);
            }
        }
        return Finding.ok(NAME, found.isEmpty() ? "none: TIMESTAMP has times of the system's clock alone"
            : String.join(", ", found) + ", for CARD_CLOCK if it is set to stamp packets");
    }
}
