package org.jfabric.driver.link.support;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.info.FabricErrno;

/**
 * A datagram endpoint: its channels, the messages that are queued for sending, and the groups that it has joined.
 *
 * <p>Owner: progress agent.
 *
 * @param <C> the link's class of channels.
 * @param <G> the link's class of joined groups.
 */
public abstract class DatagramEndpoint<C extends DatagramChannel, G extends BoundAddress> {
    /** Stands for the address of senders that are in no address vector. No real address has this form. */
    public static final String UNKNOWN_SENDERS = "unknown senders";

    private final LocalEndpoint local;
    private final Map<String, C> byAddress = new HashMap<>();
    private final List<C> openings = new ArrayList<>();
    private final DatagramQueue waiting = new DatagramQueue();
    private final DatagramSources sources = new DatagramSources();
    private final List<G> groups = new ArrayList<>();

    /** An endpoint without channels. */
    protected DatagramEndpoint(LocalEndpoint local) {
        this.local = local;
    }

    /** The engine's side. */
    protected final LocalEndpoint local() {
        return local;
    }

    /** The queue of messages that could not be sent at once. */
    protected final DatagramQueue waiting() {
        return waiting;
    }

    /** The channels by the key of their remote end. */
    protected final DatagramSources sources() {
        return sources;
    }

    // ---- channels ----

    /**
     * An address was inserted. Its channel is up at once, so that a send to it need not wait while later sends to other
     * peers proceed: strict completion order of datagrams covers all peers together.
     */
    protected final void introduce(String address) {
        if (!byAddress.containsKey(address) && isReachable(address)) {
            up(add(address, local.handlerFor(address)));
        }
    }

    /** Opens a channel. The next poll reports it as up, or as down if the address cannot be reached. */
    final C open(String address, ChannelHandler handler) {
        C channel = add(address, handler);
        openings.add(channel);
        return channel;
    }

    private C add(String address, ChannelHandler handler) {
        C channel = newChannel(address, handler);
        byAddress.put(channel.address(), channel);
        return channel;
    }

    private void up(C channel) {
        if (!channel.isGroup()) {
            sources.put(channel);
        }
        prepare(channel);
        channel.up();
    }

    /**
     * Removes a channel that the engine has closed. Its queued messages are dropped later; the engine ends their
     * operations.
     */
    public final void remove(C channel) {
        sources.remove(channel);
        openings.remove(channel);
        byAddress.remove(channel.address(), channel);
    }

    /** Whether channels wait for {@link #openAll}. */
    protected final boolean isOpening() {
        return !openings.isEmpty();
    }

    /** Reports the channels that were opened since the last poll. */
    protected final int openAll() {
        int work = 0;
        while (!openings.isEmpty()) {
            C channel = openings.removeFirst();
            if (isReachable(channel.address())) {
                up(channel);
            } else {
                remove(channel);
                channel.handler().onDown(FabricErrno.ENETUNREACH);
            }
            work++;
        }
        return work;
    }

    // ---- groups ----

    /**
     * Takes a group that was joined.
     *
     * @param group group from {@link BoundAddress#join}.
     */
    protected abstract void join(BoundAddress group);

    protected final void add(G group) {
        groups.add(group);
    }

    /** The groups that were joined. */
    protected final List<G> groups() {
        return groups;
    }

    /** Leaves a group; a group that was not joined is ignored. */
    final void leave(String address) {
        for (int i = 0; i < groups.size(); i++) {
            if (groups.get(i).address().equals(address)) {
                leave(groups.remove(i));
                return;
            }
        }
    }

    // ---- implemented by the link ----

    /** Makes a channel. Returns a channel that is not up yet. */
    protected abstract C newChannel(String address, ChannelHandler handler);

    /** Whether datagrams can be sent to an address from here. */
    protected boolean isReachable(String address) {
        return true;
    }

    /** A channel is about to be up. */
    protected void prepare(C channel) {
        // nothing for most links
    }

    /** Releases the resources of a group. */
    protected abstract void leave(G group);

    /**
     * Makes one step.
     *
     * @param limit largest number of datagrams to process.
     * @return 0 if there was nothing to do.
     */
    protected abstract int poll(int limit);

    /**
     * Prepares the endpoint for the thread to sleep. Returns true if the thread may sleep, because every arriving
     * datagram wakes it.
     */
    protected abstract boolean arm();

    /** As {@link DatagramLink#hasTimers()}: most links neither repeat nor await datagrams. */
    protected boolean hasTimers() {
        return false;
    }

    protected void detach() {
        close();
    }

    /** The driver ends. */
    protected abstract void close();
}
