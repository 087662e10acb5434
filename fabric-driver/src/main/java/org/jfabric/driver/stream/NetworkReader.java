package org.jfabric.driver.stream;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.stream.net.StreamPath;
import org.jfabric.driver.stream.net.StreamReader;
import org.jfabric.driver.stream.net.StreamSink;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.LogPosition;
import org.jfabric.info.TimestampClock;
import org.jfabric.layout.GroupRingDescriptor;

/**
 * A group of another host as this driver reads it: puts what arrives into a ring of its own, whose readers are those of
 * any group.
 *
 * <pre>
 *   socket opened ──▶ joined at the writer ──▶ ring made ──▶ readers ──▶ the end, or the last reader leaves
 *         │  oldest      │  ▲
 *         │              ▼  │ all was sent
 *         └────────▶ replaying: the writer's ring does not have the next message, but its log
 * </pre>
 *
 * <p>The position alone says what comes next: a replay begins at that of the ring, and so does the stream behind it.
 * A writer that came back has a log of another term, or closed it: then this group ends, and its readers continue with
 * another one.
 *
 * <p>Owner: progress agent.
 */
final class NetworkReader extends StreamSink {
    private static final long RETRY_NS = 50_000_000;
    /** An interface that was not there is looked for again after this time. */
    private static final long OPEN_AGAIN_NS = 1_000_000_000;

    private final GroupNetwork network;
    private final LinkServices services;
    private final String address;
    private final StreamAddress parts;
    /** Where the first of those who wait wants to begin; null for the next message. */
    private final LogPosition from;
    private final boolean isAlone;
    /** Flags of messages of both kinds: with FI_TIMESTAMP if they have times of arrival. */
    private final long tagged;
    private final long untagged;
    private final List<GroupJoin> joins = new ArrayList<>();
    /** Empty while their sockets are being opened. */
    private List<StreamPath> paths = List.of();
    /** Paths that have no socket, because their interface is not there, and when they are tried again. */
    private List<String> missing = List.of();
    private long openNs;
    private StreamReader reader;
    /** The writer's log, while it is read, and until the stream has been joined behind it. */
    private LogReplay replay;
    private boolean isReplaying;
    private boolean isConnecting;
    private int tries;
    /** When a connection for the log that has failed is tried again, and when the last message of it came. */
    private long retryNs;
    private long replayedNs;
    /** Null before the writer has accepted; without a ring until that is made. */
    private Group group;
    private boolean isLossy;
    private long lostMessages;
    private long requests;
    private long duplicates;
    /** Position behind a gap that has no room yet; 0 without. */
    private long missingUntil;
    /** Why the log cannot be read; null if it can. */
    private FabricException refusal;
    /** Why nothing more comes; a positive errno, or 0. */
    private int endErrno;

    NetworkReader(GroupNetwork network, LinkServices services, String address, LogPosition from) {
        this.network = network;
        this.services = services;
        this.address = address;
        this.parts = StreamAddress.parse(StreamAddress.shared(address));
        this.isAlone = !address.equals(StreamAddress.shared(address));
        this.from = from;
        long timed = parts.times() == null ? 0 : Flags.TIMESTAMP;
        this.tagged = Flags.TAGGED | timed;
        this.untagged = Flags.MSG | timed;
    }

    String address() {
        return address;
    }

    /** {@code host:port} of each path to the writer. */
    String network() {
        return parts.network();
    }

    /** Whether the ring is for one endpoint, which begins where the ring of the others does not. */
    boolean isAlone() {
        return isAlone;
    }

    /** Whether the thread may sleep. */
    boolean isSettled() {
        return !isReplaying || replay == null || replay.isStuck();
    }

    List<StreamPath> paths() {
        return paths;
    }

    /** Its name at the writer. */
    String group() {
        return parts.group();
    }

    /** Those who wait for the ring. */
    List<GroupJoin> joins() {
        return joins;
    }

    /** Ranges that were asked for, by this reading end and those before a replay. */
    long requests() {
        return requests + (reader == null ? 0 : reader.requests());
    }

    /** Messages that have arrived again. */
    long duplicates() {
        return duplicates + (reader == null ? 0 : reader.duplicates());
    }

    /** 0 before the stream was joined: a log that is replayed has none. */
    long roundTripNs() {
        return reader == null ? 0 : reader.roundTripNs();
    }

    /** Messages that will not come. */
    long lostMessages() {
        return lostMessages;
    }

    private boolean isOpen() {
        return group != null && group.ring() != null;
    }

    void join(GroupJoin join) {
        if (isOpen()) {
            network.read(join, group);
        } else {
            joins.add(join);
        }
    }

    /** Sockets are open, the first ones or later another one; those of other paths are tried again. */
    void opened(List<StreamPath> newPaths, List<String> newMissing) {
        boolean isFirst = paths.isEmpty();
        paths = Stream.concat(paths.stream(), newPaths.stream()).toList();
        missing = newMissing;
        openNs = services.nowNs() + OPEN_AGAIN_NS;
        if (isFirst) {
            begin();
        } else if (reader != null) {
            newPaths.forEach(reader::add);
        }
    }

