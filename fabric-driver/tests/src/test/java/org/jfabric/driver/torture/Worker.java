package org.jfabric.driver.torture;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestJvm;
import org.jfabric.test.TestProcess;

/** A {@link TortureWorker} as its controller sees it. */
final class Worker implements AutoCloseable {
    private final TestProcess process;
    private final Path folder;
    private final int number;
    private final Path directory;
    private final String address;
    private final RemoteArea area;
    /** Lines whose faults and failures were seen. */
    private int checked;

    private Worker(TestProcess process, Cell cell, Path directory, Path folder, int number, long seed) {
        this.process = process;
        this.folder = folder;
        this.number = number;
        this.directory = directory;
        process.say("open " + cell + ' ' + directory + ' ' + folder + ' ' + number + ' ' + seed);
        String[] ready = process.hear("ready").split(" ");
        address = ready[0];
        area = RemoteArea.parse(ready, 1);
    }

    /** A process that has no endpoint yet. */
    static TestProcess spawn() {
        return TestJvm.start(TortureWorker.class);
    }

    static Worker open(TestProcess process, Cell cell, Path directory, Path folder, int number, long seed) {
        return new Worker(process, cell, directory, folder, number, seed);
    }

    String address() {
        return address;
    }

    Path directory() {
        return directory;
    }

    Process process() {
        return process.process();
    }

    long pid() {
        return process.pid();
    }

    void listen(int conversation) {
        process.say("listen " + conversation);
        process.awaitLine("listening");
    }

    void send(int conversation, Worker to) {
        process.say("send " + conversation + ' ' + to.address + ' ' + to.area.words());
        process.awaitLine("sending");
    }

    /** Ends a conversation; returns the time of the end of its last operation. */
    long end(int conversation) {
        process.say("end " + conversation);
        return Long.parseLong(process.hear("ended"));
    }

    /** All that was posted before ends; returns the nanoseconds that took. */
    long settle() {
        long begin = System.nanoTime();
        process.say("settle");
        process.awaitLine("settled");
        return System.nanoTime() - begin;
    }

    /** Bytes of the heap that are in use. */
    long heap() {
        process.say("census");
        return Long.parseLong(process.hear("census"));
    }

    /** Its driver has ended, and it has read what that had written. */
    void awaitGone() {
        process.awaitLine("gone");
    }

    void quit() {
        process.say("quit");
        process.awaitLine("closed");
        process.ended();
    }

    void kill() {
        process.kill();
    }

    /** Fails if it has reported a fault since the last call; returns the failures of conversations since then. */
    List<String> check() {
        List<String> lines = process.lines();
        List<String> since = lines.subList(checked, lines.size());
        checked = lines.size();
        for (String line : since) {
            if (line.startsWith("fault ")) {
                throw new AssertionError("worker " + number + ": " + line + "\n" + process);
            }
        }
        return since.stream().filter(line -> line.startsWith("failed ")).toList();
    }

    /** Whether a receive of it holds that message, which it has not accounted for before its end. */
    boolean holds(int conversation, long message) {
        return holds(TortureWorker.memoryPath(folder, number), conversation, message);
    }

    boolean hasArea() {
        return area.isThere();
    }

    /** What is in its area and contradicts the ledger of a conversation, or null. */
    String faultOfAccesses(int conversation, Ledger ledger, boolean hasEnded) {
        return area.isThere() ? RemoteArea.fault(RemoteArea.path(folder, number), conversation, ledger, hasEnded)
            : null;
    }

    /** Whether a message is in one of the places of a file. */
    static boolean holds(Path file, int conversation, long message) {
        int length = TortureWorker.RECEIVES * Payload.LONGEST;
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            UnsafeBuffer memory = new UnsafeBuffer(channel.map(FileChannel.MapMode.READ_ONLY, 0, length));
            for (int at = 0; at < length; at += Payload.LONGEST) {
                if (Payload.conversation(memory, at) == conversation && Payload.number(memory, at) == message
                    && Payload.isWhole(memory, at)) {
                    return true;
                }
            }
            return false;
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** The stacks of its threads, into its output, for a failure. */
    void dump() {
        if (process.isAlive()) {
            TestProcess.signal(process(), "QUIT");
            Deadline.in(1).until("the stacks", () -> process.output().contains("JNI global refs"), Thread::yield,
                () -> "");
        }
    }

    @Override
    public void close() {
        process.close();
        TortureWorker.memoryPath(folder, number).toFile().delete();
        RemoteArea.path(folder, number).toFile().delete();
    }

    @Override
    public String toString() {
        return "worker " + number + " in " + directory + ", " + process;
    }
}
