package org.jfabric.driver.link.udp.dtls;

import java.util.List;
import org.jfabric.driver.link.LinkProvider;
import org.jfabric.driver.link.LinkSource;
import org.jfabric.driver.link.udp.UdpLinkProvider;

/** Link dtls: link udp, encrypted. */
public final class DtlsLinks implements LinkSource {
    /** Whoever does not ask for encryption does not pay for it. */
    private static final int SCORE = 7;

    /** Made by the driver. */
    public DtlsLinks() {
    }

    @Override
    public List<LinkProvider> links(List<LinkProvider> others) {
        return List.of(new UdpLinkProvider("dtls", SCORE, new DtlsEncryption()));
    }
}
