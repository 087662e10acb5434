package org.jfabric.driver.link.best;

import org.jfabric.driver.link.BoundAddress;
import org.jfabric.info.BestName;

/** The address of an endpoint with several links: a name in the driver, and perhaps an address of one of the links. */
final class BestAddress extends BoundAddress {
    private final BestName name;
    private final String linkName;
    private final BoundAddress bound;

    /**
     * An address.
     *
     * @param name     with all links.
     * @param linkName of the link that has an address of its own; null if none has.
     * @param bound    that address, or null.
     */
    BestAddress(BestName name, String linkName, BoundAddress bound) {
        this.name = name;
        this.linkName = linkName;
        this.bound = bound;
    }

    @Override
    public String address() {
        return name.toString();
    }

    @Override
    public String address(String link) {
        return link.equals(linkName) ? bound.address() : name.fabricName();
    }

    @Override
    public BoundAddress of(String link) {
        return link.equals(linkName) ? bound : null;
    }

    @Override
    public void close() {
        if (bound != null) {
            bound.close();
        }
    }
}
