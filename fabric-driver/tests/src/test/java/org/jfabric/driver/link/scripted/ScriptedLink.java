package org.jfabric.driver.link.scripted;

import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.LocalEndpoint;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A link without a medium: connects the engines of one test on one thread and does to their messages what a
 * {@link Script} says. There is one for each engine.
 *
 * <p>It opens like a link between two processes: opens of both sides can cross on their way, and then the lesser
 * address wins; an end can be dead before its other end notices.
 */
public final class ScriptedLink extends Link {
    /** The link's name. */
    public static final String NAME = "scripted";

    final Script script;
    private final Map<String, LocalEndpoint> endpoints = new HashMap<>();
    private final List<ScriptedChannel> channels = new ArrayList<>();
    private final ArrayDeque<ScriptedChannel> opens = new ArrayDeque<>();

    /**
     * A link without endpoints.
     *
     * @param script shared by the links that reach each other.
     */
    public ScriptedLink(Script script) {
        this.script = script;
        script.add(this);
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public boolean reaches(String remoteAddress) {
        return remoteAddress.startsWith("jfabric://");
    }

    @Override
    public void attach(LocalEndpoint endpoint) {
        endpoints.put(endpoint.address(), endpoint);
        script.linkByAddress.put(endpoint.address(), this);
    }

    @Override
    public void detach(LocalEndpoint endpoint) {
        endpoints.values().remove(endpoint);
        script.linkByAddress.remove(endpoint.address());
    }

    @Override
    public Channel connect(LocalEndpoint endpoint, String remoteAddress, ChannelHandler handler) {
        ScriptedChannel known = find(endpoint.address(), remoteAddress);
        if (known != null && known.handler() == handler) {
            return known;
        }
        ScriptedChannel channel = new ScriptedChannel(this, endpoint.address(), remoteAddress, handler);
        if (channel.local().equals(remoteAddress)) {
            channel.connectingToSelf();
        } else {
            channel.connecting();
        }
        channels.add(channel);
        return channel;
    }

    @Override
    public int poll(int limit) {
        int work = 0;
        for (int i = opens.size(); i > 0; i--) {
            accept(opens.poll());
            work++;
        }
        for (int i = 0; i < channels.size(); i++) {
            ScriptedChannel channel = channels.get(i);
            work += channel.poll(limit);
        }
        for (int i = channels.size() - 1; i >= 0; i--) {
            if (channels.get(i).isClosed()) {
                channels.remove(i);
            }
        }
        return work;
    }

    @Override
    public boolean arm() {
        boolean quiet = opens.isEmpty();
        for (ScriptedChannel channel : channels) {
            quiet &= channel.isQuiet();
        }
        return quiet;
    }

    @Override
    public void close() {
        channels.clear();
        opens.clear();
    }

    ScriptedChannel find(String local, String remote) {
        for (ScriptedChannel channel : channels) {
            if (!channel.isClosed() && !channel.isDead() && channel.local().equals(local)
                && channel.remote().equals(remote)) {
                return channel;
            }
        }
        return null;
    }

    /** The other side has begun anew: whatever was not noticed yet is over. */
    private void endStale(String local, String remote) {
        for (ScriptedChannel channel : channels) {
            if (channel.isDead() && channel.local().equals(local) && channel.remote().equals(remote)) {
                if (channel.wasUp()) {
                    script.observer.onEnd(local, remote);
                } else {
                    channel.abandon();
                }
            }
        }
    }

    /** An open arrives. */
    void open(ScriptedChannel other) {
        opens.add(other);
    }

    private void accept(ScriptedChannel other) {
        if (other.isClosed()) {
            return;
        }
        LocalEndpoint endpoint = endpoints.get(other.remote());
        ScriptedChannel own = find(other.remote(), other.local());
        if (endpoint == null || own == null && script.chance(script.refusePercent)) {
            other.refused();
            return;
        }
        if (own != null && own.isConnecting()) {
            if (own.local().compareTo(other.local()) < 0) {
                // ours wins: the other side drops its own when ours arrives
                own.crossed(other);
                return;
            }
            own.abandon();
        }
        endStale(other.remote(), other.local());
        ChannelHandler handler = endpoint.handlerFor(other.local());
        ScriptedChannel channel = new ScriptedChannel(this, other.remote(), other.local(), handler);
        channels.add(channel);
        channel.accepted(other);
    }
}
