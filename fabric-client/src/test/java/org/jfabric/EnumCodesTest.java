package org.jfabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.IntFunction;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;
import org.jfabric.info.AddressFormat;
import org.jfabric.info.AddressVectorType;
import org.jfabric.info.AtomicDatatype;
import org.jfabric.info.AtomicOperation;
import org.jfabric.info.CompletionFormat;
import org.jfabric.info.ControlCommand;
import org.jfabric.info.CounterEvents;
import org.jfabric.info.EndpointOption;
import org.jfabric.info.EndpointType;
import org.jfabric.info.EventType;
import org.jfabric.info.FabricException;
import org.jfabric.info.FidClass;
import org.jfabric.info.HmemPeerToPeer;
import org.jfabric.info.Progress;
import org.jfabric.info.Protocol;
import org.jfabric.info.ResourceManagement;
import org.jfabric.info.Threading;
import org.jfabric.info.TrafficClass;
import org.jfabric.info.WaitCondition;
import org.jfabric.info.WaitObject;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class EnumCodesTest {
    static Stream<Arguments> enums() {
        return Stream.of(
            Arguments.of(AtomicOperation.values(), (IntFunction<AtomicOperation>) AtomicOperation::of,
                (ToIntFunction<AtomicOperation>) AtomicOperation::code, """
                MIN=0 MAX=1 SUM=2 PROD=3 LOR=4 LAND=5 BOR=6 BAND=7 LXOR=8 BXOR=9 ATOMIC_READ=10 ATOMIC_WRITE=11
                CSWAP=12 CSWAP_NE=13 CSWAP_LE=14 CSWAP_LT=15 CSWAP_GE=16 CSWAP_GT=17 MSWAP=18
                """),
            Arguments.of(AtomicDatatype.values(), (IntFunction<AtomicDatatype>) AtomicDatatype::of,
                (ToIntFunction<AtomicDatatype>) AtomicDatatype::code, """
                INT8=0 UINT8=1 INT16=2 UINT16=3 INT32=4 UINT32=5 INT64=6 UINT64=7 FLOAT=8 DOUBLE=9 FLOAT_COMPLEX=10
                DOUBLE_COMPLEX=11 LONG_DOUBLE=12 LONG_DOUBLE_COMPLEX=13 INT128=14 UINT128=15
                """),
            Arguments.of(CompletionFormat.values(), (IntFunction<CompletionFormat>) CompletionFormat::of,
                (ToIntFunction<CompletionFormat>) CompletionFormat::code, """
                UNSPEC=0 CONTEXT=1 MSG=2 DATA=3 TAGGED=4
                """),
            Arguments.of(WaitObject.values(), (IntFunction<WaitObject>) WaitObject::of,
                (ToIntFunction<WaitObject>) WaitObject::code, """
                NONE=0 UNSPEC=1 SET=2 FD=3 MUTEX_COND=4 YIELD=5 POLLFD=6 CRITSEC_COND=0x7f000005
                """),
            Arguments.of(WaitCondition.values(), (IntFunction<WaitCondition>) WaitCondition::of,
                (ToIntFunction<WaitCondition>) WaitCondition::code, """
                NONE=0 THRESHOLD=1
                """),
            Arguments.of(EndpointType.values(), (IntFunction<EndpointType>) EndpointType::of,
                (ToIntFunction<EndpointType>) EndpointType::code, """
                UNSPEC=0 MSG=1 DGRAM=2 RDM=3 SOCK_STREAM=4 SOCK_DGRAM=5
                """),
            Arguments.of(Protocol.values(), (IntFunction<Protocol>) Protocol::of,
                (ToIntFunction<Protocol>) Protocol::code, """
                UNSPEC=0 RDMA_CM_IB_RC=1 IWARP=2 IB_UD=3 PSMX=4 UDP=5 SOCK_TCP=6 MXM=7 IWARP_RDM=8 IB_RDM=9 GNI=10
                RXM=11 RXD=12 MLX=13 NETWORKDIRECT=14 PSMX2=15 SHM=16 MRAIL=17 RSTREAM=18 RDMA_CM_IB_XRC=19 EFA=20
                PSMX3=21 RXM_TCP=22 OPX=23 CXI=24 XNET=25 COLL=26 UCX=27 JFABRIC_LOOPBACK=-0x7fffb5ff
                JFABRIC_SHM=-0x7fffb5fe JFABRIC_BEST=-0x7fffb5fd
                """),
            Arguments.of(TrafficClass.values(), (IntFunction<TrafficClass>) TrafficClass::of,
                (ToIntFunction<TrafficClass>) TrafficClass::code, """
                UNSPEC=0x0 DSCP=0x100 BEST_EFFORT=0x200 LOW_LATENCY=0x201 DEDICATED_ACCESS=0x202 BULK_DATA=0x203
                SCAVENGER=0x204 NETWORK_CTRL=0x205
                """),
            Arguments.of(ControlCommand.values(), (IntFunction<ControlCommand>) ControlCommand::of,
                (ToIntFunction<ControlCommand>) ControlCommand::code, """
                GETFIDFLAG=0 SETFIDFLAG=1 GETOPSFLAG=2 SETOPSFLAG=3 ALIAS=4 GETWAIT=5 ENABLE=6 BACKLOG=7
                GET_RAW_MR=8 MAP_RAW_MR=9 UNMAP_KEY=10 QUEUE_WORK=11 CANCEL_WORK=12 FLUSH_WORK=13 REFRESH=14 DUP=15
                GETWAITOBJ=16 GET_VAL=17 SET_VAL=18 EXPORT_FID=19
                """),
            Arguments.of(EndpointOption.values(), (IntFunction<EndpointOption>) EndpointOption::of,
                (ToIntFunction<EndpointOption>) EndpointOption::code, """
                MIN_MULTI_RECV=0 CM_DATA_SIZE=1 BUFFERED_MIN=2 BUFFERED_LIMIT=3 SEND_BUF_SIZE=4 RECV_BUF_SIZE=5
                TX_SIZE=6 RX_SIZE=7 FI_HMEM_P2P=8 XPU_TRIGGER=9 CUDA_API_PERMITTED=10
                """),
            Arguments.of(HmemPeerToPeer.values(), (IntFunction<HmemPeerToPeer>) HmemPeerToPeer::of,
                (ToIntFunction<HmemPeerToPeer>) HmemPeerToPeer::code, """
                ENABLED=0 REQUIRED=1 PREFERRED=2 DISABLED=3
                """),
            Arguments.of(AddressVectorType.values(), (IntFunction<AddressVectorType>) AddressVectorType::of,
                (ToIntFunction<AddressVectorType>) AddressVectorType::code, """
                UNSPEC=0 MAP=1 TABLE=2
                """),
            Arguments.of(Progress.values(), (IntFunction<Progress>) Progress::of,
                (ToIntFunction<Progress>) Progress::code, """
                UNSPEC=0 AUTO=1 MANUAL=2 CONTROL_UNIFIED=3
                """),
            Arguments.of(Threading.values(), (IntFunction<Threading>) Threading::of,
                (ToIntFunction<Threading>) Threading::code, """
                UNSPEC=0 SAFE=1 FID=2 DOMAIN=3 COMPLETION=4 ENDPOINT=5
                """),
            Arguments.of(ResourceManagement.values(), (IntFunction<ResourceManagement>) ResourceManagement::of,
                (ToIntFunction<ResourceManagement>) ResourceManagement::code, """
                UNSPEC=0 DISABLED=1 ENABLED=2
                """),
            Arguments.of(EventType.values(), (IntFunction<EventType>) EventType::of,
                (ToIntFunction<EventType>) EventType::code, """
                NOTIFY=0 CONNREQ=1 CONNECTED=2 SHUTDOWN=3 MR_COMPLETE=4 AV_COMPLETE=5 JOIN_COMPLETE=6
                """),
            Arguments.of(CounterEvents.values(), (IntFunction<CounterEvents>) CounterEvents::of,
                (ToIntFunction<CounterEvents>) CounterEvents::code, """
                COMP=0 BYTES=1
                """),
            Arguments.of(AddressFormat.values(), (IntFunction<AddressFormat>) AddressFormat::of,
                (ToIntFunction<AddressFormat>) AddressFormat::code, """
                UNSPEC=0 SOCKADDR=1 SOCKADDR_IN=2 SOCKADDR_IN6=3 SOCKADDR_IB=4 ADDR_STR=9 ADDR_IB_UD=11
                """),
            Arguments.of(FidClass.values(), (IntFunction<FidClass>) FidClass::of,
                (ToIntFunction<FidClass>) FidClass::code, """
                UNSPEC=0 FABRIC=1 DOMAIN=2 EP=3 SEP=4 RX_CTX=5 SRX_CTX=6 TX_CTX=7 STX_CTX=8 PEP=9 INTERFACE=10 AV=11
                MR=12 EQ=13 CQ=14 CNTR=15 WAIT=16 POLL=17 CONNREQ=18 MC=19
                """));
    }

    @ParameterizedTest
    @MethodSource("enums")
    <E extends Enum<E>> void shouldHaveTheCodeOfTheTableForEveryConstant(
        E[] constants, IntFunction<E> of, ToIntFunction<E> code, String table) {
        Map<String, Integer> seen = new TreeMap<>();
        for (E constant : constants) {
            seen.put(constant.name(), code.applyAsInt(constant));
        }
        assertEquals(ConstantTable.parse(table), seen);
    }

    @ParameterizedTest
    @MethodSource("enums")
    <E extends Enum<E>> void shouldReturnTheSameConstantWhenItsCodeIsLookedUp(
        E[] constants, IntFunction<E> of, ToIntFunction<E> code, String table) {
        for (E constant : constants) {
            assertSame(constant, of.apply(code.applyAsInt(constant)));
        }
    }

    @ParameterizedTest
    @MethodSource("enums")
    <E extends Enum<E>> void shouldRefuseEveryCodeThatNoConstantHas(
        E[] constants, IntFunction<E> of, ToIntFunction<E> code, String table) {
        Set<Integer> known = new HashSet<>(ConstantTable.parse(table).values());
        int[] suspects = {-1, 77, 0x7fff, Integer.MAX_VALUE, Integer.MIN_VALUE};
        for (int suspect = -3; suspect < 256; suspect++) {
            assertRefused(of, known, suspect);
        }
        for (int suspect : suspects) {
            assertRefused(of, known, suspect);
        }
    }

    private static void assertRefused(IntFunction<?> of, Set<Integer> known, int code) {
        if (!known.contains(code)) {
            FabricException refused = assertThrows(FabricException.class, () -> of.apply(code));
            assertEquals(22, refused.errno());
            assertTrue(refused.getMessage().contains("code " + code + ";"), refused.getMessage());
        }
    }

    @Test
    void shouldHaveTheEntryLengthsOfTheStructures() {
        assertEquals(8, CompletionFormat.CONTEXT.entryLengthBytes());
        assertEquals(24, CompletionFormat.MSG.entryLengthBytes());
        assertEquals(40, CompletionFormat.DATA.entryLengthBytes());
        assertEquals(48, CompletionFormat.TAGGED.entryLengthBytes());
        assertEquals(0, CompletionFormat.UNSPEC.entryLengthBytes());
    }

    @Test
    void shouldResolveOnlyTheUnspecifiedFormat() {
        for (CompletionFormat format : CompletionFormat.values()) {
            assertSame(format == CompletionFormat.UNSPEC ? CompletionFormat.TAGGED : format, format.resolved());
        }
    }

    @Test
    void shouldTakeCodeFiveAsYieldAndKeepCriticalSectionsApart() {
        assertSame(WaitObject.YIELD, WaitObject.of(5));
        for (WaitObject object : WaitObject.values()) {
            assertEquals(object != WaitObject.CRITSEC_COND, object.existsHere());
        }
    }

    @Test
    @Requirement("EP-112")
    void shouldMakeATrafficClassFromACodePoint() {
        assertEquals(0x12e, TrafficClass.dscpSet(46));
        assertEquals(0x100, TrafficClass.dscpSet(0));
        assertSame(TrafficClass.DSCP, TrafficClass.of(TrafficClass.dscpSet(46)));
        for (int dscp : new int[] {-1, 256, Integer.MIN_VALUE}) {
            assertEquals(22, assertThrows(FabricException.class, () -> TrafficClass.dscpSet(dscp)).errno());
        }
    }

    @Test
    @Requirement("EP-113")
    void shouldReturnTheCodePointOnlyOfCodePointClasses() {
        for (int dscp = 0; dscp < 256; dscp++) {
            assertEquals(dscp, TrafficClass.dscpGet(TrafficClass.dscpSet(dscp)));
        }
        for (TrafficClass tclass : TrafficClass.values()) {
            assertEquals(0, TrafficClass.dscpGet(tclass.code()), tclass.name());
        }
        assertEquals(TrafficClass.BEST_EFFORT.code(), TrafficClass.LABEL);
    }

    @Test
    @Requirement("EP-126")
    void shouldHaveTheTopBitSetExactlyInProtocolsOfItsOwn() {
        for (Protocol protocol : Protocol.values()) {
            assertEquals(protocol.name().startsWith("JFABRIC"), protocol.isProviderSpecific(), protocol.name());
            assertEquals(protocol.isProviderSpecific(), (protocol.code() >>> 31) == 1, protocol.name());
        }
    }

    @Test
    void shouldHaveOneLevelOfOptions() {
        assertEquals(0, EndpointOption.LEVEL_ENDPOINT);
    }
}
