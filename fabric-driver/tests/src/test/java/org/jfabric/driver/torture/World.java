package org.jfabric.driver.torture;

import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.kit.DescriptorLimit;
import org.jfabric.driver.kit.DriverProcess;
import org.jfabric.driver.kit.DriverView;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.UnixSocket;
import org.jfabric.info.FabricException;
import org.jfabric.info.SocketName;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestJvm;
import org.jfabric.test.TestProcess;

/** Two workers that send to each other over the link of a {@link Cell}, and what happens to them. */
final class World implements AutoCloseable {
    /** Every operation ends within that time after what it waits for. */
    static final long LIMIT_S = 2;

    private static final long VANDAL_MS = 1_500;
    private static final int SLACK = 3;
    private static final long HEAP_SLACK = 2 << 20;

    private final TortureRun run;
    private final Fleet fleet;
    private final Cell cell;
    private final SplittableRandom random;
    /** Of loopback: whether both are clients of beta. */
    private final boolean isAtBeta;
    private final Worker[] workers = new Worker[2];
    /** The one with index i is of worker i. */
    private final Conversation[] conversations = new Conversation[2];
    private final Census[] first = new Census[2];
    private final long[] firstHeap = new long[2];
    private final int[] survived = new int[2];
    /** Conversations whose connection a stop has made fail, see {@link Conversation#isExcusedBy}. */
    private final Set<Integer> excused = new HashSet<>();

    World(TortureRun run, Cell cell, SplittableRandom random) {
        this.run = run;
        this.fleet = run.fleet();
        this.cell = cell;
        this.random = random;
        isAtBeta = random.nextBoolean();
        for (int i = 0; i < 2; i++) {
            workers[i] = open(i);
        }
        converse();
    }

    /** The driver of a worker's daemon. */
    private DriverProcess daemon(int side) {
        return (cell.isLocal() ? isAtBeta : side == 1) ? fleet.beta() : fleet.alpha();
    }

    /** Over loopback worker 1 is a client of the driver in the process of worker 0. */
    private boolean isHosted() {
        return cell.isLocal() && !cell.isDaemon();
    }

    private Worker open(int side) {
        first[side] = null;
        survived[side] = 0;
        if (isHosted() && side == 1) {
            return run.open(new Cell(cell.link(), null), workers[0].directory(), random.nextLong());
        }
        return run.open(cell, cell.isDaemon() ? daemon(side).directory() : run.base().resolve("own-" + side),
            random.nextLong());
    }

    private void converse() {
        for (int i = 0; i < 2; i++) {
            conversations[i] = run.begin(workers[i], workers[1 - i]);
        }
    }

