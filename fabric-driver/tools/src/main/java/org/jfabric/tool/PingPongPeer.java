package org.jfabric.tool;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.ffi.NativeCallException;
import org.jfabric.info.FabricException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * One process of a ping-pong, started and controlled by {@link PingPongCoordinator}: commands come in lines on the
 * standard input, answers go in marked lines to the standard output.
 *
 * <pre>
 *                               ready           the driver runs, the endpoint has its name
 *  connect DRIVER SERVICE       connected       the other side's address is inserted
 *  size BYTES                   sized           the passes that follow have messages of this payload
 *  explain NS PERIOD            explaining      outliers of the next pass with clocks are noted, from this length on;
 *                                               both sides sample after so many round trips
 *  report                       report TEXT     what was noted
 *  run PHASE COUNT              armed           the first receive is posted (pong)
 *                               progress N      round trips so far, now and then (ping)
 *                               done VALUE...   result of the phase
 *  quit                                         ends with status 0
 *                               failed TEXT     ends with status 1
 * </pre>
 *
 * <p>The end of the input without {@code quit} is the coordinator's death and ends this process at once.
 */
@Command(name = PingPongPeer.NAME, hidden = true, description = "A process of pingpong; not for users.")
final class PingPongPeer implements Callable<Integer> {
    static final String NAME = "pingpong-peer";
    /** Prefix of the lines for the coordinator; the virtual machine may write other lines. */
    static final String MARK = "#pingpong ";

    private static final long IDLE_NS = 100_000;
    private static final long PROGRESS_MS = 500;
    private static final int ORPHANED = 3;

    @Option(names = "--role", required = true)
    private PingPongRole role;
    @Option(names = "--dir", required = true)
    private Path directory;
    @Option(names = "--driver")
    private ThreadingMode driver;
    @Option(names = "--link", required = true)
    private String link;
    @Option(names = "--size", required = true)
    private long largestBytes;
    @Option(names = "--spinning", arity = "1", required = true)
    private boolean spinning;

    private final LinkedBlockingQueue<String> commands = new LinkedBlockingQueue<>();
    private final AtomicLong rounds = new AtomicLong(-1);
    private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);

    @Override
    public Integer call() {
        startReader();
        try {
            if (role == PingPongRole.DAEMON) {
                runDaemon();
            } else {
                runApplication();
            }
            return 0;
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            return 1;
        } catch (FabricException | NativeCallException | ToolException | IllegalStateException ex) {
            say("failed " + ex.getMessage().replaceAll("\\s*\\R\\s*", " "));
            return 1;
        }
    }

    private void runDaemon() throws InterruptedException {
        try (PingPongFabric fabric = PingPongFabric.daemon(directory, driver, link)) {
            say("ready");
            String command = commands.take();
            if (!command.equals("quit")) {
                throw unknown(command, fabric);
            }
        }
    }

    private void runApplication() throws InterruptedException {
        try (PingPongFabric fabric = PingPongFabric.application(directory, driver, link, largestBytes, role.text())) {
            say("ready");
            long peer = 0;
            PingPongPasses passes = null;
            while (true) {
                String[] words = next(passes).split(" ");
                switch (words[0]) {
                    case "connect" -> {
                        peer = fabric.peer(words[1], words[2]);
                        passes = new PingPongPasses(fabric, peer, largestBytes, spinning, rounds);
                        say("connected");
                    }
                    case "size" -> {
                        passes = new PingPongPasses(fabric, peer, Long.parseLong(words[1]), spinning, rounds);
                        say("sized");
                    }
                    case "explain" -> {
                        passes.explain(Long.parseLong(words[1]), Long.parseLong(words[2]));
                        say("explaining");
                    }
                    case "report" -> say("report " + passes.report());
                    case "run" -> run(passes, PingPongPhase.valueOf(words[1]), Long.parseLong(words[2]));
                    case "quit" -> {
                        return;
                    }
                    default -> throw unknown(words[0], fabric);
                }
            }
        }
    }

    private void run(PingPongPasses passes, PingPongPhase phase, long count) {
        if (role == PingPongRole.PONG) {
            passes.arm();
            say("armed");
            say("done " + passes.pong(phase, count));
        } else {
            rounds.set(0);
            String found = passes.ping(phase, count);
            rounds.set(-1);
            say("done " + found);
        }
    }

    /** Waits for the next command; an invoked driver has to be run meanwhile. */
    private String next(PingPongPasses passes) throws InterruptedException {
        if (passes == null) {
            return commands.take();
        }
        String command;
        while ((command = commands.poll()) == null) {
            passes.cycle();
            LockSupport.parkNanos(IDLE_NS);
        }
        return command;
    }

    private void startReader() {
        Thread reader = new Thread(this::read, "pingpong-commands");
        reader.setDaemon(true);
        reader.start();
        if (role == PingPongRole.PING) {
            Thread reporter = new Thread(this::report, "pingpong-progress");
            reporter.setDaemon(true);
            reporter.start();
        }
    }

    private void read() {
        String line = null;
        try (BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            while ((line = in.readLine()) != null) {
                commands.add(line);
                if (line.equals("quit")) {
                    return;
                }
            }
        } catch (IOException ex) {
            line = null;
        }
        if (line == null) {
            TemporaryDirectory.deleteOf(directory);
            Runtime.getRuntime().halt(ORPHANED);
        }
    }

    private void report() {
        while (true) {
            LockSupport.parkNanos(PROGRESS_MS * 1_000_000);
            long now = rounds.get();
            if (now >= 0) {
                say("progress " + now);
            }
        }
    }

    private void say(String line) {
        out.println(MARK + line);
    }

    private static ToolException unknown(String command, PingPongFabric fabric) {
        return new ToolException("the command \"" + command + "\" is not known (" + fabric + ").");
    }
}
