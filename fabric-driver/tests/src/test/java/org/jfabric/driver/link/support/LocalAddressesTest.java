package org.jfabric.driver.link.support;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import org.jfabric.driver.config.TcpConfig;
import org.jfabric.driver.kit.AddressOfLoopback;
import org.jfabric.info.Info;
import org.junit.jupiter.api.Test;

class LocalAddressesTest {
    private static String chosen(String networkInterface) {
        return LocalAddresses.choose(new Info(), networkInterface, TcpConfig.INTERFACE.name())
            .inetAddress().getHostAddress();
    }

    @Test
    void shouldLeaveAFurtherAddressOfAnInterfaceToThoseWhoNameIt() {
        try (AddressOfLoopback further = new AddressOfLoopback(1)) {
            assumeTrue(further.add(), "no address can be added to lo: run the tests as root");
            assertEquals("127.0.0.1", chosen("lo"));
            assertNotEquals(further.toString(), chosen(TcpConfig.ANY_INTERFACE));
            assertEquals(further.toString(), chosen(further.toString()));
        }
    }
}
