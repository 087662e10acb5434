package org.jfabric.driver.link;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.link.udp.UdpLinkProvider;
import org.jfabric.driver.link.verbs.VerbsUdLinkProvider;
import org.jfabric.info.EndpointType;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.MrMode;
import org.jfabric.info.Verdict;
import org.junit.jupiter.api.Test;

/** Datagrams carry no remote memory access, whatever an application is able to do for it. */
class DatagramAccessTest {
    @Test
    void shouldRefuseAccessToMemory() {
        for (LinkProvider provider : List.of(new UdpLinkProvider(), new VerbsUdLinkProvider())) {
            for (long caps : new long[] {Flags.RMA, Flags.ATOMIC}) {
                Info hints = new Info().caps(Flags.MSG | caps).mode(-1L);
                hints.epAttr().type(EndpointType.DGRAM);
                hints.domainAttr().mrMode(MrMode.LOCAL | MrMode.VIRT_ADDR | MrMode.ALLOCATED | MrMode.PROV_KEY);
                Verdict verdict = provider.verdict(hints, "driver", DriverConfig.builder().build());
                assertFalse(verdict.chosen());
                assertTrue(verdict.reasons().stream().anyMatch(reason -> reason.toString().contains("caps")
                    && reason.toString().contains(Flags.toString(caps, Flags.Kind.CAPABILITY))), verdict::toString);
            }
        }
    }
}
