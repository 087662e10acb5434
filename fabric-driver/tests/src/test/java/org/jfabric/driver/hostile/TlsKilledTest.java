package org.jfabric.driver.hostile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.driver.kit.DriverProcess;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.TestKeys;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two driver processes that prove their keys exchange messages; then one of them is killed while it receives. */
@Tag("hostile")
@Timeout(120)
class TlsKilledTest {
    private static final int LONG = 1 << 20;
    private static final int COUNT = 12;
    private static final Set<Integer> LOST = Set.of(FabricErrno.ECONNRESET, FabricErrno.ECONNREFUSED);

    private final Path base = TestDirectory.create();
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();

    @AfterEach
    void closeAll() throws Exception {
        while (!opened.isEmpty()) {
            opened.pop().close();
        }
        TestDirectory.delete(base);
    }

    private DriverProcess launch(String link, String name, String... trusted) {
        List<String> options = new ArrayList<>(List.of("jfabric.link.enabled=loopback,shm," + link,
            "jfabric.tcp.interface=lo", "jfabric.tls.policy=REQUIRED"));
        String[] keys = TestKeys.files(base, name, trusted).options();
        for (int i = 0; i < keys.length; i += 2) {
            options.add(keys[i] + '=' + keys[i + 1]);
        }
        DriverProcess driver = DriverProcess.launch(base.resolve(name), options.toArray(String[]::new));
        opened.push(driver);
        return driver;
    }

    private FabricNode node(DriverProcess driver, String link) {
        FabricNode node = new FabricNode(Fabric.connect(new FabricConfig().directory(driver.directory())), link,
            new Info().caps(Flags.MSG | Flags.TAGGED | Flags.SOURCE), 64, 0, () -> { });
        opened.push(node);
        return node;
    }

    @ParameterizedTest
    @ValueSource(strings = {"tls", "tlsrxm"})
    void shouldExchangeMessagesAndReportTheEndOfAKilledPeer(String link) {
        DriverProcess first = launch(link, "alpha", "beta");
        DriverProcess second = launch(link, "beta", "alpha");
        FabricNode alpha = node(first.awaitReady(), link);
        FabricNode beta = node(second.awaitReady(), link);
        long there = alpha.av.insert(beta.endpoint.name());
        long here = beta.av.insert(alpha.endpoint.name());
        int[] lengths = {0, 64, 5000, LONG};
        for (int i = 0; i < lengths.length; i++) {
            exchange(alpha, there, beta, lengths[i], 2 * i);
            exchange(beta, here, alpha, lengths[i], 2 * i + 1);
        }
        assertEquals(0, beta.endpoint.trecv(beta.memory.address(), LONG, here, 99, 0, 500));
        for (int i = 0; i < COUNT; i++) {
            assertEquals(0, alpha.endpoint.tsend(alpha.memory.address(), LONG, there, 99, i));
        }
        beta.await(500);
        second.kill();
        boolean[] ended = new boolean[COUNT];
        int failed = 0;
        for (int i = 0; i < COUNT; i++) {
            FabricNode.Entry entry = alpha.await();
            ended[(int) entry.context()] = true;
            failed += entry.err() == 0 ? 0 : 1;
            assertTrue(entry.err() == 0 || LOST.contains(entry.err()), entry::toString);
        }
        assertTrue(failed > 0, Arrays.toString(ended));
        assertTrue(first.process().isAlive(), first::output);
    }

    private static void exchange(FabricNode from, long to, FabricNode at, int length, int seed) {
        from.fill(0, length, seed);
        assertEquals(0, at.endpoint.trecv(at.memory.address(), LONG, FabricAddress.ADDR_UNSPEC, seed, 0, seed));
        at.awaitRead(1);
        assertEquals(0, from.endpoint.tsend(from.memory.address(), length, to, seed, seed));
        assertEquals(length, at.await(seed).len());
        from.await(seed);
        at.assertFilled(0, length, seed);
    }
}