    private void begin() {
        if (from == null || !from.logId().equals(LogPosition.OLDEST.logId())) {
            reader = network.subscribe(this, from);
        } else {
            replay();
        }
    }

    // ---- what arrives ----

    @Override
    public void onJoined(LogPosition start, int ringBytes, int flags) {
        closeReplay();
        if (group == null) {
            // of a recorded group nothing is lost: who is behind the writer's ring replays
            isLossy = (flags & (LOSSY | RECORDED)) == LOSSY;
            create(start, ringBytes);
        }
    }

    private void create(LogPosition start, int ringBytes) {
        group = network.create(this, start, ringBytes, isLossy);
        if (parts.times() != null) {
            group.timedBy(() -> isReplaying ? 0 : reader.arrivedNs());
        }
    }

    /** Whose clock times of arrival are of; null without times. */
    TimestampClock times() {
        return parts.times();
    }

    /** The ring can be read. */
    void opened() {
        for (GroupJoin join : List.copyOf(joins)) {
            if (from != null && from.equals(join.request().from())) {
                join.beginAt(group.next());
            }
            network.read(join, group);
        }
        joins.clear();
    }

    @Override
    public boolean hasRoom(int payloadLength) {
        return isOpen() && hasSkipped() && group.hasRoom(payloadLength);
    }

    /** Whether no gap waits for room. */
    private boolean hasSkipped() {
        if (missingUntil != 0) {
            if (!group.hasRoom(0)) {
                return false;
            }
            group.skip(missingUntil - 1);
            missingUntil = 0;
        }
        return true;
    }

    @Override
    public void write(long position, int flags, long tag, long data, long payload, int payloadLength) {
        long kind = (flags & GroupRingDescriptor.TAGGED) != 0 ? tagged : untagged;
        int result = group.send((flags & GroupRingDescriptor.HAS_DATA) != 0 ? kind | Flags.REMOTE_CQ_DATA : kind,
            tag, data, payloadLength, null, null, payload);
        if (result != 0 || group.position() != position + 1) {
            throw new IllegalStateException("message " + position + " of " + address + " was written with result "
                + result + ", and the next one is " + group.position());
        }
    }

    @Override
    public void gap(long first, long last) {
        lostMessages += last - first + 1;
        missingUntil = last + 1;
        if (isOpen()) {
            hasSkipped();
        }
    }

    @Override
    public long window() {
        if (isLossy) {
            return UNLIMITED;
        }
        if (!isOpen()) {
            return 0;
        }
        // the writer does not count times, for which a short message may take another line
        long free = parts.times() == null ? group.free() : group.free() / 2;
        return Math.max(0, free - group.ring().capacity() / GroupRingDescriptor.RECORDS_PER_RING);
    }

    @Override
    public long consumed() {
        if (!isOpen()) {
            return reader.next();
        }
        long consumed = group.position();
        List<GroupReader> readers = group.readers();
        for (int i = 0; i < readers.size(); i++) {
            consumed = Math.min(consumed, readers.get(i).position());
        }
        return consumed;
    }

    // ---- the end ----

    @Override
    public void behind(long next) {
        replay();
    }

    @Override
    public void end(int errno) {
        if (errno == FabricErrno.ECONNREFUSED && replay != null && !isReplaying) {
            // the group is being closed: its log has the rest, and then says that it is the rest
            replay();
            return;
        }
        endErrno = group != null && (errno == FabricErrno.EHOSTUNREACH || errno == FabricErrno.ECONNREFUSED)
            ? FabricErrno.ECONNRESET : errno;
    }

    @Override
    public void onNotice(FabricException notice) {
        services.onError(notice);
    }

    // ---- the log ----

    /** Reads the log from the next message on, by the connection that is there if there is one. */
    private void replay() {
        FabricException lack = network.replayLack(this);
        if (lack != null) {
            refuse(lack);
            return;
        }
        isReplaying = true;
        replayedNs = services.nowNs();
        if (replay == null && !isConnecting) {
            connect();
        }
    }

    private void connect() {
        isConnecting = true;
        network.replay(this, group == null ? from : group.next());
    }

    void connected(LogReplay newReplay) {
        isConnecting = false;
        replay = newReplay;
    }

    /** Number of the next connection for the log. */
    int nextTry() {
        return tries++;
    }

    /** The connection for the log was not made. */
    void notConnected(Throwable cause) {
        isConnecting = false;
        if (cause instanceof FabricException refused
            && (refused.errno() == FabricErrno.EKEYREJECTED || refused.errno() == FabricErrno.EACCES)) {
            refuse(refused);
        } else {
            disconnected();
        }
    }

