package org.jfabric.driver.link.tcp;

import org.jfabric.driver.config.Sockets;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The same with the JDK's sockets. */
class TcpNioLinkTest extends TcpLinkTest {
    @BeforeAll
    static void useNio() {
        TcpNode.use(Sockets.NIO);
    }

    @AfterAll
    static void useNative() {
        TcpNode.use(Sockets.NATIVE);
    }
}
