package org.jfabric.driver.link.verbs;

import java.util.List;
import org.jfabric.driver.link.LinkProvider;
import org.jfabric.driver.link.LinkSource;

/** The links over RDMA devices that applications use as they are. */
public final class VerbsLinks implements LinkSource {
    /** Made by the driver. */
    public VerbsLinks() {
    }

    @Override
    public List<LinkProvider> links(List<LinkProvider> others) {
        return List.of(VerbsLinkProvider.ofMessages(), new VerbsUdLinkProvider());
    }
}
