package org.jfabric.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Set;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.link.LinkProvider;
import org.jfabric.info.EndpointType;
import org.jfabric.info.Info;
import org.jfabric.info.Verdict;
import org.junit.jupiter.api.Test;

/** Verdicts name the protection of each link of networks, and refuse those without one where it is demanded. */
class ProtectionTest {
    private static final Set<String> ENCRYPTED = Set.of("tls", "tlsrxm", "dtls");
    private static final String ALL = "loopback,shm,tcp,rxm,tls,tlsrxm,udp,dtls,verbs,verbsrxm,verbsud";

    private static List<LinkProvider> providers(DriverConfig config) {
        return LinkProviders.enabled(config).stream().filter(each -> !each.joinsLinks()).toList();
    }

    private static DriverConfig config(String policy) {
        return DriverConfig.builder().set("jfabric.link.enabled", ALL).set("jfabric.tls.policy", policy).build();
    }

    private static boolean isAbout(Verdict verdict, String part) {
        return verdict.reasons().stream().anyMatch(
            reason -> reason.condition().equals("protection") && reason.toString().contains(part));
    }

    @Test
    void shouldRefuseEveryPlainLinkOfNetworksWhereTlsIsRequired() {
        DriverConfig config = config("REQUIRED");
        int refused = 0;
        for (LinkProvider provider : providers(config)) {
            Verdict verdict = provider.verdict(new Info(), "driver", config);
            boolean isPlain = provider.usesSocketNames() && !ENCRYPTED.contains(provider.name());
            assertEquals(isPlain, isAbout(verdict, "jfabric.tls.policy is REQUIRED"), verdict::toString);
            assertFalse(isPlain && verdict.chosen(), verdict::toString);
            refused += isPlain ? 1 : 0;
        }
        assertEquals(6, refused);
    }

    @Test
    void shouldSayOfEachLinkWhetherItIsPlain() {
        DriverConfig config = config("OPTIONAL");
        int plain = 0;
        for (LinkProvider provider : providers(config)) {
            Verdict verdict = provider.verdict(new Info(), "driver", config);
            if (verdict.chosen() && provider.usesSocketNames()) {
                boolean isEncrypted = ENCRYPTED.contains(provider.name());
                String encrypted = provider.name().equals("dtls") ? "DTLS 1.2" : "TLS 1.3";
                assertTrue(isAbout(verdict, isEncrypted ? encrypted : "plain"), verdict::toString);
                plain += isEncrypted ? 0 : 1;
            }
        }
        assertTrue(plain >= 2, "plain links: " + plain);
    }

    /** An endpoint with several links has the protection of the one that leaves the host. */
    @Test
    void shouldEncryptAmongTheBestLinksWhereTlsIsRequired() {
        Info hints = new Info().linkName("best");
        for (String policy : List.of("OPTIONAL", "REQUIRED")) {
            DriverConfig config = config(policy);
            LinkProvider best = LinkProviders.enabled(config).getLast();
            List<String> links = best.links(hints, "driver", config);
            assertEquals(policy.equals("REQUIRED") ? "without" : "tcp",
                links.contains("tcp") ? "tcp" : "without", links::toString);
        }
    }

    /** The sockets of such endpoints are the client's, so that the driver cannot encrypt their bytes. */
    @Test
    void shouldOfferNoSocketEndpointsOverTls() {
        DriverConfig config = config("OPTIONAL");
        Info hints = new Info();
        hints.epAttr().type(EndpointType.SOCK_STREAM);
        for (LinkProvider provider : providers(config)) {
            assertEquals(provider.name().equals("tcp"), provider.verdict(hints, "driver", config).chosen(),
                provider.name());
        }
    }
}
