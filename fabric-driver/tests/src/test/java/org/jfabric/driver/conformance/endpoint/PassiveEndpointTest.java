package org.jfabric.driver.conformance.endpoint;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.ConnectionRequest;
import org.jfabric.Endpoint;
import org.jfabric.EventQueue;
import org.jfabric.Fid;
import org.jfabric.PassiveEndpoint;
import org.jfabric.PortedCalls;
import org.jfabric.WaitObjectHandle;
import org.jfabric.driver.kit.Connected;
import org.jfabric.driver.kit.ConnectionSide;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.ControlCommand;
import org.jfabric.info.EndpointOption;
import org.jfabric.info.EventQueueAttr;
import org.jfabric.info.EventType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.FidClass;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;

/** Passive endpoints: what they are opened with, listen for, limit, and hand over. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
class PassiveEndpointTest {
    private static final long ANY = -1L;

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("EP-001")
    void shouldTransferOnlyWithActiveEndpoints(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            ConnectionSide a = new ConnectionSide(pair, pair.a);
            PassiveEndpoint passive = pair.a.fabric.openPassiveEndpoint(a.info, 7);
            assertEquals(FidClass.PEP, passive.fidClass());
            assertEquals(7, passive.context());
            Endpoint active = pair.a.domain.openEndpoint(a.info);
            assertEquals(FidClass.EP, active.fidClass());
            List<String> calls = List.of("send", "recv", "tsend", "trecv", "inject", "tinject", "messages");
            assertTrue(names(Endpoint.class).containsAll(calls));
            assertTrue(calls.stream().noneMatch(names(PassiveEndpoint.class)::contains));
            // and one of each type of the link is there at the same time
            assertEquals(FabricErrno.EINVAL, errno(() -> pair.a.fabric.openPassiveEndpoint(pair.a.info)));
        }
    }

    private static List<String> names(Class<?> type) {
        return Stream.of(type.getMethods()).map(method -> method.getName()).toList();
    }


    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"EP-002", "EP-022", "EP-023"})
    void shouldHandItsAddressToAnActiveEndpoint(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            ConnectionSide a = new ConnectionSide(pair, pair.a);
            ConnectionSide b = new ConnectionSide(pair, pair.b);
            String address = a.freeAddress("reserved");
            PassiveEndpoint reserved = pair.a.fabric.openPassiveEndpoint(a.info.copy().srcAddr(address));
            assertEquals(address, reserved.name());
            assertEquals(FabricErrno.EADDRINUSE,
                errno(() -> pair.a.fabric.openPassiveEndpoint(a.info.copy().srcAddr(address))));
            EventQueue other = pair.a.fabric.openEventQueue(new EventQueueAttr());
            reserved.bind(other, 0);
            Endpoint active = a.open(a.info.copy().handle(reserved), 1);
            // used up: bound to nothing, and refuses what it could do before
            other.close();
            assertEquals(FabricErrno.EOPBADSTATE, errno(reserved::listen));
            assertEquals(FabricErrno.EOPBADSTATE, errno(() -> reserved.bind(a.events, 0)));
            assertEquals(FabricErrno.EOPBADSTATE, errno(() -> reserved.setBacklog(3)));
            assertEquals(FabricErrno.EOPBADSTATE, errno(() -> reserved.setname(address)));
            assertEquals(FabricErrno.EOPBADSTATE, errno(() -> a.open(a.info.copy().handle(reserved), 1)));
            active.enable();
            assertEquals(address, active.name());
            PassiveEndpoint passive = b.listen(-1);
            active.connect(passive.name());
            assertEquals(address, b.next(EventType.CONNREQ, passive).info().destAddr());
        }
    }

    /** The documented order: open, close the passive endpoint, enable. */
    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement("EP-024")
    void shouldKeepItsAddressForTheActiveEndpointWhenItIsClosedFirst(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            ConnectionSide a = new ConnectionSide(pair, pair.a);
            for (boolean isEnabled : new boolean[] {true, false}) {
                PassiveEndpoint reserved = pair.a.fabric.openPassiveEndpoint(a.info);
                String address = reserved.name();
                Endpoint active = a.open(a.info.copy().handle(reserved), 1);
                reserved.close();
                assertFalse(reserved.isOpen());
                assertEquals(FabricErrno.EADDRINUSE,
                    errno(() -> pair.a.fabric.openPassiveEndpoint(a.info.copy().srcAddr(address))), "still taken");
                if (isEnabled) {
                    active.enable();
                    assertEquals(address, active.name());
                }
                active.close();
                // free again
                pair.a.fabric.openPassiveEndpoint(a.info.copy().srcAddr(address)).close();
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("EP-024")
    void shouldBeClosedAfterTheTakeOverWhileTheActiveEndpointWorks(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            ConnectionSide a = new ConnectionSide(pair, pair.a);
            ConnectionSide b = new ConnectionSide(pair, pair.b);
            PassiveEndpoint reserved = pair.a.fabric.openPassiveEndpoint(a.info);
            String address = reserved.name();
            Endpoint active = a.open(a.info.copy().handle(reserved), 1);
            active.enable();
            reserved.close();
            reserved.close();
            assertFalse(reserved.isOpen());
            assertEquals(FabricErrno.EADDRINUSE,
                errno(() -> pair.a.fabric.openPassiveEndpoint(a.info.copy().srcAddr(address))), "still taken");
            PassiveEndpoint passive = b.listen(-1);
            active.connect(passive.name());
            Endpoint accepting = b.open(b.next(EventType.CONNREQ, passive).info(), 2);
            accepting.accept();
            a.next(EventType.CONNECTED, active);
            b.next(EventType.CONNECTED, accepting);
            assertEquals(address, accepting.peer());
            assertEquals(0, accepting.trecv(pair.b.memory.address(0), 64, ANY, 1, 0, 3));
            assertEquals(0, active.tsend(pair.a.memory.address(0), 64, 0, 1, 4));
            b.completion(3);
            a.completion(4);
            active.close();
            // free again
            pair.a.fabric.openPassiveEndpoint(a.info.copy().srcAddr(address)).close();
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("EP-033")
    void shouldListenOnlyWithAnEventQueue(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            ConnectionSide a = new ConnectionSide(pair, pair.a);
            PassiveEndpoint passive = pair.a.fabric.openPassiveEndpoint(a.info);
            assertEquals(FabricErrno.ENOEQ, errno(passive::listen));
            assertEquals(FabricErrno.EINVAL, errno(() -> passive.bind(pair.a.cq, 0)));
            assertEquals(FabricErrno.EBADFLAGS, errno(() -> passive.bind(a.events, 1)));
            passive.bind(a.events, 0);
            assertEquals(FabricErrno.EINVAL, errno(() -> passive.bind(a.events, 0)));
            assertEquals(FabricErrno.EBUSY, errno(a.events::close));
            passive.listen();
            assertEquals(FabricErrno.EOPBADSTATE, errno(passive::listen));
            assertEquals(FabricErrno.EOPBADSTATE, errno(() -> passive.bind(a.events, 0)));
            assertEquals(FabricErrno.EOPBADSTATE, errno(() -> a.open(a.info.copy().handle(passive), 1)));
            passive.close();
            assertEquals(FabricErrno.EOPBADSTATE, errno(passive::listen));
            assertEquals(FabricErrno.EOPBADSTATE, errno(passive::name));
            a.events.close();
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"EP-078", "REF-027"})
    void shouldRefuseMoreRequestsThanItsBacklog(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            ConnectionSide a = new ConnectionSide(pair, pair.a);
            ConnectionSide b = new ConnectionSide(pair, pair.b);
            PassiveEndpoint passive = b.listen(2);
            Endpoint[] asking = new Endpoint[4];
            for (int i = 0; i < asking.length; i++) {
                asking[i] = a.open(i);
                asking[i].connect(passive.name());
            }
            a.nextError(FabricErrno.ECONNREFUSED, asking[2]);
            a.nextError(FabricErrno.ECONNREFUSED, asking[3]);
            ConnectionSide.Event first = b.next(EventType.CONNREQ, passive);
            ConnectionSide.Event second = b.next(EventType.CONNREQ, passive);
            b.assertNoEvent(20);
            // each answer makes room for one
            passive.reject(second.request());
            a.nextError(FabricErrno.ECONNREFUSED, asking[1]);
            asking[3].connect(passive.name());
            ConnectionSide.Event third = b.next(EventType.CONNREQ, passive);
            asking[2].connect(passive.name());
            a.nextError(FabricErrno.ECONNREFUSED, asking[2]);
            Endpoint accepting = b.open(first.info(), 9);
            accepting.accept();
            a.next(EventType.CONNECTED, asking[0]);
            b.next(EventType.CONNECTED, accepting);
            asking[2].connect(passive.name());
            ConnectionSide.Event fourth = b.next(EventType.CONNREQ, passive);
            assertTrue(third.request().isOpen() && fourth.request().isOpen());

            assertEquals(FabricErrno.EOPBADSTATE, errno(() -> passive.setBacklog(9)), "it listens");
            PassiveEndpoint fresh = pair.b.fabric.openPassiveEndpoint(b.info);
            assertEquals(FabricErrno.EINVAL, errno(() -> fresh.setBacklog(-1)));
            int command = ControlCommand.BACKLOG.code();
            for (Fid each : new Fid[] {asking[0], passive, fresh}) {
                assertEquals(-FabricErrno.EINVAL, PortedCalls.control(each, command, new WaitObjectHandle()));
            }
            assertEquals(-FabricErrno.EINVAL, PortedCalls.control(asking[0], command, 1), "of an active one");
            assertEquals(-FabricErrno.EINVAL, PortedCalls.control(null, command, 1));
            assertEquals(-FabricErrno.EINVAL, PortedCalls.control(fresh, command, -1));
            assertEquals(-FabricErrno.EOPBADSTATE, PortedCalls.control(passive, command, 9), "it listens");
            assertEquals(-FabricErrno.ENOSYS, PortedCalls.control(pair.a.cq, command, 1));
            assertEquals(-FabricErrno.ENOSYS, PortedCalls.control(fresh, ControlCommand.ENABLE.code(), 1));
            assertEquals(0, PortedCalls.control(fresh, command, 0));
            fresh.bind(b.events, 0);
            fresh.listen();
            Endpoint last = a.open(77);
            last.connect(fresh.name());
            a.nextError(FabricErrno.ECONNREFUSED, last);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"EP-093", "EP-094", "EP-095", "REF-025"})
    void shouldCarryAsMuchPrivateDataAsItSaysAndCutTheRest(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            ConnectionSide a = new ConnectionSide(pair, pair.a);
            ConnectionSide b = new ConnectionSide(pair, pair.b);
            PassiveEndpoint passive = b.listen(-1);
            int size = (int) passive.getopt(EndpointOption.CM_DATA_SIZE);
            assertTrue(size >= 16, "room for " + size);
            UnsafeBuffer value = new UnsafeBuffer(new byte[8]);
            int[] optlen = {4};
            assertEquals(-FabricErrno.ETOOSMALL, PortedCalls.getopt(passive, EndpointOption.LEVEL_ENDPOINT,
                EndpointOption.CM_DATA_SIZE.code(), value, 0, optlen));
            assertEquals(0, PortedCalls.getopt(passive, EndpointOption.LEVEL_ENDPOINT,
                EndpointOption.CM_DATA_SIZE.code(), value, 0, optlen));
            assertEquals(size, value.getLong(0, ByteOrder.nativeOrder()));
            Endpoint asking = a.open(1);
            assertEquals(size, asking.getopt(EndpointOption.CM_DATA_SIZE));
            assertEquals(FabricErrno.ENOPROTOOPT, errno(() -> passive.setopt(EndpointOption.CM_DATA_SIZE, 8)));
            assertEquals(FabricErrno.ENOPROTOOPT, errno(() -> asking.setopt(EndpointOption.CM_DATA_SIZE, 8)));
            assertEquals(FabricErrno.ENOPROTOOPT, errno(() -> passive.getopt(EndpointOption.TX_SIZE)));
            assertEquals(FabricErrno.ENOPROTOOPT,
                errno(() -> pair.a.endpoint.getopt(EndpointOption.CM_DATA_SIZE)), "of a connectionless one");
            byte[] long1 = data(size + 1000, 1);
            byte[] long2 = data(size + 1, 2);
            asking.connect(passive.name(), new UnsafeBuffer(long1), 0, size);
            ConnectionSide.Event whole = b.next(EventType.CONNREQ, passive);
            assertArrayEquals(Arrays.copyOf(long1, size), whole.bytes());
            passive.reject(whole.request(), new UnsafeBuffer(long2), 0, long2.length);
            assertArrayEquals(Arrays.copyOf(long2, size), a.nextError(FabricErrno.ECONNREFUSED, asking).bytes());
            asking.connect(passive.name(), new UnsafeBuffer(long1), 0, long1.length);
            ConnectionSide.Event cut = b.next(EventType.CONNREQ, passive);
            assertArrayEquals(Arrays.copyOf(long1, size), cut.bytes());
            Endpoint accepting = b.open(cut.info(), 2);
            accepting.accept(new UnsafeBuffer(long2), 0, long2.length);
            assertArrayEquals(Arrays.copyOf(long2, size), a.next(EventType.CONNECTED, asking).bytes());
        }
    }

    private static byte[] data(int length, int seed) {
        byte[] data = new byte[length];
        for (int i = 0; i < length; i++) {
            data[i] = FabricNode.pattern(seed, i);
        }
        return data;
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("REF-021")
    void shouldTellAndChangeNames(Setup setup) {
        setup.assumeOneLink();
        try (Connected connected = new Connected(setup)) {
            FabricPair pair = connected.pair;
            UnsafeBuffer buffer = new UnsafeBuffer(new byte[256]);
            // of every kind of endpoint: asked for the length first
            for (Endpoint endpoint : List.of(pair.a.endpoint, connected.endpointA, connected.endpointB)) {
                assertName(endpoint.name(),
                    (length, offset) -> PortedCalls.getname(endpoint, buffer, offset, length), buffer);
            }
            assertName(connected.passive.name(),
                (length, offset) -> PortedCalls.getname(connected.passive, buffer, offset, length), buffer);
            assertName(connected.passive.name(),
                (length, offset) -> PortedCalls.getpeer(connected.endpointA, buffer, offset, length), buffer);
            assertName(connected.endpointA.name(),
                (length, offset) -> PortedCalls.getpeer(connected.endpointB, buffer, offset, length), buffer);
            assertEquals(-FabricErrno.ENOSYS, PortedCalls.getpeer(pair.a.endpoint, buffer, 0, new int[] {9}));

            String bySetname = connected.a.freeAddress("by-setname");
            Endpoint named = pair.a.domain.openEndpoint(pair.a.info);
            assertEquals(-FabricErrno.EOPBADSTATE, PortedCalls.getname(named, buffer, 0, new int[] {9}), "no name yet");
            named.setname(bySetname);
            assertElsewhere(setup, named);
            assertEquals(FabricErrno.EINVAL, errno(() -> named.setname("nonsense")));
            named.setname(bySetname);
            named.bind(pair.a.cq, Flags.TRANSMIT | Flags.RECV);
            named.bind(pair.a.av);
            named.enable();
            assertEquals(bySetname, named.name());
            assertEquals(FabricErrno.EOPBADSTATE, errno(() -> named.setname(connected.a.freeAddress("later"))));

            PassiveEndpoint passive = pair.a.fabric.openPassiveEndpoint(connected.a.info);
            String chosen = passive.name();
            String renamed = connected.a.freeAddress("renamed");
            passive.setname(renamed);
            assertEquals(renamed, passive.name());
            passive.setname(renamed);
            assertEquals(FabricErrno.EADDRINUSE, errno(() -> passive.setname(named.name())));
            assertEquals(FabricErrno.EADDRINUSE, errno(() -> passive.setname(connected.endpointA.name())));
            assertEquals(FabricErrno.EADDRNOTAVAIL, errno(() -> passive.setname(elsewhere(setup))));
            assertEquals(FabricErrno.EINVAL, errno(() -> passive.setname("jfabric://x")));
            assertEquals(renamed, passive.name(), "a refusal changes nothing");
            // the name that it had is free
            pair.a.fabric.openPassiveEndpoint(connected.a.info.copy().srcAddr(chosen)).close();
        }
    }

    /** An address that this driver cannot give. */
    private static String elsewhere(Setup setup) {
        return setup.isForeign() ? "fi_sockaddr_in://192.0.2.7:1" : "jfabric://elsewhere/x";
    }

    /** Of a driver's name it is seen at once, of a host's address when it is to be bound. */
    private static void assertElsewhere(Setup setup, Endpoint endpoint) {
        if (setup.isForeign()) {
            endpoint.setname(elsewhere(setup));
            assertEquals(FabricErrno.EINVAL, errno(() -> endpoint.setname("jfabric://alpha/x")), "of another kind");
        } else {
            assertEquals(FabricErrno.EADDRNOTAVAIL, errno(() -> endpoint.setname(elsewhere(setup))));
        }
    }

    private interface NameCall {
        int get(int[] length, int offset);
    }

    private static void assertName(String expected, NameCall call, UnsafeBuffer buffer) {
        int[] length = {0};
        assertEquals(-FabricErrno.ETOOSMALL, call.get(length, 0));
        assertEquals(expected.length(), length[0]);
        buffer.setMemory(0, buffer.capacity(), (byte) '#');
        length[0] = expected.length() - 1;
        assertEquals(-FabricErrno.ETOOSMALL, call.get(length, 3));
        assertEquals(expected.length(), length[0]);
        assertEquals("###" + expected.substring(0, expected.length() - 1) + '#',
            buffer.getStringWithoutLengthAscii(0, expected.length() + 3), "no byte behind the room");
        assertEquals(0, call.get(length, 1));
        assertEquals(expected, buffer.getStringWithoutLengthAscii(1, length[0]));
        assertEquals(-FabricErrno.EINVAL, call.get(new int[] {300}, 0));
        assertEquals(-FabricErrno.EINVAL, call.get(new int[] {10}, 250));
        assertEquals(-FabricErrno.EINVAL, call.get(null, 0));
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldTakeRequestsByEveryLink(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            ConnectionSide a = new ConnectionSide(pair, pair.a);
            ConnectionSide b = new ConnectionSide(pair, pair.b);
            // a match of one link takes its own driver's requests besides, one without link those of all; a socket
            // takes what comes to it, from wherever
            List<Info> infos = setup.isForeign() ? List.of(b.info) : List.of(b.info, b.info.copy().linkName(null));
            for (Info with : infos) {
                PassiveEndpoint passive = pair.b.fabric.openPassiveEndpoint(with);
                passive.bind(b.events, 0);
                passive.listen();
                for (ConnectionSide from : new ConnectionSide[] {a, b}) {
                    Endpoint asking = from.open(1);
                    asking.connect(passive.name());
                    ConnectionSide.Event request = b.next(EventType.CONNREQ, passive);
                    assertEquals(from == b && !setup.isForeign() ? "loopback" : setup.connectedLink(),
                        request.info().linkName());
                    Endpoint accepting = b.open(request.info(), 2);
                    accepting.accept();
                    List<Endpoint> connected = new ArrayList<>();
                    connected.add((Endpoint) b.next().fid());
                    connected.add((Endpoint) from.next().fid());
                    assertTrue(connected.containsAll(List.of(asking, accepting)));
                    assertEquals(asking.name(), accepting.peer());
                    asking.close();
                    b.next(EventType.SHUTDOWN, accepting);
                    accepting.close();
                }
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldAnswerEachRequestOnce(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            ConnectionSide a = new ConnectionSide(pair, pair.a);
            ConnectionSide b = new ConnectionSide(pair, pair.b);
            PassiveEndpoint passive = b.listen(-1);
            PassiveEndpoint other = b.listen(-1);
            List<Endpoint> asking = new ArrayList<>();
            List<ConnectionSide.Event> requests = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                asking.add(a.open(i));
                asking.get(i).connect(passive.name());
                requests.add(b.next(EventType.CONNREQ, passive));
            }
            ConnectionRequest rejected = requests.get(0).request();
            assertEquals(FabricErrno.EINVAL, errno(() -> other.reject(rejected)));
            passive.reject(rejected);
            a.nextError(FabricErrno.ECONNREFUSED, asking.get(0));
            assertEquals(FabricErrno.EOPBADSTATE, errno(() -> passive.reject(rejected)));
            assertEquals(FabricErrno.EOPBADSTATE, errno(() -> b.open(requests.get(0).info(), 1)));
            ConnectionRequest closed = requests.get(1).request();
            Endpoint late = b.open(requests.get(1).info(), 1);
            closed.close();
            closed.close();
            a.nextError(FabricErrno.ECONNREFUSED, asking.get(1));
            assertEquals(FabricErrno.EOPBADSTATE, errno(late::accept));
            Info twice = requests.get(2).info();
            Endpoint first = b.open(twice, 1);
            Endpoint second = b.open(twice, 2);
            first.accept();
            assertEquals(FabricErrno.EOPBADSTATE, errno(first::accept));
            assertEquals(FabricErrno.EOPBADSTATE, errno(second::accept));
            a.next(EventType.CONNECTED, asking.get(2));
            b.next(EventType.CONNECTED, first);
        }
    }

    private static int errno(Executable call) {
        return assertThrows(FabricException.class, call).errno();
    }
}
