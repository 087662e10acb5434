package org.jfabric.driver;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jfabric.ffi.NativeCallException;
import org.jfabric.ffi.UnixSocket;

/**
 * Notifies the manager of services, such as systemd, by the protocol of sd_notify(3): datagrams of text to the socket
 * that the environment names. Without one, or if a datagram cannot be sent, nothing happens: the manager notices by its
 * timeouts. Owner: the daemon's main thread.
 */
final class ServiceManager {
    private static final int MAX_STATUS = 1024;

    private final String socket;
    private final long watchdogNs;
    private String lastStatus = "";

    /**
     * A connection to the manager that the environment names.
     *
     * @param environment {@code NOTIFY_SOCKET}, {@code WATCHDOG_USEC} and {@code WATCHDOG_PID}.
     * @param pid         of this process: a watchdog for another one does not count.
     */
    ServiceManager(Map<String, String> environment, long pid) {
        String name = environment.getOrDefault("NOTIFY_SOCKET", "");
        socket = name.startsWith("/") || name.startsWith("@") ? name : null;
        String watched = environment.get("WATCHDOG_PID");
        boolean isWatched = socket != null && (watched == null || watched.equals(Long.toString(pid)));
        watchdogNs = isWatched ? microseconds(environment.get("WATCHDOG_USEC")) : 0;
    }

    /**
     * The longest time between two signs of life.
     *
     * @return nanoseconds, 0 if none are expected.
     */
    long watchdogNs() {
        return watchdogNs;
    }

    /** The driver accepts clients. */
    void ready(String status) {
        lastStatus = statusLine(status);
        send("READY=1\n" + lastStatus);
    }

    /** The state in one line, sent if it is another one than the last. */
    void status(String status) {
        String line = statusLine(status);
        if (!line.equals(lastStatus)) {
            lastStatus = line;
            send(line);
        }
    }

    /** The driver closes. */
    void stopping(String status) {
        send("STOPPING=1\n" + statusLine(status));
    }

    /** All threads of the driver run their cycles. */
    void alive() {
        send("WATCHDOG=1");
    }

    private static String statusLine(String status) {
        String line = status.lines().findFirst().orElse("");
        return "STATUS=" + line.substring(0, Math.min(line.length(), MAX_STATUS));
    }

    private void send(String text) {
        if (socket == null) {
            return;
        }
        try {
            UnixSocket.sendDatagram(socket, text.getBytes(StandardCharsets.UTF_8));
        } catch (NativeCallException ex) {
            // a name that no socket can have
            return;
        }
    }

    private static long microseconds(String text) {
        try {
            return text == null ? 0 : TimeUnit.MICROSECONDS.toNanos(Math.max(0, Long.parseLong(text)));
        } catch (NumberFormatException ex) {
            return 0;
        }
    }
}
