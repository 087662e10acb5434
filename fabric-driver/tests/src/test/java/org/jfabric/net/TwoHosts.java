package org.jfabric.net;

import static org.junit.jupiter.api.Assumptions.abort;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestJvm;
import org.jfabric.test.TestProcess;

/**
 * Two network namespaces with a cable between them: nothing that one says to itself, or through the loopback interface,
 * reaches the other. Tests that need them are skipped, with the reason, where they cannot be made.
 */
public final class TwoHosts implements AutoCloseable {
    /** The one interface of each, and its addresses. */
    public static final String INTERFACE = "cable0";
    /** Address of the first. */
    public static final String FIRST_ADDRESS = "198.18.77.1";
    /** Address of the second. */
    public static final String SECOND_ADDRESS = "198.18.77.2";

    private static int made;

    private final String first;
    private final String second;
    /** Names of those that were {@link #add added}. */
    private final List<String> others = new ArrayList<>();

    private TwoHosts(String first, String second) {
        this.first = first;
        this.second = second;
    }

    /** Makes them, or aborts the test. */
    public static synchronized TwoHosts make() {
        if (!Files.isExecutable(Path.of("/usr/sbin/ip")) && !Files.isExecutable(Path.of("/sbin/ip"))) {
            abort("network namespaces need the program ip: install the package iproute2");
        }
        String name = "jfabric-" + ProcessHandle.current().pid() + '-' + made++;
        TwoHosts hosts = new TwoHosts(name + 'a', name + 'b');
        List<List<String>> steps = List.of(
            List.of("netns", "add", hosts.first),
            List.of("netns", "add", hosts.second),
            List.of("netns", "exec", hosts.first, "true"));
        String failure = first(steps);
        failure = failure == null ? hosts.lay() : failure;
        if (failure != null) {
            hosts.close();
            abort("network namespaces are not permitted here (" + failure + "); run the tests as root, or in a"
                + " container with CAP_SYS_ADMIN and CAP_NET_ADMIN");
        }
        return hosts;
    }

    /** Lays the cable; null, or why it failed. */
    private String lay() {
        return lay(INTERFACE, FIRST_ADDRESS, second, SECOND_ADDRESS);
    }

    /** Lays a cable from an interface of the first to that of another one. */
    private String lay(String device, String firstAddress, String other, String otherAddress) {
        String failure = first(List.of(
            List.of("link", "add", device, "netns", first, "type", "veth", "peer", "name", INTERFACE, "netns", other),
            List.of("-n", first, "addr", "add", firstAddress + "/24", "dev", device),
            List.of("-n", other, "addr", "add", otherAddress + "/24", "dev", INTERFACE),
            List.of("-n", first, "link", "set", device, "up"),
            List.of("-n", other, "link", "set", INTERFACE, "up")));
        if (failure == null) {
            awaitCable(first, device);
            awaitCable(other, INTERFACE);
        }
        return failure;
    }

    /**
     * Makes another one, with a cable of its own to the first. Returns the first's address at that cable.
     */
    public String add() {
        String name = first + others.size();
        String network = "198.18." + (78 + others.size()) + '.';
        others.add(name);
        String failure = ip(List.of("netns", "add", name));
        failure = failure == null ? lay("cable" + others.size(), network + 1, name, network + 2) : failure;
        if (failure != null) {
            throw new AssertionError(failure);
        }
        return network + 1;
    }

    /** Name of the last that was added. */
    public String added() {
        return others.getLast();
    }

    /** The first step that fails, and why; null if all succeed. */
    private static String first(List<List<String>> steps) {
        for (List<String> step : steps) {
            String failure = ip(step);
            if (failure != null) {
                return "ip " + String.join(" ", step) + ": " + failure;
            }
        }
        return null;
    }

    /** Another cable with other interfaces takes the place of the first one, with the same names and addresses. */
    public void replaceCable() {
        String failure = ip(List.of("-n", second, "link", "del", INTERFACE));
        failure = failure == null ? lay() : failure;
        if (failure != null) {
            throw new AssertionError(failure);
        }
    }

    /** An interface is up a moment after it was told to be. */
    private void awaitCable(String namespace, String device) {
        long deadlineNs = System.nanoTime() + Deadline.ns(10);
        String said;
        do {
            said = TestProcess.run("ip", "-n", namespace, "-br", "link", "show", "dev", device).output();
            if (System.nanoTime() - deadlineNs > 0) {
                close();
                throw new AssertionError("the cable is not up: " + said);
            }
        } while (!said.contains(" UP "));
    }

    /** Name of the first. */
    public String first() {
        return first;
    }

    /** Name of the second. */
    public String second() {
        return second;
    }

    /** The cable's end at the second is pulled out. */
    public void pullOut() {
        String failure = ip(List.of("-n", second, "link", "set", INTERFACE, "down"));
        if (failure != null) {
            throw new AssertionError(failure);
        }
    }

    /** Packets that have come to the first. */
    public long packets() {
        String text = TestProcess.run("ip", "netns", "exec", first, "cat", "/proc/net/dev").succeeded();
        for (String line : text.lines().toList()) {
            if (line.strip().startsWith(INTERFACE + ':')) {
                return Long.parseLong(line.substring(line.indexOf(':') + 1).strip().split("\\s+")[1]);
            }
        }
        throw new AssertionError(text);
    }

    /** Starts a Java program of the test's class path there. */
    public static TestProcess java(String namespace, Class<?> main, String... arguments) {
        List<String> command = new ArrayList<>(List.of("ip", "netns", "exec", namespace));
        command.addAll(TestJvm.command(List.of(), main, arguments));
        return TestProcess.start(command);
    }

    /** Null, or why it failed. */
    private static String ip(List<String> arguments) {
        List<String> command = new ArrayList<>(List.of("ip"));
        command.addAll(arguments);
        TestProcess process = TestProcess.start(command).ended();
        return process.status() == 0 ? null : process.output().strip();
    }

    @Override
    public void close() {
        ip(List.of("netns", "del", first));
        ip(List.of("netns", "del", second));
        others.forEach(other -> ip(List.of("netns", "del", other)));
    }
}
