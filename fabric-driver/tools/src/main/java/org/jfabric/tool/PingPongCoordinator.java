package org.jfabric.tool;

import java.io.PrintWriter;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Starts the processes of a ping-pong, controls them by commands, and ends them in every case. It only waits: the
 * processes do the work. Owner: the main thread; the hook at the end of the process may close it as well.
 */
final class PingPongCoordinator implements AutoCloseable {
    private static final long START_TIMEOUT_MS = 120_000;
    private static final long STALL_TIMEOUT_MS = 60_000;
    private static final long LAST_WORDS_MS = 300;

    private static final long WARM_LEAST_NS = 1_500_000_000L;
    private static final long WARM_MOST_NS = 3_000_000_000L;
    private static final long WARM_LEAST_ROUNDS = 100_000;
    private static final long WARM_BLOCK_NS = 300_000_000L;
    private static final long FIRST_BLOCK_BYTES = 64L << 20;
    /** Few round trips: where threads share cores each may take 20 ms, and the speed is not known yet. */
    private static final long FIRST_BLOCK_ROUNDS = 200;
    private static final long CLOCKED_WARM_ROUNDS = 50_000;
    /** A user who asks for few round trips does not want to wait for many in the warm-up. */
    private static final long WARM_PER_ROUND = 20;

    /** Approximate duration of a pass if the user gives no count; all passes of a size then take well below 30 s. */
    private static final long PASS_NS = 1_500_000_000L;
    private static final long MOST_ROUNDS = 1_000_000;

    private final PingPongPlan plan;
    private final PingPongPlaces places;
    private final PrintWriter progress;
    private final TemporaryDirectory directory;
    private final LinkedBlockingQueue<ChildJvm.Line> lines = new LinkedBlockingQueue<>();
    private final List<ChildJvm> children = new ArrayList<>();
    private final Map<ChildJvm, Deque<String>> unread = new HashMap<>();
    private final Map<PingPongRole, ChildJvm> byRole = new EnumMap<>(PingPongRole.class);
    private final Thread hook = new Thread(() -> end(false), "pingpong-end");
    /** Null unless outliers are to be explained. */
    private PingPongExplanation explanation;
    private boolean finished;
    private volatile boolean ended;

    private String stage = "";
    private long stageRounds;
    private long pongVerified;

    /** Prepares a run; nothing is started yet. */
    PingPongCoordinator(PingPongPlan plan, PingPongPlaces places, PrintWriter progress) {
        this.plan = plan;
        this.places = places;
        this.progress = progress;
        directory = TemporaryDirectory.create(plan.largestBytes());
        Runtime.getRuntime().addShutdownHook(hook);
    }

    /** Has outliers explained; before the run. */
    void explain(double times) {
        explanation = new PingPongExplanation(plan, directory.path(), times);
    }

    /**
     * Runs all passes with each size.
     *
     * @param wantedCount round trips in each pass, 0 for as many as take a moment.
     * @throws ToolException if a process fails, ends or stalls.
     */
    void run(long wantedCount, Consumer<PingPongResult> results) throws InterruptedException {
        if (directory.note() != null) {
            progress.println(directory.note());
        }
        start();
        for (long sizeBytes : plan.sizes()) {
            command(PingPongRole.PONG, "size " + sizeBytes, "sized");
            command(PingPongRole.PING, "size " + sizeBytes, "sized");
            results.accept(passes(sizeBytes, wantedCount));
        }
        finished = true;
    }

    private PingPongResult passes(long sizeBytes, long wantedCount) throws InterruptedException {
        long roundTripNs = warmUp(sizeBytes, wantedCount);
        long count = wantedCount > 0 ? wantedCount : defaultCount(roundTripNs);
        long verified = pass(PingPongPhase.VERIFY, count, "comparing contents")[0];
        verified += pongVerified;
        if (verified != 2 * count) {
            throw new ToolException("Of " + 2 * count + " messages " + verified + " were compared; this is a defect of"
                + " JFabric, please report it.");
        }
        MachineLoad load = new MachineLoad(children.stream().map(ChildJvm::pid).toList());
        long elapsedNs = pass(PingPongPhase.TIMED, count, "timing without clocks per message")[0];
        stage("warming up with clocks", 0);
        long[] warm = pass(PingPongPhase.CLOCKED, Math.min(CLOCKED_WARM_ROUNDS, count), null);
        if (explanation != null) {
            String explain = explanation.begin(warm[1]);
            command(PingPongRole.PONG, explain, "explaining");
            command(PingPongRole.PING, explain, "explaining");
        }
        long[] found = pass(PingPongPhase.CLOCKED, count, "timing each round trip");
        PingPongResult result = PingPongResult.of(plan, sizeBytes, count, verified, elapsedNs,
            new PingPongResult.Latency(
                found[1] / 2.0, found[2] / 2.0, found[3] / 2.0, found[4] / 2.0, found[5] / 2.0), load.seen());
        return explanation == null ? result : result.with(explanation.end(
            command(PingPongRole.PING, "report", "report"), command(PingPongRole.PONG, "report", "report")));
    }

