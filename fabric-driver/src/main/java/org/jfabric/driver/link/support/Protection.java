package org.jfabric.driver.link.support;

import java.util.ArrayList;
import java.util.List;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.TlsConfig;
import org.jfabric.driver.config.TlsPolicy;
import org.jfabric.info.Reason;

/** The part of verdicts about the protection of messages to other hosts. Pure functions; any thread. */
final class Protection {
    private static final String CONDITION = "protection";
    private static final String REMEDY = "Use link tls, tlsrxm or dtls to peers that do the same; see docs/security.md";
    private static final Reason PLAIN = new Reason(CONDITION, "plain: no encryption, an address proves only a host",
        "a network that is trusted", REMEDY);

    private Protection() {
    }

    /** The condition that fails if the driver demands encryption; empty if it does not, or if the link has it. */
    static List<Reason> refusals(boolean isEncrypted, DriverConfig config) {
        return isEncrypted || config.get(TlsConfig.POLICY) == TlsPolicy.OPTIONAL ? List.of() : List.of(new Reason(
            CONDITION, "plain", "TLS, because " + TlsConfig.POLICY.name() + " is " + TlsPolicy.REQUIRED, REMEDY));
    }

    /**
     * The conditions of an accepted link, with the one about its protection.
     *
     * @param protocol of the encryption, if there is one.
     */
    static List<Reason> describe(boolean isEncrypted, String protocol, List<Reason> others) {
        List<Reason> all = new ArrayList<>(others);
        all.add(!isEncrypted ? PLAIN : new Reason(
            CONDITION, protocol + ": encrypted, each side proves its key", "a key for each driver", ""));
        return all;
    }
}
