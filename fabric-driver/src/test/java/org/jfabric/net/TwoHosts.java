package org.jfabric.net;

import static org.junit.jupiter.api.Assumptions.abort;

import org.jfabric.driver.hostile.ChildClassPath;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

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

    private TwoHosts(String first, String second) {
        this.first = first;
        this.second = second;
    }

    /** Makes them, or aborts the test. */
    public static synchronized TwoHosts make() throws IOException, InterruptedException {
        if (!Files.isExecutable(Path.of("/usr/sbin/ip")) && !Files.isExecutable(Path.of("/sbin/ip"))) {
            abort("network namespaces need the program ip: install the package iproute2");
        }
        String name = "jfabric-" + ProcessHandle.current().pid() + '-' + made++;
        TwoHosts hosts = new TwoHosts(name + 'a', name + 'b');
        List<List<String>> steps = List.of(
            List.of("netns", "add", hosts.first),
            List.of("netns", "add", hosts.second),
            List.of("link", "add", INTERFACE, "netns", hosts.first, "type", "veth", "peer", "name", INTERFACE, "netns",
                hosts.second),
            List.of("-n", hosts.first, "addr", "add", FIRST_ADDRESS + "/24", "dev", INTERFACE),
            List.of("-n", hosts.second, "addr", "add", SECOND_ADDRESS + "/24", "dev", INTERFACE),
            List.of("-n", hosts.first, "link", "set", INTERFACE, "up"),
            List.of("-n", hosts.second, "link", "set", INTERFACE, "up"),
            List.of("netns", "exec", hosts.first, "true"));
        for (List<String> step : steps) {
            String failure = ip(step);
            if (failure != null) {
                hosts.close();
                abort("network namespaces are not permitted here (ip " + String.join(" ", step) + ": " + failure
                    + "); run the tests as root, or in a container with CAP_SYS_ADMIN and CAP_NET_ADMIN");
            }
        }
        hosts.awaitCable(hosts.first);
        hosts.awaitCable(hosts.second);
        return hosts;
    }

    /** An interface is up a moment after it was told to be. */
    private void awaitCable(String namespace) throws IOException, InterruptedException {
        long deadlineNs = System.nanoTime() + 10_000_000_000L;
        String said;
        do {
            Process process =
                new ProcessBuilder("ip", "-n", namespace, "-br", "link", "show", "dev", INTERFACE).start();
            said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            process.waitFor();
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
    public void pullOut() throws IOException, InterruptedException {
        String failure = ip(List.of("-n", second, "link", "set", INTERFACE, "down"));
        if (failure != null) {
            throw new AssertionError(failure);
        }
    }

    /** Packets that have come to the first. */
    public long packets() throws IOException, InterruptedException {
        Process process = new ProcessBuilder("ip", "netns", "exec", first, "cat", "/proc/net/dev").start();
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        process.waitFor();
        for (String line : text.lines().toList()) {
            if (line.strip().startsWith(INTERFACE + ':')) {
                return Long.parseLong(line.substring(line.indexOf(':') + 1).strip().split("\\s+")[1]);
            }
        }
        throw new AssertionError(text);
    }

    /** Starts a Java program of the test's class path there. */
    public static Process java(String namespace, Class<?> main, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of("ip", "netns", "exec", namespace,
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx128m", "--add-opens", "java.base/jdk.internal.misc=ALL-UNNAMED",
            "--enable-native-access=ALL-UNNAMED"));
        command.addAll(ChildClassPath.FLAGS);
        command.addAll(ChildClassPath.options());
        command.add(main.getName());
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }

    /** Null, or why it failed. */
    private static String ip(List<String> arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("ip"));
        command.addAll(arguments);
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        return process.waitFor() == 0 ? null : said;
    }

    @Override
    public void close() {
        try {
            ip(List.of("netns", "del", first));
            ip(List.of("netns", "del", second));
        } catch (IOException e) {
            throw new AssertionError(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