    /** The log cannot be read by this driver: the stream ends if its ring does not have the next message. */
    private void refuse(FabricException why) {
        closeReplay();
        services.onError(why);
        refusal = why;
        endErrno = why.errno();
    }

    /** The connection for the log has ended. */
    private void disconnected() {
        closeReplay();
        retryNs = services.nowNs() + RETRY_NS;
        if (isReplaying && services.nowNs() - replayedNs > network.silenceNs()) {
            endErrno = group == null ? FabricErrno.EHOSTUNREACH : FabricErrno.ECONNRESET;
        }
    }

    private void closeReplay() {
        if (replay != null) {
            replay.close();
            replay = null;
        }
    }

    boolean isReplaying(LogReplay asking) {
        return isReplaying && replay == asking && endErrno == 0 && (group == null || isOpen());
    }

    void replayRefused(int errno, String reason) {
        if (group != null) {
            end(FabricErrno.ECONNRESET);
            return;
        }
        refusal = new FabricException(errno, "the stream " + StreamAddress.shared(address)
            + " cannot be read from " + from + ": " + reason, "Join from a position that its log has, or without one.");
        endErrno = errno;
    }

    void replayBegins(LogPosition start, int ringBytes) {
        if (group == null) {
            create(start, ringBytes);
        } else if (!start.equals(group.next())) {
            // another term: what was read may be lost, and a reader that joins again learns whether it is
            end(FabricErrno.ECONNRESET);
        }
    }

    /** Position of the next message of the ring. */
    long next() {
        return group.position();
    }

    /** The log has nothing more now: what follows is in the writer's ring. */
    void allSent() {
        isReplaying = false;
        requests = requests();
        duplicates = duplicates();
        reader = network.subscribe(this, group.next());
    }

    private int pollReplay() {
        if (replay == null) {
            if (isReplaying && !isConnecting && endErrno == 0 && services.nowNs() - retryNs >= 0) {
                connect();
            }
            return 0;
        }
        try {
            replay.step(services.nowNs());
            int work = isReplaying ? replay.poll(this) : 0;
            if (work > 0 || replay != null && replay.isStuck()) {
                replayedNs = services.nowNs();
            } else if (isReplaying && services.nowNs() - replayedNs > network.silenceNs()) {
                throw new IOException("the path drops everything: the writer's driver says at least how far it is");
            }
            return work;
        } catch (IOException e) {
            disconnected();
            return 1;
        } catch (FabricException notProved) {
            refuse(notProved);
            return 1;
        }
    }

    /** Makes one step; 0 if there was nothing to do. */
    int poll() {
        boolean isCreating = group != null && group.ring() == null && !group.isClosed();
        if (isCreating) {
            return 0;
        }
        int work = pollReplay();
        if (!missing.isEmpty() && services.nowNs() - openNs >= 0) {
            network.open(this, missing);
            missing = List.of();
        }
        if (endErrno != 0 && (!isOpen() || hasSkipped())) {
            close(endErrno);
            return 1;
        }
        if (isOpen() && group.readers().isEmpty() || group == null && joins.isEmpty() && !paths.isEmpty()) {
            close(FabricErrno.ESHUTDOWN);
            return 1;
        }
        return work;
    }

    /** The socket could not be opened, or the ring not be made. */
    void failed(FabricException cause) {
        closeReplay();
        List.copyOf(joins).forEach(join -> join.failed(cause));
        joins.clear();
        ended();
    }

    private void ended() {
        // not joined in vain: the writer would wait for a ring that could not be made
        if (reader != null && !services.environment().isKilled()) {
            reader.leave();
        }
        network.ended(this);
    }

    void close(int errno) {
        closeReplay();
        if (group != null && !group.isClosed()) {
            network.close(group, errno);
        }
        if (joins.isEmpty()) {
            ended();
        } else {
            failed(refusal != null ? refusal : refusal(errno));
        }
    }

    private FabricException refusal(int errno) {
        String what = "the stream " + StreamAddress.shared(address);
        return switch (errno) {
            case FabricErrno.ECONNREFUSED -> new FabricException(errno, what + " has no writer: the driver at "
                + parts.network() + " sends no group of that name", "Join again when its publication is open.");
            case FabricErrno.EHOSTUNREACH -> new FabricException(errno, what + " does not answer",
                "Start its writer; check address, port and firewall, that its publication names this address, and that"
                    + " both drivers have the same key in jfabric.udp.streamKeyFile, or none.");
            case FabricErrno.EMSGSIZE -> new FabricException(errno, what + " has longer datagrams than this driver",
                "Set jfabric.udp.maxMessageBytes of both drivers to the same.");
            case FabricErrno.ENODATA, FabricErrno.EINVAL -> new FabricException(errno, what
                + " cannot be read from " + from, "Join from a position that its ring has, or without one.");
            default -> new FabricException(errno, what + " cannot be joined", "See the error logs of both drivers.");
        };
    }
}
