package org.jfabric.driver.link.support;

import java.util.List;
import java.util.stream.Stream;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.LocalEndpoint;

/**
 * Base class of the links for unreliable datagrams: each endpoint is polled by itself.
 *
 * <p>Owner: progress agent.
 *
 * @param <E> the link's class of endpoints.
 */
public abstract class DatagramLink<E extends DatagramEndpoint<?, ?>> extends Link {
    /** Replaced by each change, because a step of an endpoint may attach or detach others. */
    private List<E> endpoints = List.of();

    /** A link without endpoints. */
    protected DatagramLink() {
    }

    protected final void add(E endpoint) {
        endpoints = Stream.concat(endpoints.stream(), Stream.of(endpoint)).toList();
    }

    @Override
    public final void detach(LocalEndpoint endpoint) {
        E found = find(endpoint);
        if (found != null) {
            endpoints = endpoints.stream().filter(other -> other != found).toList();
            found.detach();
        }
    }

    @Override
    public final void onInserted(LocalEndpoint endpoint, String address) {
        E found = find(endpoint);
        if (found != null && reaches(address)) {
            found.introduce(address);
        }
    }

    @Override
    public final void join(LocalEndpoint endpoint, BoundAddress group) {
        E found = find(endpoint);
        if (found == null) {
            group.close();
        } else {
            found.join(group);
        }
    }

    @Override
    public final void leave(LocalEndpoint endpoint, String group) {
        E found = find(endpoint);
        if (found != null) {
            found.leave(group);
        }
    }

    @Override
    public final Channel connect(LocalEndpoint endpoint, String remoteAddress, ChannelHandler handler) {
        return find(endpoint).open(remoteAddress, handler);
    }

    @Override
    public final int poll(int limit) {
        List<E> all = endpoints;
        int work = 0;
        for (int i = 0; i < all.size(); i++) {
            work += all.get(i).poll(limit);
        }
        return work;
    }

    @Override
    public final boolean arm() {
        boolean armed = true;
        for (E endpoint : endpoints) {
            armed &= endpoint.arm();
        }
        return armed;
    }

    @Override
    public final boolean hasTimers() {
        List<E> all = endpoints;
        for (int i = 0; i < all.size(); i++) {
            if (all.get(i).hasTimers()) {
                return true;
            }
        }
        return false;
    }

    @Override
    public void close() {
        endpoints.forEach(DatagramEndpoint::close);
        endpoints = List.of();
    }

    private E find(LocalEndpoint endpoint) {
        for (E candidate : endpoints) {
            if (candidate.local() == endpoint) {
                return candidate;
            }
        }
        return null;
    }
}
