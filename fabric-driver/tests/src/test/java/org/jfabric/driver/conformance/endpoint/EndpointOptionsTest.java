package org.jfabric.driver.conformance.endpoint;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Endpoint;
import org.jfabric.PortedCalls;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.EndpointOption;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.HmemPeerToPeer;
import org.jfabric.info.Info;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;

/** Options of endpoints, by name and by number. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
class EndpointOptionsTest {
    private static final int LEVEL = EndpointOption.LEVEL_ENDPOINT;
    private static final ByteOrder NATIVE = ByteOrder.nativeOrder();

    /** The structures of the option, as C programs have them; the constants page has the same places. */
    private static final MemoryLayout TRIGGER_XPU = MemoryLayout.structLayout(
        ValueLayout.JAVA_INT.withName("count"), ValueLayout.JAVA_INT.withName("iface"),
        MemoryLayout.unionLayout(ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT).withName("device"),
        ValueLayout.ADDRESS.withName("var"));
    private static final MemoryLayout TRIGGER_VAR = MemoryLayout.structLayout(
        ValueLayout.JAVA_INT.withName("datatype"), ValueLayout.JAVA_INT.withName("count"),
        ValueLayout.ADDRESS.withName("addr"),
        MemoryLayout.unionLayout(ValueLayout.JAVA_BYTE, ValueLayout.JAVA_LONG, ValueLayout.ADDRESS).withName("value"));

    private final UnsafeBuffer value = new UnsafeBuffer(new byte[32]);

    private static FabricPair open(Setup setup) {
        return new FabricPair(setup, new Info().caps(Flags.MSG | Flags.TAGGED | Flags.MULTI_RECV), 64);
    }

    private static int[] room(int bytes) {
        return new int[] {bytes};
    }

    private static int errno(Executable call) {
        FabricException failure = assertThrows(FabricException.class, call);
        assertTrue(failure.getMessage().length() > 20, failure.getMessage());
        return failure.errno();
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"EP-083", "EP-084", "EP-085", "ERR-016"})
    void shouldAddressOptionsByLevelNameAndLength(Setup setup) {
        try (FabricPair pair = open(setup)) {
            Endpoint endpoint = pair.a.endpoint;
            int name = EndpointOption.MIN_MULTI_RECV.code();
            value.putLong(8, 123, NATIVE);
            assertEquals(0, PortedCalls.setopt(endpoint, LEVEL, name, value, 8, 8));
            assertEquals(123, endpoint.getopt(EndpointOption.MIN_MULTI_RECV));
            value.setMemory(0, 32, (byte) 0x55);
            int[] optlen = {16};
            assertEquals(0, PortedCalls.getopt(endpoint, LEVEL, name, value, 16, optlen));
            assertEquals(8, optlen[0]);
            for (int less : new int[] {7, 1, 0}) {
                optlen[0] = less;
                assertEquals(-FabricErrno.ETOOSMALL, PortedCalls.getopt(endpoint, LEVEL, name, value, 0, optlen));
                assertEquals(8, optlen[0], "the room that is needed");
                assertEquals(0x5555555555555555L, value.getLong(0), "nothing is stored");
            }
            assertEquals(-FabricErrno.EINVAL, PortedCalls.getopt(endpoint, LEVEL, name, value, 0, null));
            assertEquals(-FabricErrno.EINVAL, PortedCalls.getopt(null, LEVEL, name, value, 0, optlen));
            assertEquals(-FabricErrno.ENOSYS, PortedCalls.getopt(pair.a.cq, LEVEL, name, value, 0, optlen));
            assertEquals(-FabricErrno.ENOSYS, PortedCalls.setopt(pair.a.cq, LEVEL, name, value, 0, 8));
            assertEquals(123, value.getLong(16, NATIVE));
            assertEquals(0x5555555555555555L, value.getLong(8));
            assertEquals(0x5555555555555555L, value.getLong(24));
            for (int unknown : new int[] {4711, 11, -1}) {
                assertEquals(FabricErrno.ENOPROTOOPT,
                    -PortedCalls.getopt(endpoint, LEVEL, unknown, value, 0, room(8)));
                assertEquals(FabricErrno.ENOPROTOOPT,
                    -PortedCalls.setopt(endpoint, LEVEL, unknown, value, 0, 8));
            }
            assertEquals(FabricErrno.ENOPROTOOPT, -PortedCalls.getopt(endpoint, 1, name, value, 0, room(8)));
            assertEquals(FabricErrno.ENOPROTOOPT, -PortedCalls.setopt(endpoint, -1, name, value, 0, 8));
            assertEquals(FabricErrno.ETOOSMALL, -PortedCalls.getopt(endpoint, LEVEL, name, value, 0, room(7)));
            assertEquals(8, EndpointOption.MIN_MULTI_RECV.lengthBytes());
            for (int length : new int[] {0, 4, 7, 9}) {
                assertEquals(FabricErrno.EINVAL,
                    -PortedCalls.setopt(endpoint, LEVEL, name, value, 0, length));
            }
            assertEquals(FabricErrno.EINVAL, -PortedCalls.setopt(endpoint, LEVEL, name, value, 25, 8));
            assertEquals(FabricErrno.EINVAL, -PortedCalls.getopt(endpoint, LEVEL, name, value, -1, room(8)));
            assertEquals(FabricErrno.EINVAL, -PortedCalls.setopt(endpoint, LEVEL, name, null, 0, 8));
            assertEquals(FabricErrno.EINVAL, errno(() -> endpoint.setopt(EndpointOption.MIN_MULTI_RECV, -1)));
            assertEquals(123, endpoint.getopt(EndpointOption.MIN_MULTI_RECV));
            endpoint.close();
            assertEquals(FabricErrno.EOPBADSTATE, errno(() -> endpoint.getopt(EndpointOption.MIN_MULTI_RECV)));
            assertEquals(FabricErrno.EOPBADSTATE, errno(() -> endpoint.setopt(EndpointOption.MIN_MULTI_RECV, 1)));
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement("EP-084")
    void shouldRefuseWhatTheEndpointDoesNotHave(Setup setup) {
        try (FabricPair pair = new FabricPair(setup, new Info().caps(Flags.MSG), 64)) {
            Endpoint endpoint = pair.a.endpoint;
            for (EndpointOption option : new EndpointOption[] {EndpointOption.MIN_MULTI_RECV,
                EndpointOption.CM_DATA_SIZE, EndpointOption.BUFFERED_MIN, EndpointOption.BUFFERED_LIMIT,
                EndpointOption.SEND_BUF_SIZE, EndpointOption.RECV_BUF_SIZE}) {
                assertEquals(FabricErrno.ENOPROTOOPT, errno(() -> endpoint.getopt(option)), option.name());
                assertEquals(FabricErrno.ENOPROTOOPT, errno(() -> endpoint.setopt(option, 8)), option.name());
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    void shouldMakeQueuesOfTheSizesThatWereSet(Setup setup) {
        try (FabricPair pair = open(setup)) {
            Endpoint endpoint = pair.a.domain.openEndpoint(pair.a.info);
            assertEquals(pair.a.info.txAttr().size(), endpoint.getopt(EndpointOption.TX_SIZE));
            endpoint.setopt(EndpointOption.TX_SIZE, 16);
            endpoint.setopt(EndpointOption.RX_SIZE, 8);
            assertEquals(FabricErrno.EINVAL, errno(() -> endpoint.setopt(EndpointOption.RX_SIZE, 0)));
            endpoint.bind(pair.a.cq, Flags.TRANSMIT | Flags.RECV);
            endpoint.bind(pair.a.av);
            endpoint.enable();
            assertEquals(16, endpoint.getopt(EndpointOption.TX_SIZE));
            assertEquals(8, endpoint.getopt(EndpointOption.RX_SIZE));
            assertEquals(16, endpoint.txSizeLeft());
            assertEquals(8, endpoint.rxSizeLeft());
            assertEquals(FabricErrno.EOPBADSTATE, errno(() -> endpoint.setopt(EndpointOption.TX_SIZE, 32)));
            endpoint.close();
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement(value = {"EP-098", "EP-099", "EP-101", "EP-102", "ERR-017"}, refused = "EP-100")
    void shouldKeepThePolicyForDeviceMemory(Setup setup) {
        try (FabricPair pair = open(setup)) {
            Endpoint endpoint = pair.a.endpoint;
            EndpointOption option = EndpointOption.FI_HMEM_P2P;
            assertEquals(0, endpoint.getopt(option));
            for (HmemPeerToPeer policy : new HmemPeerToPeer[] {HmemPeerToPeer.DISABLED, HmemPeerToPeer.PREFERRED,
                HmemPeerToPeer.ENABLED}) {
                value.putInt(4, policy.code(), NATIVE);
                assertEquals(0, PortedCalls.setopt(endpoint, LEVEL, option.code(), value, 4, 4));
                assertEquals(policy.code(), endpoint.getopt(option));
                value.putInt(12, -1);
                assertEquals(0, PortedCalls.getopt(endpoint, LEVEL, option.code(), value, 12, room(4)));
                assertEquals(policy.code(), value.getInt(12, NATIVE));
            }
            assertEquals(FabricErrno.EOPNOTSUPP, errno(() -> endpoint.setopt(option, HmemPeerToPeer.REQUIRED.code())));
            assertEquals(FabricErrno.EINVAL, errno(() -> endpoint.setopt(option, 9)));
            assertEquals(HmemPeerToPeer.ENABLED.code(), endpoint.getopt(option));
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement(value = "ERR-017", refused = {"EP-104", "EP-105", "EP-106"})
    void shouldTellThatNoDeviceTriggersOperations(Setup setup) {
        try (FabricPair pair = open(setup)) {
            Endpoint endpoint = pair.a.endpoint;
            EndpointOption option = EndpointOption.XPU_TRIGGER;
            assertEquals(24, option.lengthBytes());
            assertEquals(FabricErrno.EOPNOTSUPP, errno(() -> endpoint.getopt(option)));
            assertEquals(FabricErrno.EOPNOTSUPP,
                -PortedCalls.getopt(endpoint, LEVEL, option.code(), value, 0, room(24)));
            assertEquals(FabricErrno.ENOPROTOOPT, errno(() -> endpoint.setopt(option, 0)));
            assertEquals(FabricErrno.ENOPROTOOPT,
                -PortedCalls.setopt(endpoint, LEVEL, option.code(), value, 0, 24));
        }
    }

    /** A struct fi_trigger_xpu that points to room for some variables: refused before anything of it is read. */
    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement(refused = {"EP-107", "REF-055"})
    void shouldFillNoTriggerVariablesHoweverManyHaveRoom(Setup setup) {
        int name = EndpointOption.XPU_TRIGGER.code();
        assertEquals(EndpointOption.XPU_TRIGGER.lengthBytes(), TRIGGER_XPU.byteSize());
        assertLayout(TRIGGER_XPU, 24, "count", 0, "iface", 4, "device", 8, "var", 16);
        assertLayout(TRIGGER_VAR, 24, "datatype", 0, "count", 4, "addr", 8, "value", 16);
        try (FabricPair pair = open(setup); Arena arena = Arena.ofConfined()) {
            int room = 4;
            MemorySegment variables = arena.allocate(TRIGGER_VAR, room).fill((byte) 0x55);
            MemorySegment xpu = arena.allocate(TRIGGER_XPU);
            UnsafeBuffer struct = new UnsafeBuffer(xpu.address(), (int) xpu.byteSize());
            for (int count : new int[] {0, 1, room, Integer.MAX_VALUE, -1}) {
                xpu.fill((byte) 0x55);
                xpu.set(ValueLayout.JAVA_INT, 0, count);
                xpu.set(ValueLayout.ADDRESS, 16, variables);
                byte[] before = xpu.toArray(ValueLayout.JAVA_BYTE);
                // whatever the length is: that no device has any is said first
                for (int length : new int[] {24, 8, 0}) {
                    assertEquals(FabricErrno.EOPNOTSUPP,
                        -PortedCalls.getopt(pair.a.endpoint, LEVEL, name, struct, 0, room(length)));
                }
                assertArrayEquals(before, xpu.toArray(ValueLayout.JAVA_BYTE));
                for (byte each : variables.toArray(ValueLayout.JAVA_BYTE)) {
                    assertEquals(0x55, each);
                }
            }
            pair.assertTransfers(pair.a.endpoint);
        }
    }

    private static void assertLayout(MemoryLayout struct, int length, Object... members) {
        assertEquals(length, struct.byteSize());
        for (int i = 0; i < members.length; i += 2) {
            assertEquals((int) members[i + 1],
                struct.byteOffset(MemoryLayout.PathElement.groupElement((String) members[i])), struct.toString());
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement(refused = {"EP-108", "EP-109", "EP-110", "EP-111"})
    void shouldRefuseThePermissionForADeviceLibraryThatIsNotThere(Setup setup) {
        try (FabricPair pair = open(setup)) {
            Endpoint endpoint = pair.a.endpoint;
            EndpointOption option = EndpointOption.CUDA_API_PERMITTED;
            for (int permitted = 0; permitted < 2; permitted++) {
                long set = permitted;
                value.putByte(0, (byte) permitted);
                assertEquals(FabricErrno.EINVAL, errno(() -> endpoint.setopt(option, set)));
                assertEquals(FabricErrno.EINVAL,
                    -PortedCalls.setopt(endpoint, LEVEL, option.code(), value, 0, 1));
            }
            assertEquals(FabricErrno.ENOPROTOOPT, errno(() -> endpoint.getopt(option)));
        }
    }

    /** Options and default flags change how a buffer is used, not what arrives. */
    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement("EP-015")
    void shouldTransferTheSameBeforeAndAfterOptionsAreSet(Setup setup) {
        try (FabricPair pair = open(setup)) {
            for (int round = 0; round < 2; round++) {
                for (int i = 0; i < 5; i++) {
                    int length = 1 << 4 * i;
                    pair.a.fill(0, length, i);
                    assertEquals(0, pair.b.endpoint.recv(pair.b.memory.address(0), length, -1, 10 + i));
                    assertEquals(0, pair.a.endpoint.send(pair.a.memory.address(0), length, pair.toB, 20 + i));
                    FabricNode.Entry entry = pair.b.await(10 + i);
                    assertEquals(length, entry.len());
                    assertEquals(Flags.RECV | Flags.MSG, entry.flags());
                    pair.b.assertFilled(0, length, i);
                    pair.a.await(20 + i);
                }
                for (Endpoint endpoint : new Endpoint[] {pair.a.endpoint, pair.b.endpoint}) {
                    endpoint.setopt(EndpointOption.MIN_MULTI_RECV, 4096);
                    endpoint.setopt(EndpointOption.FI_HMEM_P2P, HmemPeerToPeer.DISABLED.code());
                    endpoint.setOpFlags(Flags.TRANSMIT | Flags.INJECT_COMPLETE);
                    endpoint.setOpFlags(Flags.RECV | Flags.COMPLETION);
                }
            }
        }
    }
}