    /** Ends the processes and deletes their folder. */
    @Override
    public void close() {
        end(finished);
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException ex) {
            // The process is ending and the hook runs, or ran.
            return;
        }
    }

    /**
     * Round trips of a pass for a given speed: 1, 2 or 5 times a power of ten.
     *
     * @param roundTripNs of one round trip, as seen while warming up.
     */
    static long defaultCount(long roundTripNs) {
        long affordable = Math.clamp(PASS_NS / Math.max(1, roundTripNs), 1, MOST_ROUNDS);
        long count = 1;
        while (count * 10 <= affordable) {
            count *= 10;
        }
        return affordable >= 5 * count ? 5 * count : affordable >= 2 * count ? 2 * count : count;
    }

    /** Starts the processes; those that wait for no other one start at the same time. */
    private void start() throws InterruptedException {
        List<ChildJvm> drivers = new ArrayList<>();
        List<ChildJvm> clients = new ArrayList<>();
        for (PingPongPlan.Member member : plan.processes()) {
            boolean hasDriver = member.driver() != null;
            if (!hasDriver) {
                // a process that attaches to a driver needs a running one
                awaitReady(drivers);
            }
            stage("starting " + member.title(), 0);
            ChildJvm child = startChild(member);
            (hasDriver ? drivers : clients).add(child);
            if (member.role() != PingPongRole.DAEMON) {
                byRole.put(member.role(), child);
            }
        }
        awaitReady(drivers);
        awaitReady(clients);
        connect(PingPongRole.PONG, PingPongRole.PING);
        connect(PingPongRole.PING, PingPongRole.PONG);
    }

    private void awaitReady(List<ChildJvm> starting) throws InterruptedException {
        for (ChildJvm child : starting) {
            await(child, "ready", START_TIMEOUT_MS);
        }
        starting.clear();
    }

    private ChildJvm startChild(PingPongPlan.Member member) {
        List<String> arguments = new ArrayList<>(List.of(
            PingPongPeer.NAME,
            "--role", member.role().name(),
            "--dir", directory.path().resolve(member.driverName()).toString(),
            "--link", plan.driverLink(),
            "--size", Long.toString(plan.largestBytes()),
            "--spinning", Boolean.toString(plan.spinning())));
        if (member.driver() != null) {
            arguments.add("--driver");
            arguments.add(member.driver().name());
        }
        synchronized (this) {
            if (ended) {
                throw new ToolException("The run was ended.");
            }
            List<String> flags = new ArrayList<>(places.flags(member));
            if (explanation != null) {
                flags.addAll(explanation.flags(member));
            }
            ChildJvm child = new ChildJvm(
                member.title(), places.prefix(member), flags, null, arguments, PingPongPeer.MARK, lines);
            children.add(child);
            unread.put(child, new ArrayDeque<>());
            return child;
        }
    }

    private void connect(PingPongRole role, PingPongRole to) throws InterruptedException {
        command(role, "connect " + plan.driverOf(to) + ' ' + to.text(), "connected");
    }

    private String command(PingPongRole role, String command, String answer) throws InterruptedException {
        ChildJvm child = byRole.get(role);
        child.send(command);
        return await(child, answer, START_TIMEOUT_MS);
    }

    /** Runs the timed loop until the compiler has had time for it; returns the time of a round trip. */
    private long warmUp(long sizeBytes, long wantedCount) throws InterruptedException {
        long mostRounds = wantedCount > 0 ? Math.max(WARM_PER_ROUND * wantedCount, FIRST_BLOCK_ROUNDS) : Long.MAX_VALUE;
        long block = Math.clamp(FIRST_BLOCK_BYTES / Math.max(1, sizeBytes), 1, FIRST_BLOCK_ROUNDS);
        long rounds = 0;
        long spentNs = 0;
        long roundTripNs;
        stage("warming up", 0);
        do {
            long elapsedNs = pass(PingPongPhase.WARM, block, null)[0];
            rounds += block;
            spentNs += elapsedNs;
            roundTripNs = Math.max(1, elapsedNs / block);
            block = Math.clamp(WARM_BLOCK_NS / roundTripNs, 1, Math.max(1, mostRounds - rounds));
        } while (spentNs < WARM_MOST_NS && rounds < mostRounds
            && (spentNs < WARM_LEAST_NS || rounds < WARM_LEAST_ROUNDS));
        // The slower of the last block and of all blocks: where threads sleep, the speed varies at random.
        return Math.max(roundTripNs, spentNs / rounds);
    }

    private long[] pass(PingPongPhase phase, long count, String title) throws InterruptedException {
        if (title != null) {
            stage(title, count);
        }
        String command = "run " + phase + ' ' + count;
        ChildJvm ping = byRole.get(PingPongRole.PING);
        ChildJvm pong = byRole.get(PingPongRole.PONG);
        pong.send(command);
        await(pong, "armed", START_TIMEOUT_MS);
        ping.send(command);
        long[] found = numbers(await(ping, "done", STALL_TIMEOUT_MS));
        pongVerified = numbers(await(pong, "done", STALL_TIMEOUT_MS))[0];
        return found;
    }

    /**
     * Waits for a child's word.
     *
     * @param timeoutMs longest time without any sign of progress.
     * @return the text behind the word.
     */
    private String await(ChildJvm child, String word, long timeoutMs) throws InterruptedException {
        long progressSeen = -1;
        long deadlineNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        while (unread.get(child).isEmpty()) {
            ChildJvm.Line line = lines.poll(Math.max(0, deadlineNs - System.nanoTime()), TimeUnit.NANOSECONDS);
            if (line == null) {
                throw new ToolException("The process " + child.title() + " was not heard of for " + timeoutMs / 1_000
                    + " s while " + stage + "; the machine may be too busy, or too few messages arrive for this size.");
            }
            if (line.text() != null && line.text().startsWith("progress ")) {
                long now = Long.parseLong(line.text().substring("progress ".length()));
                if (now != progressSeen) {
                    progressSeen = now;
                    deadlineNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
                    showRounds(now);
                }
            } else {
                accept(line);
            }
        }
        String text = unread.get(child).poll();
        if (!text.equals(word) && !text.startsWith(word + ' ')) {
            throw new ToolException(
                "The process " + child.title() + " answered \"" + text + "\" instead of \"" + word + "\".");
        }
        return text.substring(Math.min(text.length(), word.length() + 1));
    }

    private void accept(ChildJvm.Line line) throws InterruptedException {
        String text = line.text();
        if (text != null && !text.startsWith("failed ")) {
            unread.get(line.child()).add(text);
            return;
        }
        if (ended) {
            throw new ToolException("The run was ended.");
        }
        // The first process that fails may not be the cause: when one dies, the other one's sends fail.
        List<String> reasons = new ArrayList<>();
        reasons.add(reason(line));
        ChildJvm.Line other;
        while ((other = lines.poll(LAST_WORDS_MS, TimeUnit.MILLISECONDS)) != null) {
            boolean again = other.child() == line.child();
            if (!again && (other.text() == null || other.text().startsWith("failed "))) {
                reasons.add(reason(other));
            }
        }
        throw new ToolException("While " + stage + ": " + String.join(" ", reasons));
    }

    private static String reason(ChildJvm.Line line) {
        String who = "process " + line.child().title();
        return line.text() == null ? who + " ended (" + line.child().end() + ")."
            : who + ": " + line.text().substring("failed ".length());
    }

    private void stage(String title, long rounds) {
        stage = title;
        stageRounds = rounds;
        progress.println(rounds == 0 ? title : String.format(Locale.ROOT, "%s: %,d round trips", title, rounds));
        progress.flush();
    }

    private void showRounds(long now) {
        if (now > 0 && stageRounds > now) {
            progress.printf(Locale.ROOT, "  %d %%%n", 100 * now / stageRounds);
            progress.flush();
        }
    }

    /** Ends the processes. A process in the middle of a pass does not read commands, so it is killed. */
    private synchronized void end(boolean asked) {
        if (ended) {
            return;
        }
        ended = true;
        // Applications before drivers, so that no driver reports a dead peer.
        for (int i = children.size() - 1; i >= 0; i--) {
            if (!asked) {
                children.get(i).kill();
            }
            children.get(i).close();
        }
        directory.close();
    }

    private static long[] numbers(String text) {
        String[] words = text.split(" ");
        long[] numbers = new long[words.length];
        for (int i = 0; i < words.length; i++) {
            numbers[i] = Long.parseLong(words[i]);
        }
        return numbers;
    }
}
