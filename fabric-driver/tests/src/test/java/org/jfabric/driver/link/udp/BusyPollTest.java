package org.jfabric.driver.link.udp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.UdpConfig;
import org.jfabric.ffi.BusyPoll;
import org.jfabric.info.EndpointType;
import org.jfabric.info.Info;
import org.jfabric.info.Reason;
import org.jfabric.info.SocketName;
import org.jfabric.info.Verdict;
import org.junit.jupiter.api.Test;

/** The option, the system's answer to it, and what the verdict says. */
class BusyPollTest {
    private static final SocketName LOCAL = SocketName.parse("fi_sockaddr_in://127.0.0.1:0");

    private static DriverConfig config(String micros) {
        return DriverConfig.builder().set("jfabric.udp.busyPollMicros", micros).build();
    }

    private static int ofSocket(DriverConfig config) {
        UdpNetwork network = UdpNetwork.of(config.get(UdpConfig.SOCKETS));
        UdpPort port = network.open(LOCAL, LOCAL.inetAddress(), false, config);
        try {
            return BusyPoll.get(port.descriptors()[0]);
        } finally {
            port.close();
        }
    }

    private static List<Reason> bounds(DriverConfig config) {
        Info hints = new Info();
        hints.epAttr().type(EndpointType.DGRAM);
        Verdict verdict = new UdpLinkProvider().verdict(hints, "node", config);
        assertTrue(verdict.chosen(), verdict::toString);
        return verdict.reasons().stream().filter(each -> each.condition().equals("busy poll")).toList();
    }

    @Test
    void shouldPollAsLongAsTheOptionSaysOrSayThatItMayNot() {
        int own = ofSocket(DriverConfig.builder().build());
        assertEquals(List.of(), bounds(DriverConfig.builder().build()));
        int wanted = own + 37;
        int got = ofSocket(config(Integer.toString(wanted)));
        Reason reason = bounds(config(Integer.toString(wanted))).getFirst();
        boolean isRefused = reason.toString().contains("refused");
        assertEquals(isRefused ? own : wanted, got);
    }

    @Test
    void shouldNameTheRemedyOrTheDevices() {
        Reason refused = BusyPollVerdict.describe(50, -BusyPoll.EPERM, List.of("eth0"));
        assertTrue(refused.toString().contains("net.core.busy_read=50"), refused::toString);
        Reason useless = BusyPollVerdict.describe(50, 0, List.of());
        assertTrue(useless.toString().contains("no effect"), useless::toString);
        Reason good = BusyPollVerdict.describe(50, 0, List.of("eth0", "eth1"));
        assertTrue(good.toString().contains("eth0, eth1"), good::toString);
    }
}
