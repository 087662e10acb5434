package org.jfabric.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jfabric.ffi.DatagramListener;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ServiceManagerTest {
    private static final long PID = ProcessHandle.current().pid();

    @TempDir
    private Path folder;

    private static Map<String, String> environment(String socket, String... more) {
        Map<String, String> environment = new HashMap<>(Map.of("NOTIFY_SOCKET", socket));
        for (int i = 0; i < more.length; i += 2) {
            environment.put(more[i], more[i + 1]);
        }
        return environment;
    }

    @Test
    void shouldSendTheProtocolsLinesToAPath() {
        String path = folder.resolve("notify").toString();
        try (DatagramListener listener = new DatagramListener(path)) {
            sendAll(new ServiceManager(environment(path), PID));
            assertEquals(
                List.of("READY=1\nSTATUS=0 clients", "STATUS=1 client", "WATCHDOG=1",
                    "STOPPING=1\nSTATUS=a signal came"),
                listener.take());
        }
    }

    @Test
    void shouldSendTheSameToAnAbstractName() {
        String name = "@jfabric-test-" + PID;
        try (DatagramListener listener = new DatagramListener(name)) {
            sendAll(new ServiceManager(environment(name), PID));
            assertEquals(4, listener.take().size());
        }
    }

    private static void sendAll(ServiceManager manager) {
        manager.ready("0 clients");
        manager.status("0 clients");
        manager.status("1 client\nREADY=0");
        manager.status("1 client");
        manager.alive();
        manager.stopping("a signal came");
    }

    @Test
    void shouldCarryOnWithoutAManagerOrIfItHasGone() {
        for (String socket : List.of("", "vsock:2:1234", "@", folder + "/missing", "/" + "x".repeat(200))) {
            sendAll(new ServiceManager(environment(socket), PID));
        }
        sendAll(new ServiceManager(Map.of(), PID));
    }

    @Test
    void shouldExpectSignsOfLifeOnlyForThisProcess() {
        String socket = folder + "/notify";
        assertEquals(3_000_000_000L,
            new ServiceManager(environment(socket, "WATCHDOG_USEC", "3000000"), PID).watchdogNs());
        assertEquals(3_000_000_000L, new ServiceManager(
            environment(socket, "WATCHDOG_USEC", "3000000", "WATCHDOG_PID", Long.toString(PID)), PID).watchdogNs());
        assertEquals(0, new ServiceManager(
            environment(socket, "WATCHDOG_USEC", "3000000", "WATCHDOG_PID", "1"), PID).watchdogNs());
        assertEquals(0, new ServiceManager(environment(socket, "WATCHDOG_USEC", "soon"), PID).watchdogNs());
        assertEquals(0, new ServiceManager(Map.of("WATCHDOG_USEC", "3000000"), PID).watchdogNs());
        assertTrue(PID > 1);
    }
}
