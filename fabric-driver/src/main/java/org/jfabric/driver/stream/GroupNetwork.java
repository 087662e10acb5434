package org.jfabric.driver.stream;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.agrona.UnsafeApi;
import org.jfabric.driver.link.GroupName;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.driver.link.support.FabricName;
import org.jfabric.driver.resource.ResourceTask;
import org.jfabric.driver.stream.net.GroupKeys;
import org.jfabric.driver.stream.net.SealedSocket;
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
    private static final long REVIEW_NS = 1_000_000_000L;

    private final Groups groups;
    private final LinkServices services;
    private final StreamSockets sockets;
    private final StreamNet net;
    /** Of groups that are sent, by the paths as their writers have named them. */
    private final Map<String, Sending> sending = new HashMap<>();
    private final List<NetworkReader> readers = new ArrayList<>();
    private long othersCounter;
    /** Null if nothing is sealed. */
    private final Path keyFile;
    /** Of the connections for logs; null if nothing is sealed, or there is none. */
    private final ReplaySecurity security;
    private final List<SealedSocket> sealed = new ArrayList<>();
    private long reviewedNs;
    private boolean isReading;
    private String keyFailure = "";

    /** A socket for the groups that are sent from one address, or to one multicast group. */
    private static final class Sending {
        /** Null while it is being opened. */
        private StreamPath path;
        private final ReplayServer replays;
        private final String first;
        private int groups;

        Sending(String first, ReplaySecurity security) {
            this.first = first;
            this.replays = new ReplayServer(security);
        }
    }

    /**
     * A socket that was opened for groups.
     *
     * @param path as in the name of the group.
     * @param peer the multicast group; null without.
     */
    record Opened(String path, StreamSocket port, SocketName peer) {
    }

    GroupNetwork(
        Groups groups, LinkServices services, StreamSockets sockets, long silenceNs, Path keyFile,
        ReplaySecurity security) {
        this.groups = groups;
        this.services = services;
        this.sockets = sockets;
        this.keyFile = keyFile;
        this.security = keyFile == null ? null : security;
        net = new StreamNet(services.environment()::secretLong, silenceNs, services.nowNs());
    }

    /** After which a host is taken for dead. */
    long silenceNs() {
        return net.silenceNs();
    }

    boolean isEmpty() {
        return sending.isEmpty() && readers.isEmpty() && !net.isClosing();
    }

    // ---- sending ----

    /** Whether a socket of a group is being opened for another one. */
    boolean isOpening(String network) {
        return StreamAddress.paths(network).stream()
            .anyMatch(path -> sending.containsKey(path) && sending.get(path).path == null);
    }

    /** Whether a socket of a group has another one, and no more, because it is sealed. */
    boolean isFull(GroupName name) {
        return keyFile != null && StreamAddress.paths(name.network()).stream()
            .anyMatch(path -> sending.containsKey(path) && !sending.get(path).first.equals(name.address()));
    }

    /** A group is about to be sent; returns those of its paths whose sockets are still to be opened. */
    List<String> claim(GroupName name) {
        List<String> closed = new ArrayList<>();
        for (String path : StreamAddress.paths(name.network())) {
            if (sending.computeIfAbsent(path, each -> new Sending(name.address(), security)).groups++ == 0) {
                closed.add(path);
            }
        }
        return closed;
    }

    /** What shows the log of a group, on each of its paths. */
    List<ReplayServer> replays(GroupName name) {
        return StreamAddress.paths(name.network()).stream().map(path -> sending.get(path).replays).toList();
    }

    /** Opens those sockets. Resource thread. */
    List<Opened> open(GroupName name, List<String> closed, List<ReplayServer> replays) {
        List<StreamAddress.Way> ways = StreamAddress.writerWays(name.network());
        List<String> paths = StreamAddress.paths(name.network());
        List<Opened> opened = new ArrayList<>();
        try {
            for (String path : closed) {
                StreamAddress.Way way = ways.get(paths.indexOf(path));
                StreamSocket port = seal(sockets.open(way.socket(), way.networkInterface()),
                    FabricName.endpointOf(name.address()), true);
                opened.add(new Opened(path, port, way.isMulticast() ? way.socket() : null));
            }
            openReplays(name, ways, replays);
        } catch (RuntimeException e) {
            opened.forEach(each -> each.port().close());
            throw e;
        }
        return opened;
    }

    /** Has hosts read the log of a group, if it is recorded. */
    private void openReplays(GroupName name, List<StreamAddress.Way> ways, List<ReplayServer> servers) {
        for (int i = 0; name.log() != null && i < ways.size(); i++) {
            FabricException lack =
                replayLack("group " + name.address() + " is recorded, and", ways.get(i).isMulticast());
            if (lack != null) {
                throw lack;
            }
            servers.get(i).open(ways.get(i).socket());
        }
    }

    /** Why hosts cannot read a log; null if they can. */
    private FabricException replayLack(String what, boolean isMulticast) {
        if (isMulticast) {
            return new FabricException(FabricErrno.EOPNOTSUPP, what + " comes by a multicast group, of which hosts"
                + " read no log", "Send it by unicast, or record it by a reader.");
        }
        return keyFile == null || security != null ? null : new FabricException(FabricErrno.EOPNOTSUPP, what
            + " is sealed with keys, so that its log is read by TLS alone, which this driver does not have",
            "Add tls to jfabric.link.enabled of the drivers, with the files of jfabric.tls; see docs/security.md.");
    }

    private StreamSocket seal(StreamSocket port, String group, boolean isWriter) {
        if (keyFile == null) {
            return port;
        }
        boolean isSealed = false;
        try {
            StreamSocket result = new SealedSocket(port, GroupKeyFile.read(keyFile), group, isWriter, 0,
                services.environment()::secretLong, services.environment()::nanoTime);
            isSealed = true;
            return result;
        } finally {
            if (!isSealed) {
                port.close();
            }
        }
    }

    private StreamNode node(StreamSocket port) {
        if (port instanceof SealedSocket socket) {
            sealed.add(socket);
        }
        return net.open(port);
    }

    private void close(StreamNode node) {
        sealed.removeIf(node::uses);
        net.close(node);
    }

    /** The sockets are open. */
    void opened(List<Opened> opened) {
        opened.forEach(each -> sending.get(each.path()).path = new StreamPath(node(each.port()), each.peer()));
    }

    /** A group is not sent by those paths any more, or could not be. */
    void release(String network) {
        for (String path : StreamAddress.paths(network)) {
            Sending known = sending.get(path);
            if (--known.groups == 0) {
                sending.remove(path);
                known.replays.close();
                if (known.path != null) {
                    close(known.path.node());
                }
            }
        }
    }

    /** A group is sent from now on, by the sockets that it has claimed. */
    void publish(Group group, long stallTimeoutNs) {
        GroupName name = group.name();
        String text = FabricName.endpointOf(name.address());
        GroupSource source = new GroupSource(group, services, this);
        StreamPolicy policy = policy(group).withStallTimeout(stallTimeoutNs).withRate(name.bytesPerSecond());
        List<StreamPath> paths = new ArrayList<>();
        for (String path : StreamAddress.paths(name.network())) {
            Sending known = sending.get(path);
            paths.add(known.path);
            if (name.log() != null) {
                known.replays.add(text, new ReplayServer.Log(name.log(), group.next(), group.ring().capacity(),
                    name.options().visibility() == LogOptions.Visibility.SYNCED));
            }
        }
        source.sentBy(net.publish(text, source, policy, paths));
        group.open(source);
    }

    /** A group is not sent any more: who reads its log gets the rest. */
    void unpublish(Group group) {
        for (String path : StreamAddress.paths(group.name().network())) {
            sending.get(path).replays.remove(FabricName.endpointOf(group.address()));
        }
        release(group.name().network());
    }

    private static StreamPolicy policy(Group group) {
        GroupName name = group.name();
        if (name.quorum() != 0) {
            return StreamPolicy.quorum(name.quorum());
        }
        if (!name.required().isEmpty()) {
            return StreamPolicy.required(name.required());
        }
        return group.isLossy() ? StreamPolicy.lossy() : StreamPolicy.reliable();
    }

    /** Steps, while a driver that ends waits for the hosts. */
    void step() {
        net.step(services.environment().nanoTime());
    }

    /** Counts another writer of the same name at a multicast group. */
    void countOther() {
        if (othersCounter == 0) {
            othersCounter = services.counterAddress("streams: other writers of multicast groups");
        }
        // one writer, read by tools: no ordering is needed, but the store must not tear
        UnsafeApi.putLongOpaque(null, othersCounter, UnsafeApi.getLong(othersCounter) + 1);
    }

    // ---- reading ----

    /** An endpoint wants to read a group of another host. */
    void join(GroupJoin join) {
        NetworkReader reader = find(join.group());
        if (reader == null) {
            // refused before its name is claimed
            StreamAddress.parse(join.group());
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
        open(reader, StreamAddress.paths(reader.network()));
        return reader;
    }

    /** Opens the sockets of paths. */
    void open(NetworkReader reader, List<String> paths) {
        services.submit(new OpenTask(reader, paths));
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
        // the network of one path may have failed: the next try takes the other one
        List<String> paths = StreamAddress.paths(reader.network());
        services.submit(new ReplayTask(reader, paths.get(reader.nextTry() % paths.size()), from));
    }

    /** Reads what is written from a place on. */
    StreamReader subscribe(NetworkReader reader, LogPosition from) {
        return net.subscribe(
            reader.group(), services.driverName(), from, reader, reader.paths(), reader.times() != null);
    }

    /** Why the log of a stream cannot be read; null if it can, should there be one. */
    FabricException replayLack(NetworkReader reader) {
        return replayLack("the log of stream " + StreamAddress.shared(reader.address()) + " is to be read, which",
            reader.paths().stream().anyMatch(path -> path.peer().inetAddress().isMulticastAddress()));
    }

    void close(Group group, int errno) {
        groups.close(group, errno);
    }

    /** A reader has ended, and has no ring any more. */
    void ended(NetworkReader reader) {
        readers.remove(reader);
        reader.paths().forEach(path -> close(path.node()));
        if (!reader.isAlone()) {
            groups.unclaim(reader.address());
        }
    }

    // ---- progress ----

    /** Makes one step; 0 if there was nothing to do. */
    int poll() {
        int work = net.step(services.nowNs());
        review();
        for (int i = readers.size() - 1; i >= 0; i--) {
            work += readers.get(i).poll();
        }
        return work;
    }

    /** Now and then: names what could not be opened or read, and has the file of the keys read again. */
    private void review() {
        long nowNs = services.nowNs();
        if (isReading || nowNs - reviewedNs < REVIEW_NS) {
            return;
        }
        reviewedNs = nowNs;
        sending.values().forEach(each -> notice(each.replays.takeNotice()));
        if (!sealed.isEmpty()) {
            isReading = true;
            services.submit(new KeyTask());
        }
        for (SealedSocket socket : sealed) {
            notice(socket.takeNotice());
        }
    }

    private void notice(FabricException notice) {
        if (notice != null) {
            services.onError(notice);
        }
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
        net.closeNow();
    }

    /** Connects to the writer's driver for its log. The name may have another address than before. */
    private final class ReplayTask extends ResourceTask {
        private final NetworkReader reader;
        private final String path;
        private final LogPosition from;
        private LogReplay replay;

        ReplayTask(NetworkReader reader, String path, LogPosition from) {
            this.reader = reader;
            this.path = path;
            this.from = from;
        }

        @Override
        protected void execute() throws IOException {
            replay = LogReplay.open(StreamAddress.way(path).socket(), reader.group(), from, security);
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
                reader.notConnected(cause);
            }
        }
    }

    /** Reads the keys again. */
    private final class KeyTask extends ResourceTask {
        private GroupKeys keys;

        @Override
        protected void execute() {
            keys = GroupKeyFile.read(keyFile);
        }

        @Override
        protected void onDone() {
            isReading = false;
            keyFailure = "";
            for (SealedSocket socket : sealed) {
                socket.keys(keys);
            }
        }

        @Override
        protected void onFailed(Throwable cause) {
            isReading = false;
            String failure = cause.toString();
            if (!failure.equals(keyFailure) && cause instanceof FabricException refusal) {
                services.onError(refusal);
            }
            keyFailure = failure;
        }
    }

    /** Finds the writer, and opens the sockets for its datagrams. */
    private final class OpenTask extends ResourceTask {
        private final NetworkReader reader;
        private final List<String> paths;
        /** None of the reader's sockets is open. */
        private final boolean isFirst;
        private final List<Opened> opened = new ArrayList<>();
        private final List<String> missing = new ArrayList<>();
        /** Why one of two paths is not used. */
        private FabricException lack;

        OpenTask(NetworkReader reader, List<String> paths) {
            this.reader = reader;
            this.paths = paths;
            this.isFirst = reader.paths().isEmpty();
        }

        @Override
        protected void execute() {
            for (String path : paths) {
                try {
                    StreamAddress.Way way = StreamAddress.way(path);
                    StreamSocket port = seal(
                        sockets.openTo(way.socket(), way.networkInterface(), reader.times()), reader.group(), false);
                    opened.add(new Opened(path, port, way.socket()));
                } catch (FabricException e) {
                    lack = e;
                    missing.add(path);
                }
            }
            if (isFirst && opened.isEmpty()) {
                throw lack;
            }
        }

        @Override
        protected void onDone() {
            if (!readers.contains(reader)) {
                opened.forEach(each -> each.port().close());
                return;
            }
            if (isFirst && lack != null) {
                // as if that network had failed: the other one brings everything
                services.onError(lack);
            }
            reader.opened(
                opened.stream().map(each -> new StreamPath(node(each.port()), each.peer())).toList(), missing);
        }

        @Override
        protected void onFailed(Throwable cause) {
            if (!isFirst) {
                reader.opened(List.of(), paths);
            } else if (readers.contains(reader)) {
                reader.failed(cause instanceof FabricException refusal ? refusal : new FabricException(FabricErrno.EIO,
                    "the stream " + reader.address() + " gets no socket: " + cause.getMessage(), "See the cause.",
                    cause));
            }
        }
    }
}
