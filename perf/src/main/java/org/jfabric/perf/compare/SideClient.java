package org.jfabric.perf.compare;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jfabric.ffi.Libc;
import org.jfabric.tool.ChildJvm;
import org.jfabric.tool.ToolException;

/** The rig's end of a {@link SideProcess}. Owner: the rig's thread. */
final class SideClient implements AutoCloseable {
    private static final long START_TIMEOUT_MS = 60_000;
    /** A process that is stopped when the rig dies continues, notices that, and ends itself. */
    private static final List<String> TIE = List.of("setpriv", "--pdeathsig", "CONT");
    static final int SIGCONT = 18;
    private static final int SIGSTOP = 19;

    private final LinkedBlockingQueue<ChildJvm.Line> lines = new LinkedBlockingQueue<>();
    private final SideRole role;
    private final ChildJvm process;
    /** Knows when the process began, so that no other process of the same number is taken for it. */
    private final ProcessHandle handle;
    private List<ProcessHandle> children = List.of();
    private boolean idle;
    private boolean stopped;

    /** Starts the process, which is of use when it is ready: processes of one contender start at the same time. */
    SideClient(String contender, SideRole role, SideKind kind, RigSettings settings, Launch launch) {
        this.role = role;
        boolean begins = role == SideRole.PING || role == SideRole.PING_DRIVER;
        List<String> arguments = new ArrayList<>(List.of(
            SideProcess.NAME,
            "--kind", kind.name(),
            "--role", role.name(),
            "--cpu", Integer.toString(begins ? settings.pingCpu() : settings.pongCpu()),
            "--other-cpu", Integer.toString(begins ? settings.pongCpu() : settings.pingCpu()),
            "--spinning", Boolean.toString(settings.spinning()),
            "--dir", settings.directory().toString()));
        if (!launch.bound()) {
            arguments.add("--unbound");
        }
        if (launch.cabled()) {
            arguments.addAll(List.of("--interface", Cable.INTERFACE));
        }
        List<String> prefix = new ArrayList<>(Programs.find(TIE.getFirst()) == null ? List.of() : TIE);
        if (launch.cabled()) {
            prefix.addAll(Cable.OWN_HOST);
        }
        process = new ChildJvm(contender + ' ' + role.text(), prefix, launch.flags(), launch.classPath(), arguments,
            SideProcess.MARK, lines);
        handle = ProcessHandle.of(process.pid()).orElse(null);
    }

    /** Waits until the process listens. */
    void awaitReady() throws InterruptedException {
        await("ready", START_TIMEOUT_MS);
    }

    SideRole role() {
        return role;
    }

    long pid() {
        return process.pid();
    }

    String title() {
        return process.title();
    }

    /** Gives a command and waits for the answer. */
    String call(String command, String answer) throws InterruptedException {
        send(command);
        return await(answer, START_TIMEOUT_MS);
    }

    void send(String command) {
        idle = false;
        process.send(command);
    }

    /**
     * Waits for an answer.
     *
     * @param timeoutMs longest wait in milliseconds.
     * @return the text behind the word.
     */
    String await(String word, long timeoutMs) throws InterruptedException {
        ChildJvm.Line line = lines.poll(timeoutMs, TimeUnit.MILLISECONDS);
        if (line == null) {
            throw new ToolException("The process " + process.title() + " did not answer within " + timeoutMs / 1_000
                + " s; the machine may be too busy.");
        }
        if (line.text() == null) {
            throw new ToolException("The process " + process.title() + " ended (" + process.end() + ").");
        }
        if (line.text().startsWith("failed ")) {
            throw new ToolException("The process " + process.title() + ": " + line.text().substring(7));
        }
        if (!line.text().equals(word) && !line.text().startsWith(word + ' ')) {
            throw new ToolException("The process " + process.title() + " answered \"" + line.text()
                + "\" instead of \"" + word + "\".");
        }
        idle = true;
        return line.text().substring(Math.min(line.text().length(), word.length() + 1));
    }

    /** Finds the processes that it has started until now, which stop with it. */
    void findChildren() {
        children = handle == null ? List.of() : handle.children().toList();
    }

    /** Stops the process with all its threads and children: it takes no processor time while others are measured. */
    void stop() {
        stopped = signal(SIGSTOP);
    }

    /** Lets it run again. */
    void resume() {
        if (stopped) {
            stopped = false;
            signal(SIGCONT);
        }
    }

    private boolean signal(int signal) {
        if (handle == null || !handle.isAlive()) {
            return false;
        }
        children.stream().filter(ProcessHandle::isAlive).forEach(each -> Libc.kill((int) each.pid(), signal));
        return Libc.kill((int) process.pid(), signal) == 0;
    }

    long memoryBytes() {
        return PassLoad.memoryBytes(process.pid());
    }

    long cpuNs() {
        return PassLoad.cpuNs(process.pid());
    }

    long compilerNs() {
        return PassLoad.compilerNs(process.pid());
    }

    /** A side in the middle of a pass does not read commands; its process is killed then. */
    @Override
    public void close() {
        resume();
        if (!idle) {
            process.kill();
        }
        process.close();
    }
}
