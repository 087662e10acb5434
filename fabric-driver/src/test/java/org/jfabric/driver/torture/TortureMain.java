package org.jfabric.driver.torture;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The command {@code ./fabric torture}. */
@Command(
    name = "torture",
    mixinStandardHelpOptions = true,
    description = "Kills, stops and harms processes of this library that send each other messages, and checks what the"
        + " others notice of it. It makes its drivers and applications itself, in a directory of its own, and touches"
        + " no others. The exit status is 0 if there was no fault.")
final class TortureMain implements Callable<Integer> {
    @Option(
        names = "--minutes", paramLabel = "M", defaultValue = "1",
        description = "How long, default ${DEFAULT-VALUE}; may be a fraction.")
    private double minutes;

    @Option(
        names = "--seed", paramLabel = "S",
        description = "Of all choices; default: the time. It repeats the choices, not the timing.")
    private Long seed;

    @Option(
        names = "--slice", paramLabel = "SECONDS", defaultValue = "8",
        description = "How long each link and mode has its turn, default ${DEFAULT-VALUE}.")
    private long sliceSeconds;

    @Option(
        names = "--only", paramLabel = "LINK/MODE",
        description = "Only these, such as shm/daemon or tcp/invoker; default: all.")
    private List<String> only = new ArrayList<>();

    @Option(
        names = "--mutations", paramLabel = "N",
        description = "Instead of all this: changed messages, until each parser of tcp, rxm, shm and control has read N.")
    private long mutations;

    private TortureMain() {
    }

    public static void main(String[] args) {
        System.exit(new CommandLine(new TortureMain()).execute(args));
    }

    @Override
    public Integer call() {
        long chosen = seed == null ? System.currentTimeMillis() : seed;
        List<Cell> cells = only.isEmpty() ? Cell.all() : only.stream().map(Cell::parse).toList();
        System.out.println("torture: seed " + chosen + ", " + cells);
        try (TortureRun run = new TortureRun(cells, chosen, System.out)) {
            int faults = mutations > 0 ? run.mutate(mutations) : run.run(Math.round(minutes * 60), sliceSeconds);
            System.out.println(run.tally());
            System.out.println(faults == 0 ? "torture: no fault" : "torture: " + faults + " faults");
            return faults == 0 ? 0 : 1;
        }
    }
}
