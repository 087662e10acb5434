package org.jfabric.perf.compare;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.LockSupport;
import org.jfabric.driver.config.TcpConfig;
import org.jfabric.driver.config.UdpConfig;
import org.jfabric.ffi.Affinity;
import org.jfabric.info.FabricException;
import org.jfabric.tool.TemporaryDirectory;
import org.jfabric.tool.ToolCommand;
import org.jfabric.tool.ToolException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * A process of the rig, controlled by {@link SideClient}: commands come in lines on the standard input, answers go in
 * marked lines to the standard output. It lives through all rounds. Between two cells it has nothing open and sleeps.
 *
 * <pre>
 *  open PASS SIZE PORT DIR      opened          driver, endpoint and memory of a cell
 *  connect                      connected       the other side is found
 *  run PASS COUNT [profiled]    armed           (the answering side) the other side may begin
 *                               done REPORT
 *  watch THREAD                 watched         a driver's thread is profiled from here
 *  profile                      seen PROFILE    to here
 *  collect                      collected       the garbage of everything before is gone
 *  close                        closed
 *  quit                                         ends with status 0
 *                               failed TEXT     ends with status 1
 * </pre>
 *
 * <p>The end of the input without {@code quit} is the rig's death and ends this process at once.
 */
@Command(name = SideProcess.NAME, hidden = true, description = "A process of compare; not for users.")
public final class SideProcess implements ToolCommand {
    static final String NAME = "compare-side";
    /** Prefix of the lines that are meant for the rig. */
    static final String MARK = "#compare ";

    private static final long CYCLE_NS = 100_000;
    private static final int ORPHANED = 3;
    private static final int PROFILED_WORD = 3;
    private static final int DELETE_TRIES = 50;
    private static final long DELETE_PAUSE_NS = 20_000_000;

    @Option(names = "--kind", required = true)
    private SideKind kind;
    @Option(names = "--role", required = true)
    private SideRole role;
    @Option(names = "--cpu", required = true)
    private int cpu;
    @Option(names = "--other-cpu", required = true)
    private int otherCpu;
    @Option(names = "--spinning", arity = "1", required = true)
    private boolean spinning;
    @Option(names = "--unbound", description = "Leave the choice of the core to the scheduler.")
    private boolean unbound;
    @Option(names = "--interface", description = "Network interface that leads to the other side.")
    private String networkInterface = BarePort.LOOPBACK;
    @Option(names = "--dir", required = true)
    private Path base;

    private final LinkedBlockingQueue<String> commands = new LinkedBlockingQueue<>();
    private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    private Side side;
    private Profiler watching;

    /** Made by the command line. */
    public SideProcess() {
    }

    @Override
    public Integer call() {
        // the C programs are started with the loopback interface too
        System.setProperty(TcpConfig.INTERFACE.name(), networkInterface);
        System.setProperty(UdpConfig.INTERFACE.name(), networkInterface);
        Thread reader = new Thread(this::read, "compare-commands");
        reader.setDaemon(true);
        reader.start();
        try {
            // A driver binds its own threads; its main thread only waits.
            if (!role.drives() && !unbound) {
                Affinity.bind(cpu);
            }
            say("ready");
            String command;
            while (!(command = next()).equals("quit")) {
                obey(command.split(" "));
            }
            return 0;
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            return 1;
        } catch (RuntimeException ex) {
            say("failed " + String.valueOf(ex.getMessage() == null ? ex : ex.getMessage())
                .replaceAll("\\s*\\R\\s*", " "));
            if (!(ex instanceof ToolException) && !(ex instanceof FabricException)) {
                ex.printStackTrace();
            }
            return 1;
        } finally {
            if (side != null) {
                side.close();
            }
        }
    }

    private void obey(String[] words) {
        switch (words[0]) {
            case "open" -> {
                side = kind.open(new SideSettings(role, Pass.valueOf(words[1]), Integer.parseInt(words[2]),
                    Path.of(words[4]), Integer.parseInt(words[3]), cpu, otherCpu, spinning));
                say("opened");
            }
            case "connect" -> {
                side.connect();
                say("connected");
            }
            case "run" -> run(Pass.valueOf(words[1]), Long.parseLong(words[2]), words.length > PROFILED_WORD);
            case "watch" -> {
                watching = new Profiler(words[1]);
                say("watched");
            }
            case "profile" -> say("seen " + watching.end(base).format());
            case "collect" -> {
                System.gc();
                say("collected");
            }
            case "close" -> {
                side.close();
                side = null;
                say("closed");
            }
            default -> throw new IllegalArgumentException("the command \"" + words[0] + "\" is not known.");
        }
    }

    private void run(Pass pass, long count, boolean profiled) {
        Profiler profiler = profiled ? new Profiler(Thread.currentThread().getName()) : null;
        if (role == SideRole.PONG) {
            side.arm(pass);
            say("armed");
        }
        PassLoad.Span span = new PassLoad.Span();
        long result = side.run(pass, count);
        PassLoad load = span.end();
        say("done " + new SideReport(result, load, side.driverCycles(),
            pass.hasDistribution() ? side.distribution() : null,
            profiler == null ? null : profiler.end(base)).format());
    }

    /** Waits for the next command; an invoked driver has to be run meanwhile. */
    private String next() throws InterruptedException {
        if (side == null || role.drives()) {
            return commands.take();
        }
        String command;
        while ((command = commands.poll()) == null) {
            side.cycle();
            LockSupport.parkNanos(CYCLE_NS);
        }
        return command;
    }

    private void read() {
        try (BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            String line;
            while ((line = in.readLine()) != null) {
                commands.add(line);
                if (line.equals("quit")) {
                    return;
                }
            }
        } catch (IOException ex) {
            System.err.println("the rig's commands cannot be read: " + ex.getMessage());
        }
        // again if another orphan, which is about to end as well, has made a file meanwhile
        RunDirectory.deleteLogs(base);
        for (int i = 0; i < DELETE_TRIES && Files.exists(base); i++) {
            TemporaryDirectory.deleteOf(base.resolve("any"));
            LockSupport.parkNanos(DELETE_PAUSE_NS);
        }
        Runtime.getRuntime().halt(ORPHANED);
    }

    private void say(String line) {
        out.println(MARK + line);
    }
}
