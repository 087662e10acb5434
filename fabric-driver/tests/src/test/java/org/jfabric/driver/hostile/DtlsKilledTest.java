package org.jfabric.driver.hostile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.driver.kit.DatagramPair;
import org.jfabric.driver.kit.DriverProcess;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.TestKeys;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Two driver processes exchange datagrams over DTLS; one is killed, and another one takes its address. */
@Tag("hostile")
@Timeout(120)
class DtlsKilledTest {
    private static final int LENGTH = 1000;

    private final Path base = TestDirectory.create();
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();

    @AfterEach
    void closeAll() throws Exception {
        while (!opened.isEmpty()) {
            opened.pop().close();
        }
        TestDirectory.delete(base);
    }

    private DriverProcess launch(String name, String key, String trusted) {
        List<String> options = new ArrayList<>(List.of("jfabric.link.enabled=loopback,shm,dtls",
            "jfabric.udp.interface=lo", "jfabric.tls.policy=REQUIRED", "jfabric.dtls.silenceNs=300ms",
            "jfabric.dtls.handshakeTimeoutNs=4s"));
        options.addAll(TestKeys.files(base, key, trusted).assignments());
        DriverProcess driver = DriverProcess.launch(base.resolve(name), options.toArray(String[]::new));
        opened.push(driver);
        return driver;
    }

    private FabricNode node(DriverProcess driver, String address) {
        FabricNode node = new FabricNode(Fabric.connect(new FabricConfig().directory(driver.directory())), "dtls",
            DatagramPair.hints().srcAddr(address), 64, 0, () -> { });
        opened.push(node);
        return node;
    }

    @Test
    void shouldFindTheNextDriverOfAnAddress() {
        DriverProcess first = launch("alpha", "a", "b");
        DriverProcess second = launch("beta", "b", "a");
        FabricNode alpha = node(first.awaitReady(), null);
        FabricNode beta = node(second.awaitReady(), null);
        String address = beta.endpoint.name();
        long there = alpha.av.insert(address);
        long here = beta.av.insert(alpha.endpoint.name());
        for (int i = 0; i < 20; i++) {
            exchange(alpha, there, beta, here, i);
            exchange(beta, here, alpha, there, i);
        }
        second.kill();
        // it starts meanwhile; the address is free until its endpoint is opened
        DriverProcess third = launch("gamma", "b", "a");
        // what is sent into the dead session is lost as over udp, until it is given up: then sends fail
        long deadline = System.nanoTime() + Deadline.ns(30);
        int errno = 0;
        for (int sent = 0; errno == 0; sent++) {
            assertTrue(System.nanoTime() - deadline < 0, "no error after " + sent + " messages");
            assertEquals(0, alpha.endpoint.send(alpha.memory.address(), LENGTH, there, 1));
            errno = alpha.await().err();
        }
        assertEquals(FabricErrno.ETIMEDOUT, errno);
        FabricNode next = node(third.awaitReady(), address);
        assertEquals(address, next.endpoint.name());
        long again = next.av.insert(alpha.endpoint.name());
        exchange(alpha, there, next, again, 7);
        exchange(next, again, alpha, there, 8);
        assertTrue(first.process().isAlive(), first::output);
    }

    private static void exchange(FabricNode from, long to, FabricNode at, long source, int seed) {
        from.fill(0, LENGTH, seed);
        assertEquals(0, at.endpoint.recv(at.memory.address(), LENGTH, FabricAddress.ADDR_UNSPEC, 2));
        at.awaitRead(1);
        assertEquals(0, from.endpoint.send(from.memory.address(), LENGTH, to, 1));
        from.await(1);
        FabricNode.Entry entry = at.await(2);
        assertEquals(LENGTH, entry.len());
        assertEquals(source, entry.source());
        at.assertFilled(0, LENGTH, seed);
    }
}
