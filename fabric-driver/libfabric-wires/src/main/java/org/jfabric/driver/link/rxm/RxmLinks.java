package org.jfabric.driver.link.rxm;

import java.util.List;
import java.util.stream.Stream;
import org.jfabric.driver.link.LinkProvider;
import org.jfabric.driver.link.LinkSource;

/** The links of the protocol over those links of connections that there are. */
public final class RxmLinks implements LinkSource {
    /** Made by the driver. */
    public RxmLinks() {
    }

    @Override
    public boolean standsOnOthers() {
        return true;
    }

    @Override
    public List<LinkProvider> links(List<LinkProvider> others) {
        return others.stream().<LinkProvider>flatMap(below -> switch (below.name()) {
            case "tcp" -> Stream.of(new RxmLinkProvider(RxmLinkProvider.NAME, below.ofPackets()));
            case "tls" -> Stream.of(RxmLinkProvider.overTls(below.ofPackets()));
            case "verbs" -> Stream.of(new RxmLinkProvider(RxmLinkProvider.VERBS_NAME, below.ofPackets()));
            default -> Stream.empty();
        }).toList();
    }
}
