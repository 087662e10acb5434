package org.jfabric.driver.stream.net;

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import org.agrona.collections.Long2ObjectHashMap;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.LogPosition;

/**
 * The streams of one progress thread: its sockets, writers and readers. Everything happens in {@link #step(long)}.
 *
 * <p>Time is the time for which it was stepped: a pause counts for {@link #LONGEST_PAUSE_NS} at most, so that a process
 * that was stopped does not take its peers for silent. Owner: progress agent.
 */
public final class StreamNet {
    /** Of a longer pause between two steps only so much counts. */
    public static final long LONGEST_PAUSE_NS = 250_000_000;

    private final LongSupplier random;
    private final long silenceNs;
    private final List<StreamNode> nodes = new ArrayList<>();
    private final List<StreamWriter> writers = new ArrayList<>();
    private final List<StreamReader> readers = new ArrayList<>();
    private final Long2ObjectHashMap<RemoteReader> members = new Long2ObjectHashMap<>();
    private long lastNs;
    private long nowNs;

    /**
     * Without sockets.
     *
     * @param random    unpredictable numbers: who can guess them can forge.
     * @param silenceNs after which a host is taken for dead; Status and Heartbeat come each 0.1 s.
     */
    public StreamNet(LongSupplier random, long silenceNs, long nowNs) {
        this.random = random;
        this.silenceNs = silenceNs;
        lastNs = nowNs;
    }

    /** Returns the nanoseconds without a sign of life after which a host is taken for dead. */
    public long silenceNs() {
        return silenceNs;
    }

    /** Adds a socket. */
    public StreamNode open(StreamSocket port) {
        StreamNode node = new StreamNode(this, port);
        nodes.add(node);
        return node;
    }

    /** Closes a socket that no stream uses any more, as soon as writers have answered the readers that have left. */
    public void close(StreamNode node) {
        if (node.close()) {
            nodes.remove(node);
            node.port().close();
        }
    }

    /** Whether a socket is yet to be closed. */
    public boolean isClosing() {
        for (int i = 0; i < nodes.size(); i++) {
            if (nodes.get(i).isClosing()) {
                return true;
            }
        }
        return false;
    }

    /** Closes the sockets that are yet to be closed. */
    public void closeNow() {
        List.copyOf(readers).stream().filter(StreamReader::isOver).forEach(StreamReader::lastFarewell);
        List.copyOf(nodes).stream().filter(StreamNode::isClosing).forEach(node -> {
            nodes.remove(node);
            node.port().close();
        });
    }

    /** Prepares for the thread to sleep; false if something is to be done before the next datagram arrives. */
    public boolean arm() {
        boolean armed = true;
        for (int i = 0; i < nodes.size(); i++) {
            armed &= nodes.get(i).port().arm();
        }
        for (int i = 0; i < writers.size(); i++) {
            armed &= writers.get(i).isSettled();
        }
        for (int i = 0; i < readers.size(); i++) {
            armed &= readers.get(i).isSettled();
        }
        return armed;
    }

    /**
     * Begins to send a stream.
     *
     * @param group  name by which readers join.
     * @param paths  one, or two with everything on both; all with a multicast group or none.
     * @return close and release it.
     * @throws FabricException {@code FI_EADDRINUSE} if a socket has a stream of that name, {@code FI_EINVAL} for other
     *     paths.
     */
    public StreamWriter publish(String group, StreamSource source, StreamPolicy policy, List<StreamPath> paths) {
        check(paths);
        for (StreamPath path : paths) {
            if ((path.peer() == null) != (paths.getFirst().peer() == null)) {
                throw new FabricException(FabricErrno.EINVAL, "paths " + paths + " of stream " + group,
                    "Give each a multicast group, or none of them.");
            }
            if (path.node().has(group)) {
                throw new FabricException(FabricErrno.EADDRINUSE, "stream " + group + " is sent by that socket",
                    "Give it another name, or another port.");
            }
        }
        StreamWriter writer = new StreamWriter(this, source, policy, paths);
        for (int i = 0; i < paths.size(); i++) {
            paths.get(i).node().add(group, writer, i);
        }
        writers.add(writer);
        return writer;
    }

    /**
     * Begins to read a stream.
     *
     * @param group the writer's name of it.
     * @param name  of the reader, for writers that require it.
     * @param from  the first message; null for those from now on.
     * @param paths one or two ways to one writer.
     * @return release it.
     */
    public StreamReader subscribe(
        String group, String name, LogPosition from, StreamSink sink, List<StreamPath> paths) {
        return subscribe(group, name, from, sink, paths, false);
    }

    /**
     * As {@link #subscribe(String, String, LogPosition, StreamSink, List)}.
     *
     * @param isTimed whether the sockets have times, and {@link StreamReader#arrivedNs()} is asked.
     */
    public StreamReader subscribe(
        String group, String name, LogPosition from, StreamSink sink, List<StreamPath> paths, boolean isTimed) {
        check(paths);
        StreamReader reader = new StreamReader(this, group, name, from, sink, paths, isTimed);
        readers.add(reader);
        return reader;
    }

    private static void check(List<StreamPath> paths) {
        if (paths.isEmpty() || paths.size() > 2) {
            throw new FabricException(FabricErrno.EINVAL, paths.size() + " paths of a stream", "Give one or two.");
        }
        if (paths.size() == 2 && paths.getFirst().node() == paths.getLast().node()) {
            throw new FabricException(FabricErrno.EINVAL, "two paths of a stream have one socket",
                "Give each a socket of its own.");
        }
    }

    /**
     * Receives, sends, and checks what depends on time.
     *
     * @return 0 if there was nothing to do.
     */
    public int step(long clockNs) {
        nowNs += Math.clamp(clockNs - lastNs, 0, LONGEST_PAUSE_NS);
        lastNs = clockNs;
        int work = 0;
        // what was written since the last step is sent first: receiving is a system call for each socket
        for (int i = writers.size() - 1; i >= 0; i--) {
            work += writers.get(i).step();
        }
        flush();
        for (int i = 0; i < nodes.size(); i++) {
            work += nodes.get(i).poll();
        }
        for (int i = readers.size() - 1; i >= 0; i--) {
            work += readers.get(i).step();
        }
        flush();
        return work;
    }

    private void flush() {
        for (int i = 0; i < nodes.size(); i++) {
            nodes.get(i).port().flush();
        }
    }

    // ---- for writers and readers ----

    long nowNs() {
        return nowNs;
    }

    /** A number that was not used and is not 0. */
    long random() {
        long number = 0;
        while (number == 0) {
            number = random.getAsLong();
        }
        return number;
    }

    LongSupplier numbers() {
        return random;
    }

    RemoteReader member(long number) {
        return members.get(number);
    }

    void add(RemoteReader reader) {
        members.put(reader.member(), reader);
    }

    void remove(RemoteReader reader) {
        members.remove(reader.member());
    }

    void remove(StreamWriter writer) {
        writers.remove(writer);
        nodes.forEach(node -> node.remove(writer));
    }

    void remove(StreamReader reader) {
        readers.remove(reader);
        List.copyOf(nodes).stream().filter(StreamNode::isClosing).forEach(this::close);
    }
}
