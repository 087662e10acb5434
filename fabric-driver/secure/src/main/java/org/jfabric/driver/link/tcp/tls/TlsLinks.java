package org.jfabric.driver.link.tcp.tls;

import java.util.List;
import org.jfabric.driver.link.LinkProvider;
import org.jfabric.driver.link.LinkSource;
import org.jfabric.driver.link.tcp.TcpLinkProvider;
import org.jfabric.driver.tls.TlsIdentity;

/** Link tls: link tcp, encrypted. */
public final class TlsLinks implements LinkSource {
    /** Whoever does not ask for encryption does not pay for it. */
    private static final int SCORE = 35;

    /** Made by the driver. */
    public TlsLinks() {
    }

    @Override
    public List<LinkProvider> links(List<LinkProvider> others) {
        return List.of(new TcpLinkProvider("tls", SCORE, (services, config, access) ->
            new TlsResources(services, TlsIdentity.ofStreams(config), access)));
    }
}
