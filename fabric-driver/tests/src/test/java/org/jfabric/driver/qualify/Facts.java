package org.jfabric.driver.qualify;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/** What a report says of a host: of its machine and card, and nothing of who it is. */
final class Facts {
    private Facts() {
    }

    /** One in each line, the name and a tabulator's place in front of the value. */
    static List<String> of(Place place) {
        List<String> facts = new ArrayList<>();
        add(facts, "Processor", cpu() + ", " + Runtime.getRuntime().availableProcessors() + " usable");
        add(facts, "Kernel", System.getProperty("os.name") + ' ' + System.getProperty("os.version") + ' '
            + System.getProperty("os.arch"));
        add(facts, "JDK", System.getProperty("java.vm.name") + ' ' + System.getProperty("java.vm.version"));
        add(facts, "JFabric", ControlLine.version());
        add(facts, "libfabric", Programs.libfabricVersion());
        if (place.device() != null) {
            Path device = place.deviceFolder();
            add(facts, "Device", String.join(", ", "driver " + driver(device),
                "type " + Place.line(device.resolve("hca_type")), "board " + Place.line(device.resolve("board_id")),
                "vendor " + Place.line(device.resolve("device/vendor")),
                "part " + Place.line(device.resolve("device/device")),
                "firmware " + Place.line(device.resolve("fw_ver"))));
            add(facts, "Port", String.join(", ", Place.line(device.resolve("ports/1/rate")),
                Place.line(device.resolve("ports/1/link_layer")), Place.line(device.resolve("ports/1/state"))));
        }
        Path card = Path.of("/sys/class/net", place.networkInterface());
        String speed = Place.line(card.resolve("speed"));
        add(facts, "Interface", "driver " + driver(card) + ", MTU " + Place.line(card.resolve("mtu"))
            + (speed.isEmpty() ? "" : ", " + speed + " Mb/s"));
        add(facts, "Options", options());
        return facts;
    }

    private static void add(List<String> facts, String name, String value) {
        facts.add(name + ": " + value.replace('|', '/'));
    }

    private static String cpu() {
        try (var lines = Files.lines(Path.of("/proc/cpuinfo"))) {
            return lines.filter(line -> line.startsWith("model name") || line.startsWith("CPU part"))
                .map(line -> line.substring(line.indexOf(':') + 1).strip()).findFirst().orElse("unknown");
        } catch (IOException none) {
            return "unknown";
        }
    }

    private static String driver(Path device) {
        try {
            return device.resolve("device/driver").toRealPath().getFileName().toString();
        } catch (IOException none) {
            return "of software";
        }
    }

    /** Those of the driver that are not their defaults. */
    private static String options() {
        TreeMap<String, String> set = new TreeMap<>();
        System.getProperties().forEach((name, value) -> {
            if (name.toString().startsWith("jfabric.") && !name.toString().startsWith("jfabric.test.")) {
                set.put(name.toString(), value.toString());
            }
        });
        return set.isEmpty() ? "none" : set.toString();
    }
}
