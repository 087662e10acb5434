package org.jfabric.driver.conformance.other;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.jfabric.ConnectionRequest;
import org.jfabric.Endpoint;
import org.jfabric.PassiveEndpoint;
import org.jfabric.driver.kit.ConnectionSide;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.EventType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FidClass;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** How connections are made, refused and ended, and what the event queues of both sides tell. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
class ConnectionTest {
    @ParameterizedTest(name = "{0}")
    @SetupSource(encrypted = true)
    @Requirement({"REF-023", "REF-025", "EP-059"})
    void shouldTellRequestConnectionAndEndInOrderWithData(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            ConnectionSide a = new ConnectionSide(pair, pair.a);
            ConnectionSide b = new ConnectionSide(pair, pair.b);
            PassiveEndpoint passive = b.listen(-1);
            Endpoint asking = a.open(0x11);
            asking.connect(passive.name(), ConnectionSide.bytes("..please.."), 2, 6);
            ConnectionSide.Event requested = b.next(EventType.CONNREQ, passive);
            assertEquals("please", requested.text());
            assertEquals(0x9E9, requested.context());
            ConnectionRequest request = requested.request();
            assertEquals(FidClass.CONNREQ, request.fidClass());
            if (!setup.isForeign()) {
                assertEquals(asking.name(), request.peerAddress(), "known before it is connected");
            }
            assertEquals(request.peerAddress(), requested.info().destAddr());
            assertEquals(passive.name(), requested.info().srcAddr());
            assertTrue(request.isOpen());
            a.assertNoEvent(20);

            Endpoint accepting = b.open(requested.info(), 0x22);
            accepting.accept(ConnectionSide.bytes("welcome"), 0, 7);
            assertFalse(request.isOpen());
            ConnectionSide.Event answered = a.next(EventType.CONNECTED, asking);
            assertEquals("welcome", answered.text());
            assertEquals(0x11, answered.context());
            ConnectionSide.Event made = b.next(EventType.CONNECTED, accepting);
            assertEquals(0, made.bytes().length);
            assertEquals(0x22, made.context());
            assertNotSame(passive, made.fid());
            assertEquals(request.peerAddress(), asking.name());
            assertEquals(passive.name(), asking.peer());
            assertEquals(asking.name(), accepting.peer());
            assertEquals(passive.name(), accepting.name());

            asking.shutdown(0);
            ConnectionSide.Event ended = b.next(EventType.SHUTDOWN, accepting);
            assertEquals(0, ended.data());
            assertEquals(0x22, ended.context());
            // and its own end, as with a provider of libfabric, once
            ConnectionSide.Event own = a.next(EventType.SHUTDOWN, asking);
            assertEquals(0, own.data());
            assertEquals(0x11, own.context());
            asking.shutdown(0);
            accepting.shutdown(0);
            a.assertNoEvent(20);
            b.assertNoEvent(20);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(encrypted = true)
    @Requirement("REF-025")
    void shouldTellARefusalWithItsData(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            ConnectionSide a = new ConnectionSide(pair, pair.a);
            ConnectionSide b = new ConnectionSide(pair, pair.b);
            PassiveEndpoint passive = b.listen(-1);
            Endpoint asking = a.open(0x11);
            asking.connect(passive.name());
            ConnectionRequest request = b.next(EventType.CONNREQ, passive).request();
            passive.reject(request, ConnectionSide.bytes("not today"), 0, 9);
            assertFalse(request.isOpen());
            ConnectionSide.Event refused = a.nextError(FabricErrno.ECONNREFUSED, asking);
            assertEquals("not today", refused.text());
            assertEquals(0x11, refused.context());
            // the same endpoint asks again
            asking.connect(passive.name());
            Endpoint accepting = b.open(b.next(EventType.CONNREQ, passive).info(), 0x22);
            accepting.accept();
            a.next(EventType.CONNECTED, asking);
            b.next(EventType.CONNECTED, accepting);
            a.assertNoEvent(20);
        }
    }
}
