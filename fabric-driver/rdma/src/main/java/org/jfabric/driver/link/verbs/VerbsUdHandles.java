package org.jfabric.driver.link.verbs;

import java.util.HashMap;
import java.util.Map;
import org.jfabric.driver.ffi.AddressRoute;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.resource.ResourceTask;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * A cache of the address handles of one endpoint, one for each port or group that it sends to. They are made on the
 * resource thread. Their number is limited: the least recently used idle handle is evicted when another one is needed.
 * The endpoint's {@link VerbsUdPort} frees the rest when it is closed.
 *
 * <p>Owner: progress agent.
 */
final class VerbsUdHandles {
    private final VerbsUdPort port;
    private final LinkServices services;
    private final int limit;
    private final Map<String, VerbsUdHandle> byWay = new HashMap<>();
    private long uses;

    VerbsUdHandles(VerbsUdPort port, LinkServices services, int limit) {
        this.port = port;
        this.services = services;
        this.limit = limit;
    }

    /** Begins to make the handle of a channel, if the limit allows: a send may follow soon. */
    void prepare(VerbsUdChannel channel) {
        if (byWay.size() < limit) {
            channel.handle(of(channel));
        }
    }

    /**
     * The handle for a send. Returns a handle that is ready or has failed; null while it is being made or no other can
     * be evicted.
     */
    VerbsUdHandle use(VerbsUdChannel channel) {
        VerbsUdHandle handle = channel.handle();
        if (handle == null || handle.state == VerbsUdHandle.GONE) {
            handle = of(channel);
            channel.handle(handle);
        }
        if (handle == null || handle.state == VerbsUdHandle.MAKING) {
            return null;
        }
        handle.lastUse = ++uses;
        if (handle.state == VerbsUdHandle.FAILED && byWay.get(handle.way) == handle) {
            // the sends that wait for it fail; the next one tries again
            byWay.remove(handle.way);
        }
        return handle;
    }

    private VerbsUdHandle of(VerbsUdChannel channel) {
        VerbsUdHandle known = byWay.get(channel.way());
        if (known != null) {
            return known;
        }
        if (byWay.size() >= limit && !giveUpOne()) {
            return null;
        }
        VerbsUdHandle made = new VerbsUdHandle(channel.way());
        made.lastUse = ++uses;
        byWay.put(made.way, made);
        make(made, channel);
        return made;
    }

    private boolean giveUpOne() {
        VerbsUdHandle oldest = null;
        for (VerbsUdHandle handle : byWay.values()) {
            boolean isIdle = handle.state == VerbsUdHandle.READY && handle.sends == 0;
            if (isIdle && (oldest == null || handle.lastUse < oldest.lastUse)) {
                oldest = handle;
            }
        }
        if (oldest == null) {
            return false;
        }
        byWay.remove(oldest.way);
        oldest.state = VerbsUdHandle.GONE;
        giveBack(oldest);
        return true;
    }

    private void make(VerbsUdHandle handle, VerbsUdChannel channel) {
        services.submit(new ResourceTask() {
            private long made;
            private VerbsUdMembership joined;

            @Override
            protected void execute() {
                if (channel.isGroup()) {
                    joined = VerbsUdMembership.join(port, channel.group());
                }
                made = port.createHandle(joined == null ? route(channel) : joined.route(), joined);
            }

            @Override
            protected void onDone() {
                if (made > 0) {
                    handle.ready(made, joined);
                } else {
                    failed(handle, channel, (int) -made, "ibv_create_ah: " + FabricErrno.name((int) -made));
                }
            }

            @Override
            protected void onFailed(Throwable cause) {
                failed(handle, channel, cause instanceof FabricException known ? known.errno() : FabricErrno.EIO,
                    cause.getMessage());
            }
        });
    }

    private void failed(VerbsUdHandle handle, VerbsUdChannel channel, int errno, String text) {
        handle.failed(errno);
        services.onError(new FabricException(errno, "there is no route from " + port.address() + " to "
            + channel.address() + ": " + text,
            "Check that both are in one network and have GIDs of one kind (IPv4, IPv6, link-local)."));
    }

    private byte[] route(VerbsUdChannel channel) {
        VerbsUdPlace place = port.place();
        return AddressRoute.of(channel.gid(), channel.lid(), channel.level(), place.port(), place.gidIndex());
    }

    private void giveBack(VerbsUdHandle handle) {
        services.submit(new ResourceTask() {
            @Override
            protected void execute() {
                port.destroyHandle(handle.pointer());
            }

            @Override
            protected void onDone() {
                // there is no result
            }

            @Override
            protected void onFailed(Throwable cause) {
                services.onError(cause);
            }
        });
    }
}
