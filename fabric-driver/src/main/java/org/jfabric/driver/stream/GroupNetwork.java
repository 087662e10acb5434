package org.jfabric.driver.stream;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jfabric.driver.link.GroupName;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.driver.link.support.FabricName;
import org.jfabric.driver.resource.ResourceTask;
import org.jfabric.driver.stream.net.StreamNet;
import org.jfabric.driver.stream.net.StreamNode;
import org.jfabric.driver.stream.net.StreamPath;
import org.jfabric.driver.stream.net.StreamPolicy;
import org.jfabric.driver.stream.net.StreamReader;
import org.jfabric.driver.stream.net.StreamSocket;
import org.jfabric.driver.stream.net.StreamSockets;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.LogPosition;
import org.jfabric.info.SocketName;
import org.jfabric.stream.LogOptions;

/**
 * What the groups of a progress thread have to do with other hosts: the sockets, the groups that are sent, and those
 * that are read from there ({@link NetworkReader}). The protocol is in {@link StreamNet}.
 *
 * <p>Owner: progress agent.
 */
final class GroupNetwork {
    private final Groups groups;
    private final LinkServices services;
    private final StreamSockets sockets;
    private final StreamNet net;
    /** Of groups that are sent, by the text that their writers have given. */
    private final Map<String, Sending> sending = new HashMap<>();
    private final List<NetworkReader> readers = new ArrayList<>();

    /** A socket for the groups that are sent from one address. */
    private static final class Sending {
        /** Null while it is being opened. */
        private StreamNode node;
        private final ReplayServer replays = new ReplayServer();
        private int groups;
    }

    GroupNetwork(Groups groups, LinkServices services, StreamSockets sockets) {
        this.groups = groups;
        this.services = services;
        this.sockets = sockets;
        net = new StreamNet(services.environment()::secretLong, services.nowNs());
    }

    boolean isEmpty() {
        return sending.isEmpty() && readers.isEmpty();
    }

    // ---- sending ----

    /** Whether the socket of a group is being opened for another one. */
    boolean isOpening(String socket) {
        return sending.containsKey(socket) && sending.get(socket).node == null;
    }

    /** A group is about to be sent; returns whether its socket is still to be opened. */
    boolean claim(String socket) {
        Sending known = sending.computeIfAbsent(socket, each -> new Sending());
        return known.groups++ == 0;
    }

    /** The logs that hosts read from that socket. */
    ReplayServer replays(String socket) {
        return sending.get(socket).replays;
    }

    /** Opens that socket. Resource thread. */
    StreamSocket open(String socket) {
        return sockets.open(StreamAddress.resolve(socket));
    }

    /** The socket is open. */
    void opened(String socket, StreamSocket port) {
        sending.get(socket).node = net.open(port);
    }

    /** A group is not sent from that socket any more, or could not be. */
    void release(String socket) {
        Sending known = sending.get(socket);
        if (--known.groups == 0) {
            sending.remove(socket);
            known.replays.close();
            if (known.node != null) {
                net.close(known.node);
            }
        }
    }

    /** A group is sent from now on, by the socket that it has claimed. */
    void publish(Group group, long stallTimeoutNs) {
        GroupName name = group.name();
        String text = FabricName.endpointOf(name.address());
        GroupSource source = new GroupSource(group, services, this::stepNow, () -> {
            replays(name.network()).remove(text);
            release(name.network());
        });
        if (name.log() != null) {
            replays(name.network()).add(text, new ReplayServer.Log(name.log(), group.next(), group.ring().capacity(),
                name.options().visibility() == LogOptions.Visibility.SYNCED));
        }
        StreamPolicy policy = group.isLossy() ? StreamPolicy.lossy()
            : StreamPolicy.reliable().withStallTimeout(stallTimeoutNs);
        source.sentBy(net.publish(text, source, policy,
            List.of(new StreamPath(sending.get(name.network()).node, null))));
        group.open(source);
    }

    private void stepNow() {
        net.step(services.environment().nanoTime());
    }

    // ---- reading ----

    /** An endpoint wants to read a group of another host. */
    void join(GroupJoin join) {
        NetworkReader reader = find(join.group());
        if (reader == null) {
            if (!groups.claim(join.group())) {
                join.failed(FabricErrno.EAGAIN, "is just being joined by another progress thread", "Join again.");
                return;
            }
            reader = open(join.group(), join);
        }
        reader.join(join);
    }

    private NetworkReader open(String ring, GroupJoin join) {
        NetworkReader reader = new NetworkReader(this, services, ring, join.request().from());
        readers.add(reader);
        services.submit(new OpenTask(reader));
        return reader;
    }