    void run(long untilNs) {
        while (System.nanoTime() - untilNs < 0) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20 + random.nextInt(run.plan().pauseMs())));
            check();
            harm();
            check();
            fleet.bystanders().assertUnharmed();
        }
        end(0);
        end(1);
        for (int i = 1; i >= 0; i--) {
            workers[i].check();
            quit(i);
        }
        if (cell.isDaemon()) {
            fleet.checkAtRest(cell.toString());
        }
    }

    private void harm() {
        Harm harm;
        do {
            harm = choose();
        } while (!run.plan().kinds().contains(harm));
        int side = random.nextInt(2);
        switch (harm) {
            case DISK -> fillDisk();
            case KILL -> kill(side);
            case STOP -> stop(workers[side].process(), "applications stopped");
            case ORDER -> replaceInOrder(side);
            case VANDAL -> vandalise(side);
            case FLOOD -> flood(side);
            case DRIVER -> harmDriver(side);
            case DESCRIPTORS -> exhaustDriver(side);
            default -> throw new AssertionError(harm);
        }
    }

    /** A kill twice as often as any other one; the last kinds need a process with a driver and no application. */
    private Harm choose() {
        int dice = random.nextInt(100);
        if (run.isDiskSmall() && dice < 30) {
            return Harm.DISK;
        }
        return dice < 45 ? Harm.KILL : dice < 60 ? Harm.STOP : dice < 70 ? Harm.ORDER : dice < 85 ? Harm.DRIVER
            : dice < 92 && cell.isDaemon() ? Harm.VANDAL : dice < 96 ? Harm.DESCRIPTORS : Harm.FLOOD;
    }

    private void harmDriver(int side) {
        if (!cell.isDaemon()) {
            kill(isHosted() ? 0 : side);
        } else if (run.plan().kinds().contains(Harm.STOP) && random.nextInt(3) == 0) {
            stop(daemon(side).process(), "daemons stopped");
        } else {
            killDriver();
        }
    }

    private void exhaustDriver(int side) {
        for (Conversation each : conversations) {
            // one that still connects may fail for want of a descriptor
            Deadline.awaitParked(() -> "the connection of " + each, () -> each.ledger().delivered() > 0);
        }
        if (cell.isDaemon()) {
            exhaust(daemon(side).process().pid(), daemon(side).directory());
        } else {
            exhaust(workers[side].pid(), workers[side].directory());
        }
    }

    /** A client of a worker's daemon scribbles, cuts and sends garbage; the workers do not notice. */
    private void vandalise(int side) {
        try (TestProcess vandal = TestJvm.start(Vandal.class, daemon(side).directory().toString(),
            Long.toString(random.nextLong()), Long.toString(VANDAL_MS))) {
            String[] done = vandal.hear("done").split(" ");
            run.tally().add("clients that were vandals", Long.parseLong(done[0]));
            run.tally().add("of these ended by the driver", Long.parseLong(done[1]));
            run.tally().add("scribbles in shared files", Long.parseLong(done[2]));
            run.tally().add("shared files cut", Long.parseLong(done[3]));
            run.tally().add("commands of garbage", Long.parseLong(done[4]));
            vandal.ended();
        }
        settle("operations ended after a vandal");
    }

    /** No descriptor is left in a process with a driver, while others connect to it. */
    private void exhaust(long pid, Path directory) {
        if (!DescriptorLimit.isChangeable()) {
            run.tally().add("skipped: no prlimit to exhaust descriptors", 1);
            return;
        }
        long most = DescriptorLimit.of(pid);
        DescriptorLimit.set(pid, DescriptorLimit.firstFree(pid) + random.nextInt(6));
        try {
            for (int i = 0; i < 8; i++) {
                flood(directory, 4);
                connect(directory);
            }
        } finally {
            DescriptorLimit.set(pid, most);
        }
        run.tally().add("processes without descriptors", 1);
        settle("operations ended after descriptors were there again");
    }

    /** Not a page is left for those who come; those who are there do not notice. */
    private void fillDisk() {
        Path filler = run.base().resolve("filler");
        try (FileChannel channel = FileChannel.open(
            filler, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            try {
                for (ByteBuffer page = ByteBuffer.allocate(4096); channel.write(page) > 0; page.clear()) {
                    continue;
                }
            } catch (IOException full) {
                run.tally().add("file systems filled", 1);
            }
            for (int i = 0; i < 4; i++) {
                connect(workers[0].directory());
            }
            settle("operations ended on a full file system");
        } catch (IOException e) {
            throw new AssertionError(e);
        } finally {
            filler.toFile().delete();
        }
    }

    /** A client that may be refused, and leaves at once. */
    private void connect(Path directory) {
        try (Fabric fabric = Fabric.connect(new FabricConfig().directory(directory)
            .connectTimeoutNs(TimeUnit.MILLISECONDS.toNanos(100)).commandTimeoutNs(TimeUnit.SECONDS.toNanos(1)))) {
            fabric.domain(fabric.info(cell.hints().linkName(cell.link())).best()).allocate(1 << 16).close();
        } catch (FabricException e) {
            run.tally().add("clients refused without descriptors or room", 1);
        }
    }

    private void flood(int side) {
        if (cell.embedded() != ThreadingMode.INVOKER) {
            flood(workers[side].directory(), 200);
            run.tally().add("silent connections", 200);
        }
        if (cell.link().equals("tcp") || cell.link().equals("rxm")) {
            SocketName name = SocketName.parse(workers[side].address());
            List<Socket> sockets = new ArrayList<>();
            try {
                for (int i = 0; i < 200; i++) {
                    sockets.add(new Socket(name.inetAddress(), name.port()));
                }
                run.tally().add("silent connections", 200);
                for (Socket each : sockets) {
                    each.close();
                }
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }
        settle("operations ended after a flood of connections");
    }

    /** Connections to a driver that say nothing, or half of a hello. */
    private void flood(Path directory, int count) {
        int[] sockets = new int[count];
        UnsafeBuffer bytes = new UnsafeBuffer(ByteBuffer.allocateDirect(64));
        for (int i = 0; i < count; i++) {
            sockets[i] = UnixSocket.connect(directory.resolve("driver.sock"), UnixSocket.SOCK_NONBLOCK);
            if (sockets[i] >= 0) {
                bytes.putInt(0, 40);
                UnixSocket.send(sockets[i], bytes.addressOffset(), random.nextInt(40), UnixSocket.MSG_DONTWAIT);
            }
        }
        for (int each : sockets) {
            if (each >= 0) {
                Libc.close(each);
            }
        }
    }

    /** All that was posted so far ends soon. */
    private void settle(String what) {
        long begin = System.nanoTime();
        for (Worker each : workers) {
            each.settle();
        }
        ended(what, begin, System.nanoTime());
    }

    /** No failure of a conversation whose both sides live, and no fault. */
    private void check() {
        List<String> failures = new ArrayList<>();
        for (Worker each : workers) {
            failures.addAll(each.check());
        }
        if (!excuses(failures, excused)) {
            throw new AssertionError("failed without a reason: " + failures + "\n" + this);
        }
        excused.clear();
        if (!failures.isEmpty()) {
            renew();
        }
        if (cell.isDaemon()) {
            fleet.checkAlive(fleet.alpha());
            fleet.checkAlive(fleet.beta());
        }
    }

    /**
     * Whether failures have a long stop as their reason: they are of conversations whose connection it may have made
     * fail, and one of these has reached its limit, which the other side of the attempt notices as an end.
     */
    static boolean excuses(List<String> failures, Set<Integer> conversations) {
        boolean isLate = false;
        for (String each : failures) {
            String[] words = each.split(" ");
            isLate |= words[2].equals("FI_ETIMEDOUT");
            if (!conversations.contains(Integer.parseInt(words[1]))
                || !words[2].equals("FI_ETIMEDOUT") && !words[2].equals("FI_ECONNRESET")) {
                return false;
            }
        }
        return isLate || failures.isEmpty();
    }

    /** Other conversations, after the connection of one has failed as it had to. */
    private void renew() {
        for (int i = 0; i < 2; i++) {
            if (conversations[i].ledger().failed() == 0) {
                end(i);
            } else {
                run.tally().add("conversations whose connection failed by a long stop", 1);
                workers[i].end(conversations[i].number());
                judge(conversations[i]);
            }
        }
        closeConversations();
        converse();
    }

    private void kill(int side) {
        if (isHosted() && side == 0) {
            killHost();
            return;
        }
        Worker victim = workers[side];
        Worker survivor = workers[1 - side];
        long begin = System.nanoTime();
        victim.kill();
        countKill(!cell.isDaemon() && !isHosted());
        long last = survivor.end(conversations[1 - side].number());
        ended("operations ended after a kill over " + cell.link(), begin, last);
        survivor.check();
        victim.check();
        judgeAtDeath(conversations[1 - side]);
        judge(conversations[side]);
        closeConversations();
        victim.close();
        workers[side] = open(side);
        compare(1 - side);
        converse();
    }

    private void countKill(boolean hasDriver) {
        run.tally().add("applications killed over " + cell.link(), 1);
        run.tally().add(hasDriver ? "killed: applications with drivers" : "killed: clients of drivers elsewhere", 1);
    }

    private void killHost() {
        long begin = System.nanoTime();
        workers[0].kill();
        countKill(true);
        workers[1].awaitGone();
        run.tally().time("clients notified of their driver's end", System.nanoTime() - begin);
        workers[0].check();
        workers[1].check();
        judge(conversations[0]);
        judgeAtDeath(conversations[1]);
        closeConversations();
        workers[1].quit();
        for (int i = 0; i < 2; i++) {
            workers[i].close();
            workers[i] = open(i);
        }
        converse();
    }

    /** What the survivor of some kills has, against what it had after the first two. */
    private void compare(int side) {
        if (++survived[side] < 3) {
            return;
        }
        Worker worker = workers[side];
        if (first[side] == null) {
            first[side] = Census.of(worker.pid());
            firstHeap[side] = worker.heap();
            return;
        }
        Deadline.awaitParked(() -> "kept: " + Census.of(worker.pid()).growthSince(first[side], SLACK) + ", "
            + Census.details(worker.pid()) + "\n" + this,
            () -> Census.of(worker.pid()).growthSince(first[side], SLACK) == null);
        Fleet.requireHeap("the worker", worker::heap, firstHeap[side] + HEAP_SLACK, this::toString);
        run.tally().add("comparisons of descriptors, mappings, threads, heap", 1);
    }

    private void stop(Process process, String what) {
        long pause = run.plan().stopLeastNs() == 0
            ? TimeUnit.MILLISECONDS.toNanos(random.nextInt(20, random.nextInt(8) == 0 ? 2_500 : 400))
            : random.nextLong(run.plan().stopLeastNs(), run.plan().stopMostNs() + 1);
        TestProcess.signal(process, "STOP");
        try {
            LockSupport.parkNanos(pause);
        } finally {
            for (Conversation each : conversations) {
                if (each.isExcusedBy(pause)) {
                    excused.add(each.number());
                }
            }
            TestProcess.signal(process, "CONT");
        }
        run.tally().add(what, 1);
        run.tally().time("stops", pause);
        settle("operations ended after a stop");
    }

    private void replaceInOrder(int side) {
        end(side);
        end(1 - side);
        boolean isHost = isHosted() && side == 0;
        if (isHost) {
            quit(1);
        }
        quit(side);
        run.tally().add("applications ended in order", isHost ? 2 : 1);
        workers[side] = open(side);
        if (isHost) {
            workers[1] = open(1);
        }
        converse();
    }

    private void quit(int side) {
        workers[side].quit();
        workers[side].check();
        if (!cell.isDaemon() && !(isHosted() && side == 1)) {
            Fleet.checkClean(workers[side].directory());
        }
        workers[side].close();
    }

    private void killDriver() {
        boolean isOfBoth = cell.isLocal();
        if (isOfBoth && !isAtBeta) {
            return;
        }
        long begin = fleet.killBeta();
        for (int i = isOfBoth ? 0 : 1; i < 2; i++) {
            workers[i].awaitGone();
        }
        run.tally().time("clients notified of their driver's end", System.nanoTime() - begin);
        if (!isOfBoth) {
            long last = workers[0].end(conversations[0].number());
            ended("operations ended after the kill of a driver", begin, last);
        }
        for (Worker each : workers) {
            each.check();
        }
        judge(conversations[0]);
        judge(conversations[1]);
        closeConversations();
        for (int i = isOfBoth ? 0 : 1; i < 2; i++) {
            workers[i].quit();
            workers[i].check();
            workers[i].close();
        }
        fleet.restartBeta();
        for (int i = isOfBoth ? 0 : 1; i < 2; i++) {
            workers[i] = open(i);
        }
        if (!isOfBoth) {
            compare(0);
        }
        converse();
    }

    private void ended(String what, long begin, long last) {
        long took = Math.max(0, last - begin);
        long sleeper = run.sleeper().latest(begin, begin + took);
        run.tally().time(what, took);
        run.tally().time("meanwhile a thread that only sleeps was late by", sleeper);
        String late = what + ": only after " + took / 1_000_000 + " ms; a thread that only sleeps was late by "
            + sleeper / 1_000_000 + " ms meanwhile";
        if (took > TimeUnit.SECONDS.toNanos(LIMIT_S)) {
            // on a slow machine it may be no fault; then at least it is seen, with what may name the cause
            run.note(cell + ": " + late + ", " + errorsOfDrivers());
        }
        if (run.isTimeJudged() && took > Deadline.ns(LIMIT_S) + sleeper) {
            throw new AssertionError(late + "\n" + this);
        }
    }

    /** What the drivers of both workers have logged, such as a peer that did not answer in time. */
    private String errorsOfDrivers() {
        StringBuilder text = new StringBuilder();
        for (Worker each : workers) {
            text.append("errors in ").append(each.directory().getFileName()).append(": ");
            try (DriverView view = new DriverView(each.directory())) {
                text.append(view.errors());
            } catch (RuntimeException e) {
                text.append("cannot be read, ").append(e);
            }
            text.append("; ");
        }
        return text.toString();
    }

    /** In order: both live, so every message arrives, and those confirmed are all of them. */
    private void end(int side) {
        Conversation conversation = conversations[side];
        workers[side].end(conversation.number());
        Ledger ledger = conversation.ledger();
        if (ledger.failed() != 0) {
            throw new AssertionError("failed without a reason: " + conversation + "\n" + this);
        }
        if (cell.isReliable()) {
            Deadline.awaitParked(() -> "not all have arrived, " + conversation + "\n" + this,
                () -> ledger.received() == ledger.posted() && ledger.delivered() == ledger.posted());
            requireAccesses(conversation, true);
        }
        judge(conversation);
        conversation.close();
        conversations[side] = null;
    }

    private void judge(Conversation conversation) {
        if (cell.isReliable()) {
            Deadline.awaitParked(() -> "confirmed and not received: " + conversation.ledger().lost() + " of "
                + conversation
                + "\n" + this, () -> conversation.ledger().lost().isEmpty());
            requireAccesses(conversation, false);
        }
        count(conversation);
    }

    private void judgeAtDeath(Conversation conversation) {
        if (cell.isReliable()) {
            List<Long> lost = conversation.lostAtDeath();
            if (!lost.isEmpty()) {
                throw new AssertionError("confirmed and not received: " + lost + " of " + conversation + "\n" + this);
            }
            requireAccesses(conversation, false);
        }
        count(conversation);
    }

    /** The receiver's memory, also of one that was killed, has what confirmed accesses have left there. */
    private void requireAccesses(Conversation conversation, boolean hasEnded) {
        String fault = conversation.faultOfAccesses(hasEnded);
        if (fault != null) {
            throw new AssertionError(fault + " of " + conversation + "\n" + this);
        }
    }

    private void count(Conversation conversation) {
        if (conversation.ledger().hasInvented()) {
            throw new AssertionError("received and not posted: " + conversation + "\n" + this);
        }
        run.tally().add("messages received over " + cell.link(), conversation.ledger().received());
        run.tally().add("messages confirmed", cell.isReliable() ? conversation.ledger().delivered() : 0);
        run.tally().add("operations failed with their peer", conversation.ledger().failed());
        run.tally().add("remote writes confirmed", conversation.ledger().writesConfirmed());
        run.tally().add("remote reads compared", conversation.ledger().readsCompared());
        run.tally().add("remote additions confirmed", conversation.ledger().additionsConfirmed());
        if (cell.isReliable() && !conversation.to().hasArea()) {
            run.tally().add("skipped: no stable storage for remote memory", 1);
        }
    }

    private void closeConversations() {
        for (int i = 0; i < 2; i++) {
            if (conversations[i] != null) {
                conversations[i].close();
                conversations[i] = null;
            }
        }
    }

    /** The stacks of all processes, for a failure. */
    void dump() {
        for (Worker each : workers) {
            if (each != null) {
                each.dump();
            }
        }
    }

    @Override
    public void close() {
        closeConversations();
        for (Worker each : workers) {
            if (each != null) {
                each.close();
            }
        }
    }

    @Override
    public String toString() {
        List<String> text = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            text.add(conversations[i] + ", from " + workers[i]);
        }
        return cell + ": " + String.join("\n", text);
    }
}
