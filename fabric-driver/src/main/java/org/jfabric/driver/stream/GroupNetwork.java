package org.jfabric.driver.stream;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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
import org.jfabric.driver.stream.net.StreamSocket;
import org.jfabric.driver.stream.net.StreamSockets;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.LogPosition;
import org.jfabric.info.SocketName;

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
    /** Of groups that are sent, by the text that their writers have given. */
    private final Map<String, Sending> sending = new HashMap<>();
    private final List<NetworkReader> readers = new ArrayList<>();
    /** Null if nothing is sealed. */
    private final Path keyFile;
    private final List<SealedSocket> sealed = new ArrayList<>();
    private long reviewedNs;
    private boolean isReading;
    private String keyFailure = "";

    /** A socket for the groups that are sent from one address. */
    private static final class Sending {
        /** Null while it is being opened. */
        private StreamNode node;
        private final String first;
        private int groups;

        Sending(String first) {
            this.first = first;
        }
    }

    GroupNetwork(Groups groups, LinkServices services, StreamSockets sockets, Path keyFile) {
        this.groups = groups;
        this.services = services;
        this.sockets = sockets;
        this.keyFile = keyFile;
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

    /** Whether the socket of a group has another one, and no more, because it is sealed. */
    boolean isFull(GroupName name) {
        Sending known = sending.get(name.network());
        return keyFile != null && known != null && !known.first.equals(name.address());
    }

    /** A group is about to be sent; returns whether its socket is still to be opened. */
    boolean claim(GroupName name) {
        Sending known = sending.computeIfAbsent(name.network(), each -> new Sending(name.address()));
        return known.groups++ == 0;
    }

    /** Opens that socket. Resource thread. */
    StreamSocket open(GroupName name) {
        return seal(
            sockets.open(StreamAddress.resolve(name.network())), FabricName.endpointOf(name.address()), true);
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

    /** The socket is open. */
    void opened(String socket, StreamSocket port) {
        sending.get(socket).node = node(port);
    }

    /** A group is not sent from that socket any more, or could not be. */
    void release(String socket) {
        Sending known = sending.get(socket);
        if (--known.groups == 0) {
            sending.remove(socket);
            if (known.node != null) {
                close(known.node);
            }
        }
    }

    /** A group is sent from now on, by the socket that it has claimed. */
    void publish(Group group, long stallTimeoutNs) {
        GroupName name = group.name();
        GroupSource source = new GroupSource(group, services, this::stepNow, () -> release(name.network()));
        StreamPolicy policy = policy(name).withStallTimeout(stallTimeoutNs).withRate(name.bytesPerSecond());
        source.sentBy(net.publish(FabricName.endpointOf(name.address()), source, policy,
            List.of(new StreamPath(sending.get(name.network()).node, null))));
        group.open(source);
    }

    private static StreamPolicy policy(GroupName name) {
        if (name.quorum() != 0) {
            return StreamPolicy.quorum(name.quorum());
        }
        if (!name.required().isEmpty()) {
            return StreamPolicy.required(name.required());
        }
        return name.isLossy() ? StreamPolicy.lossy() : StreamPolicy.reliable();
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
            reader = new NetworkReader(this, services, join.group(), join.request().from());
            readers.add(reader);
            services.submit(new OpenTask(reader));
        }
        reader.join(join);
    }

    /** Whether a group of another host is read by this thread, or is about to be. */
    boolean reads(String address) {
        return find(address) != null;
    }

    boolean isJoining(LocalEndpoint endpoint, String address) {
        NetworkReader reader = find(address);
        return reader != null && reader.joins().stream().anyMatch(join -> join.endpoint() == endpoint);
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

    void read(GroupJoin join) {
        groups.read(join);
    }

    void close(Group group, int errno) {
        groups.close(group, errno);
    }

    /** A reader has ended, and has no ring any more. */
    void ended(NetworkReader reader) {
        readers.remove(reader);
        if (reader.node() != null) {
            close(reader.node());
        }
        groups.unclaim(reader.address());
    }

    // ---- progress ----

    /** Makes one step; 0 if there was nothing to do. */
    int poll() {
        int work = net.step(services.nowNs());
        if (!sealed.isEmpty()) {
            review();
        }
        for (int i = readers.size() - 1; i >= 0; i--) {
            work += readers.get(i).poll();
        }
        return work;
    }

    /** Now and then: names what could not be opened, and has the file of the keys read again. */
    private void review() {
        long nowNs = services.nowNs();
        if (isReading || nowNs - reviewedNs < REVIEW_NS) {
            return;
        }
        reviewedNs = nowNs;
        isReading = true;
        services.submit(new KeyTask());
        for (SealedSocket socket : sealed) {
            FabricException notice = socket.takeNotice();
            if (notice != null) {
                services.onError(notice);
            }
        }
    }

    /** Prepares for the thread to sleep; false if there is work. */
    boolean arm() {
        return net.arm();
    }

    /** The driver ends. */
    void close() {
        for (NetworkReader reader : List.copyOf(readers)) {
            reader.close(FabricErrno.ESHUTDOWN);
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
            port = seal(sockets.openTo(writer), reader.group(), false);
        }

        @Override
        protected void onDone() {
            if (readers.contains(reader)) {
                reader.subscribe(net, node(port), writer);
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
