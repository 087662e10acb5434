package org.jfabric.perf;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jfabric.perf.loss.LateJoin;
import org.jfabric.perf.loss.LossLatency;

/**
 * Starts the JMH benchmarks of the runnable jar: the arguments are JMH's own.
 *
 * <p>JMH measures in JVMs of its own, which do not read the jar's manifest; what the product's launcher gives its
 * JVM is therefore passed on here.
 */
public final class Benchmarks {

    private static final String PREPEND_OPTION = "-jvmArgsPrepend";

    private static final String WAKE_UP = "wakeup";

    private static final String SLEEP = "sleep";

    private static final String RING = "ring";
    private static final String LOSS = "loss";
    private static final String LATE = "late";

    private static final List<String> JVM_ARGS = List.of(
        "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED",
        "--enable-native-access=ALL-UNNAMED",
        "--sun-misc-unsafe-memory-access=allow",
        "-Dagrona.disable.bounds.checks=true");

    private Benchmarks() {
    }

    /**
     * Runs JMH or one of the programs beside it.
     *
     * @param args JMH's arguments, {@code -h} lists them; or {@code wakeup}, {@code sleep}, {@code ring},
     *             {@code loss} or {@code late} and its arguments.
     * @throws IOException          if JMH cannot read its list of benchmarks or write its result, or a daemon does not
     *                              start.
     * @throws InterruptedException if interrupted.
     */
    public static void main(String[] args) throws IOException, InterruptedException {
        if (args.length > 0 && args[0].equals(WAKE_UP)) {
            WakeUpLatency.main(Arrays.copyOfRange(args, 1, args.length));
        } else if (args.length > 0 && args[0].equals(SLEEP)) {
            SleepLatency.main(Arrays.copyOfRange(args, 1, args.length));
        } else if (args.length > 0 && args[0].equals(RING)) {
            RingRatio.main(Arrays.copyOfRange(args, 1, args.length));
        } else if (args.length > 0 && args[0].equals(LOSS)) {
            LossLatency.main(Arrays.copyOfRange(args, 1, args.length));
        } else if (args.length > 0 && args[0].equals(LATE)) {
            LateJoin.main(Arrays.copyOfRange(args, 1, args.length));
        } else {
            org.openjdk.jmh.Main.main(withJvmArgs(args));
        }
    }

    /** Flags that the product's launcher gives its JVM. */
    static List<String> jvmArgs() {
        return JVM_ARGS;
    }

    /** The option may stand only once, so one that is given is extended. */
    static String[] withJvmArgs(String[] args) {
        List<String> all = new ArrayList<>(List.of(args));
        int option = all.indexOf(PREPEND_OPTION);
        if (option >= 0 && option + 1 < all.size()) {
            all.set(option + 1, String.join(" ", JVM_ARGS) + " " + all.get(option + 1));
        } else {
            all.add(PREPEND_OPTION);
            all.add(String.join(" ", JVM_ARGS));
        }
        return all.toArray(String[]::new);
    }
}
