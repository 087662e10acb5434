package org.jfabric.driver.config;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The known property names, and the one that was probably meant. Owner: any thread; pure functions.
 */
final class OptionNames {

    /** Groups of properties that belong to other components; as system properties the driver ignores them. */
    private static final List<String> FOREIGN_PREFIXES = List.of(
        ConfigSource.PREFIX + "client.", ConfigSource.PREFIX + "test.");

    /** Not in {@link OptionGroup}: the groups' constants need that class, so it cannot need them. */
    private static final List<OptionGroup> GROUPS = List.of(
        DirectoryConfig.GROUP, ThreadingConfig.GROUP, QueueConfig.GROUP, EngineConfig.GROUP, ShmConfig.GROUP,
        TcpConfig.GROUP, RxmConfig.GROUP, TlsConfig.GROUP, UdpConfig.GROUP, DtlsConfig.GROUP, VerbsConfig.GROUP,
        TableConfig.GROUP, LivenessConfig.GROUP,
        CncConfig.GROUP, LinkConfig.GROUP, MetricsConfig.GROUP, LogConfig.GROUP);

    private static final List<String> KNOWN = known();

    /** Prefix of all variables of the environment. */
    private static final String VARIABLE_PREFIX = "JFABRIC_";

    /** Variables of the start script, of the build and of tests. */
    private static final Set<String> OTHER_VARIABLES = Set.of(
        DriverConfig.FILE_VARIABLE, "JFABRIC_JAVA", "JFABRIC_JAVA_OPTS", "JFABRIC_AOT", "JFABRIC_AOT_CACHE",
        "JFABRIC_HOME", "JFABRIC_PEERS", "JFABRIC_VM_CACHE");

    private static final String SERVICE_HOST = "_SERVICE_HOST";

    private static final Pattern CAPITAL = Pattern.compile("(?<=[a-z0-9])(?=[A-Z])");

    private OptionNames() {
    }

    static List<OptionGroup> groups() {
        return GROUPS;
    }

    static boolean isKnown(String name) {
        return KNOWN.contains(name);
    }

    static boolean isForeign(String name) {
        return FOREIGN_PREFIXES.stream().anyMatch(name::startsWith);
    }

    /** The variable of an option: each word of the name in capitals, with an underscore between two. */
    static String variable(String name) {
        return CAPITAL.matcher(name).replaceAll("_").replace('.', '_').toUpperCase(Locale.ROOT);
    }

    /** The option that a variable sets, or null. */
    static String ofVariable(String variable) {
        return KNOWN.stream().filter(name -> variable(name).equals(variable)).findFirst().orElse(null);
    }

    /**
     * Whether the driver has to know a variable. Kubernetes sets some for each service of a namespace, such as {@code
     * JFABRIC_SERVICE_HOST} and {@code JFABRIC_PORT_80_TCP} for a service "jfabric"; the first one identifies the
     * others.
     */
    static boolean isDriverVariable(String variable, Set<String> all) {
        if (!variable.startsWith(VARIABLE_PREFIX) || OTHER_VARIABLES.contains(variable)
            || FOREIGN_PREFIXES.stream().anyMatch(each -> variable.startsWith(variable(each)))) {
            return false;
        }
        for (String each : all) {
            if (each.endsWith(SERVICE_HOST)) {
                String service = each.substring(0, each.length() - SERVICE_HOST.length());
                if (variable.startsWith(service + "_SERVICE_") || variable.equals(service + "_PORT")
                    || variable.startsWith(service + "_PORT_")) {
                    return false;
                }
            }
        }
        return true;
    }

    /** Returns the known variable with the fewest differences. */
    static String nearestVariable(String variable) {
        return KNOWN.stream().map(OptionNames::variable)
            .min(Comparator.comparingInt(known -> Math.min(distance(variable, known),
                known.startsWith(variable) ? 1 : Integer.MAX_VALUE))).orElseThrow();
    }

    /** Returns the known name with the fewest differences; a wrong group counts as one, and so does a missing end. */
    static String nearest(String name) {
        String nearest = KNOWN.get(0);
        int leastDistance = Integer.MAX_VALUE;
        for (String known : KNOWN) {
            int distance = Math.min(distance(name, known), 1 + partDistance(lastPart(name), lastPart(known)));
            if (distance < leastDistance) {
                leastDistance = distance;
                nearest = known;
            }
        }
        return nearest;
    }

    /** Levenshtein's distance, without regard to case. */
    static int distance(String left, String right) {
        String a = left.toLowerCase(Locale.ROOT);
        String b = right.toLowerCase(Locale.ROOT);
        int[] row = new int[b.length() + 1];
        for (int j = 0; j <= b.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int substituted = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(substituted, 1 + Math.min(row[j], row[j - 1]));
            }
        }
        return row[b.length()];
    }

    /** Most names end with a unit, which is easily forgotten. */
    private static int partDistance(String name, String known) {
        boolean isBegin = !name.isEmpty() && known.toLowerCase(Locale.ROOT).startsWith(name.toLowerCase(Locale.ROOT));
        return Math.min(distance(name, known), isBegin ? 1 : Integer.MAX_VALUE);
    }

    private static String lastPart(String name) {
        return name.substring(name.lastIndexOf('.') + 1);
    }

    private static List<String> known() {
        List<String> names = new ArrayList<>();
        for (OptionGroup group : GROUPS) {
            for (Option<?> option : group.options()) {
                names.add(option.name());
            }
        }
        return Collections.unmodifiableList(names);
    }
}
