package org.jfabric.test;

import java.util.ArrayList;
import java.util.List;

/**
 * The groups of the requirement list and how many rows each has; ids run from 001 without a gap.
 */
enum Requirements {
    CQ("Completion queues", 151),
    CL("Completion levels and fence", 32),
    TAG("Tagged messages", 74),
    EP("Endpoints", 164),
    TX("Transmit context attributes", 55),
    RX("Receive context attributes", 21),
    SEP("Scalable endpoints, named receive contexts", 22),
    SHR("Shared contexts", 19),
    SOCK("Socket endpoints", 16),
    OPF("Operation flags", 18),
    ERR("Return values and errors", 21),
    REF("Capabilities that other pages define", 57);

    final String title;
    final int rows;

    Requirements(String title, int rows) {
        this.title = title;
        this.rows = rows;
    }

    String id(int row) {
        return "%s-%03d".formatted(name(), row);
    }

    List<String> ids() {
        List<String> ids = new ArrayList<>(rows);
        for (int row = 1; row <= rows; row++) {
            ids.add(id(row));
        }
        return ids;
    }

    static boolean exists(String id) {
        for (Requirements group : values()) {
            if (id.startsWith(group.name() + "-")) {
                return group.ids().contains(id);
            }
        }
        return false;
    }
}
