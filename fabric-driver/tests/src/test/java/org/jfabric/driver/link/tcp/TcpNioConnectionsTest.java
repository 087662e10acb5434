package org.jfabric.driver.link.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.jfabric.driver.config.Sockets;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The same with the JDK's sockets. */
class TcpNioConnectionsTest extends TcpConnectionsTest {
    @BeforeAll
    static void useNio() {
        TcpNode.use(Sockets.NIO);
    }

    @AfterAll
    static void useNative() {
        TcpNode.use(Sockets.NATIVE);
    }

    @Test
    void shouldRefuseABoundThatTheSocketsOfTheJdkDoNotHave() {
        FabricException refused = assertThrows(FabricException.class,
            () -> new TcpNode("127.0.0.1", "jfabric.tcp.userTimeoutNs", "9s"));
        assertEquals(FabricErrno.EINVAL, refused.errno());
        refused = assertThrows(FabricException.class,
            () -> new TcpNode("127.0.0.1", "jfabric.tcp.peerTimeoutNs", "9s"));
        assertTrue(refused.getMessage().contains("jfabric.tcp.peerTimeoutNs"), refused.getMessage());
    }
}