    /** The ring of a stream does not have the place where an endpoint wants to begin: it gets a ring of its own. */
    void joinAlone(GroupJoin join, int number) {
        open(StreamAddress.alone(join.group(), number), join).join(join);
    }

    /** Whether an endpoint has a ring of its own, or is about to. */
    boolean isAlone(GroupJoin join) {
        return readers.stream().anyMatch(reader -> reader.joins().contains(join) && reader.isAlone());
    }

    /** Whether a group of another host is read by this thread, or is about to be. */
    boolean reads(String address) {
        return find(address) != null;
    }

    boolean isJoining(LocalEndpoint endpoint, String address) {
        return readers.stream().flatMap(reader -> reader.joins().stream())
            .anyMatch(join -> join.endpoint() == endpoint && join.group().equals(address));
    }

    private NetworkReader find(String address) {
        for (NetworkReader reader : readers) {
            if (reader.address().equals(address)) {
                return reader;
            }
        }
        return null;
    }

    /** An endpoint closes. */
    void detach(LocalEndpoint endpoint) {
        for (NetworkReader reader : readers) {
            for (GroupJoin join : List.copyOf(reader.joins())) {
                if (join.endpoint() == endpoint) {
                    reader.joins().remove(join);
                    join.closed();
                }
            }
        }
    }

    // ---- for the readers ----

    /** Makes the ring of a group that is written elsewhere. */
    Group create(NetworkReader reader, LogPosition start, int ringBytes, boolean isLossy) {
        return groups.create(GroupName.ofStream(reader.address(), isLossy), start, ringBytes, reader);
    }

    void read(GroupJoin join, Group group) {
        groups.read(join, group);
    }

    /** Reads the writer's log from a place on. */
    void replay(NetworkReader reader, LogPosition from) {
        services.submit(new ReplayTask(reader, from));
    }

    /** Reads what is written from a place on. */
    StreamReader subscribe(NetworkReader reader, LogPosition from, SocketName writer) {
        return net.subscribe(
            reader.group(), services.driverName(), from, reader, List.of(new StreamPath(reader.node(), writer)));
    }

    void close(Group group, int errno) {
        groups.close(group, errno);
    }

    /** A reader has ended, and has no ring any more. */
    void ended(NetworkReader reader) {
        readers.remove(reader);
        if (reader.node() != null) {
            net.close(reader.node());
        }
        if (!reader.isAlone()) {
            groups.unclaim(reader.address());
        }
    }

    // ---- progress ----

    /** Makes one step; 0 if there was nothing to do. */
    int poll() {
        int work = net.step(services.nowNs());
        for (int i = readers.size() - 1; i >= 0; i--) {
            work += readers.get(i).poll();
        }
        return work;
    }

    /** Prepares for the thread to sleep; false if there is work. */
    boolean arm() {
        boolean armed = net.arm();
        for (int i = 0; i < readers.size(); i++) {
            armed &= readers.get(i).isSettled();
        }
        return armed;
    }

    /** The driver ends. */
    void close() {
        for (NetworkReader reader : List.copyOf(readers)) {
            reader.close(FabricErrno.ESHUTDOWN);
        }
    }

    /** Connects to the writer's driver for its log. The name may have another address than before. */
    private final class ReplayTask extends ResourceTask {
        private final NetworkReader reader;
        private final LogPosition from;
        private LogReplay replay;

        ReplayTask(NetworkReader reader, LogPosition from) {
            this.reader = reader;
            this.from = from;
        }

        @Override
        protected void execute() throws IOException {
            replay = LogReplay.open(StreamAddress.resolve(reader.socket()), reader.group(), from);
        }

        @Override
        protected void onDone() {
            if (readers.contains(reader)) {
                reader.connected(replay);
            } else {
                replay.close();
            }
        }

        @Override
        protected void onFailed(Throwable cause) {
            if (readers.contains(reader)) {
                reader.disconnected();
            }
        }
    }

    /** Finds the writer, and opens the socket for its datagrams. */
    private final class OpenTask extends ResourceTask {
        private final NetworkReader reader;
        private SocketName writer;
        private StreamSocket port;

        OpenTask(NetworkReader reader) {
            this.reader = reader;
        }

        @Override
        protected void execute() {
            writer = StreamAddress.resolve(reader.socket());
            port = sockets.openTo(writer);
        }

        @Override
        protected void onDone() {
            if (readers.contains(reader)) {
                reader.opened(net.open(port), writer);
            } else {
                port.close();
            }
        }

        @Override
        protected void onFailed(Throwable cause) {
            if (readers.contains(reader)) {
                reader.failed(cause instanceof FabricException refusal ? refusal : new FabricException(FabricErrno.EIO,
                    "the stream " + reader.address() + " gets no socket: " + cause.getMessage(), "See the cause.",
                    cause));
            }
        }
    }
}
