package org.jfabric.driver.conformance.other;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jfabric.MulticastGroup;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.info.AddressFormat;
import org.jfabric.info.EndpointType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.IbUdName;
import org.jfabric.info.Info;
import org.jfabric.info.Protocol;
import org.jfabric.test.TestDirectory;
import org.jfabric.test.TestProcess;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * Datagram endpoints of real RDMA devices, whose addresses the property names; run by ./fabric test-verbs. A group's
 * other member is mckey, the example of rdma-core.
 */
@EnabledIfSystemProperty(named = QueuePairDatagramTest.HOSTS, matches = ".+,.+",
    disabledReason = "needs two RDMA ports: ./fabric test-verbs runs it in a virtual machine")
@Timeout(180)
class QueuePairDatagramTest {
    static final String HOSTS = "jfabric.test.ud.hosts";

    private static final String GROUP = "fi_sockaddr_in://239.1.1.1:0";
    private static final int MCKEY_BYTES = 100;
    private static final int MCKEY_COUNT = 10;

    private final Deque<AutoCloseable> resources = new ArrayDeque<>();
    private final Path base = TestDirectory.create();
    private String[] hosts;
    private Runnable pump = () -> { };

    @BeforeEach
    void hosts() {
        hosts = System.getProperty(HOSTS).split(",");
    }

    @AfterEach
    void close() throws Exception {
        while (!resources.isEmpty()) {
            resources.pop().close();
        }
        TestDirectory.delete(base);
    }

    private FabricNode node(int index, long caps) {
        FabricDriver driver = FabricDriver.launchEmbedded(DriverConfig.builder()
            .directory(base.resolve("driver" + resources.size())).threadingMode(ThreadingMode.INVOKER)
            .set("jfabric.link.enabled", "loopback,shm,verbsud").build());
        resources.push(driver);
        Runnable before = pump;
        pump = () -> {
            before.run();
            driver.cycle();
        };
        Info hints = new Info().caps(Flags.MSG | caps).srcAddr("fi_sockaddr_in://" + hosts[index] + ":0");
        hints.epAttr().type(EndpointType.DGRAM).protocol(Protocol.IB_UD);
        FabricNode node = new FabricNode(
            driver.fabric(), "verbsud", hints, 512, 0, () -> pump.run());
        resources.push(node);
        return node;
    }

    @Test
    void shouldExchangeDatagramsThatTellTheirSource() {
        FabricNode a = node(0, Flags.SOURCE);
        FabricNode b = node(1, Flags.SOURCE);
        assertEquals(AddressFormat.ADDR_IB_UD, a.info.addrFormat());
        assertTrue(a.endpoint.name().startsWith("fi_addr_ib_ud://::ffff:" + hosts[0] + ":"), a.endpoint.name());
        assertEquals(IbUdName.parse(a.endpoint.name()).toString(), a.endpoint.name());
        long toB = a.av.insert(b.endpoint.name());
        long toA = b.av.insert(a.endpoint.name());
        long longest = a.endpoint.maxMsgSize();
        assertEquals(longest, b.endpoint.maxMsgSize());
        for (long length : new long[] {0, 1, 100, longest}) {
            for (int i = 0; i < length; i++) {
                a.memory.buffer().putByte(i, (byte) (i * 7 + length));
            }
            assertEquals(0, b.endpoint.recv(b.memory.address(), longest, -1, 5));
            assertEquals(0, a.endpoint.messages().senddata(a.memory.address(), length, 0xdead_beefL + length, toB, 6));
            assertEquals(6, a.await().context());
            FabricNode.Entry received = b.await();
            assertEquals(0, received.err());
            assertEquals(length, received.len());
            assertEquals(toA, received.source());
            assertEquals(0xdead_beefL + length, received.data());
            assertTrue((received.flags() & Flags.REMOTE_CQ_DATA) != 0);
            for (int i = 0; i < length; i++) {
                assertEquals((byte) (i * 7 + length), b.memory.buffer().getByte(i));
            }
        }
        assertEquals(-FabricErrno.EINVAL, a.endpoint.send(a.memory.address(), longest + 1, toB, 7));
    }

    @Test
    void shouldReceiveByAGroupWhatAnotherEndpointSendsToIt() {
        FabricNode a = node(0, Flags.MULTICAST | Flags.SOURCE);
        FabricNode b = node(1, Flags.MULTICAST | Flags.SOURCE);
        long toA = b.av.insert(a.endpoint.name());
        MulticastGroup member = b.endpoint.join(GROUP, 0, 0);
        MulticastGroup group = a.endpoint.join(GROUP, 0, Flags.SEND);
        b.memory.buffer().setMemory(0, 100, (byte) 0);
        a.memory.buffer().setMemory(0, 100, (byte) 9);
        assertEquals(0, b.endpoint.recv(b.memory.address(), 4096, -1, 5));
        assertEquals(0, a.endpoint.messages().sendmsg(
            a.memory.address(), 100, 0, group.fiAddr(), 6, Flags.MULTICAST | Flags.COMPLETION));
        assertEquals(6, a.await().context());
        FabricNode.Entry received = b.await();
        assertEquals(100, received.len());
        assertEquals(toA, received.source());
        assertTrue((received.flags() & Flags.MULTICAST) != 0);
        assertEquals(9, b.memory.buffer().getByte(99));
        group.close();
        member.close();
    }

    @Test
    void shouldReceiveWhatMckeySendsToAGroup() throws Exception {
        FabricNode a = node(0, Flags.MULTICAST);
        a.endpoint.join(GROUP, 0, 0);
        for (int i = 0; i < MCKEY_COUNT; i++) {
            assertEquals(0, a.endpoint.recv(a.memory.address(), 4096, -1, 5));
        }
        TestProcess mckey = mckey("-s");
        for (int i = 0; i < MCKEY_COUNT; i++) {
            FabricNode.Entry received = a.await();
            assertEquals(MCKEY_BYTES, received.len());
            assertTrue((received.flags() & Flags.MULTICAST) != 0 && (received.flags() & Flags.REMOTE_CQ_DATA) != 0,
                () -> Flags.toString(received.flags(), Flags.Kind.OPERATION));
        }
        ended(mckey);
    }

    @Test
    void shouldSendToAGroupWhatMckeyReceives() throws Exception {
        FabricNode a = node(0, Flags.MULTICAST);
        MulticastGroup group = a.endpoint.join(GROUP, 0, Flags.SEND);
        TestProcess mckey = mckey();
        // it joins some time after its start and then counts what comes
        for (int i = 0; mckey.isAlive(); i++) {
            assertEquals(0, a.endpoint.send(a.memory.address(), MCKEY_BYTES, group.fiAddr(), i));
            assertEquals(i, a.await().context());
            Thread.sleep(50);
        }
        ended(mckey);
    }

    private TestProcess mckey(String... options) {
        List<String> command = new ArrayList<>(List.of("mckey", "-m", "239.1.1.1", "-b", hosts[1],
            "-S", Integer.toString(MCKEY_BYTES), "-C", Integer.toString(MCKEY_COUNT)));
        command.addAll(List.of(options));
        TestProcess process = TestProcess.start(command);
        resources.push(process);
        return process;
    }

    private static void ended(TestProcess mckey) {
        String said = mckey.succeeded();
        assertTrue(said.contains("data transfers complete"), said);
    }
}
