package org.jfabric.driver.link.best;

import java.util.List;
import java.util.Map;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.info.BestName;

/** The address of an endpoint with several links: a name in the driver, and the addresses of links that have one. */
final class BestAddress extends BoundAddress {
    private final BestName name;
    private final List<String> links;
    private final Map<String, BoundAddress> bound;

    /**
     * An address.
     *
     * @param bound addresses of links that have one of their own, by the name of the link.
     */
    BestAddress(BestName name, List<String> links, Map<String, BoundAddress> bound) {
        this.name = name;
        this.links = links;
        this.bound = bound;
    }

    @Override
    public String address() {
        return name.toString();
    }

    @Override
    public String address(String link) {
        return bound.containsKey(link) ? bound.get(link).address() : name.fabricName();
    }

    @Override
    public BoundAddress of(String link) {
        return bound.get(link);
    }

    @Override
    public boolean serves(String link) {
        return links.contains(link);
    }

    @Override
    public void close() {
        bound.values().forEach(BoundAddress::close);
    }
}
