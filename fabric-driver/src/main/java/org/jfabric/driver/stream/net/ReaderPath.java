package org.jfabric.driver.stream.net;

import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.SocketName;

/**
 * One way of a reader to its writer.
 *
 * <pre>
 *            Join, no cookie          Join with it
 *   asking ── Cookie ──▶ asking ───── Accept ──▶ joined ── silent for long ──▶ asking
 *     ▲                              └─ Refuse ──▶ refused ── after a pause ──▶ asking
 * </pre>
 *
 * <p>Owner: progress agent.
 */
final class ReaderPath {
    private static final int ASKING = 0;
    private static final int JOINED = 1;
    private static final int REFUSED = 2;
    private static final long LONGEST_PAUSE_NS = 1_000_000_000;
    /** A path whose writer says nothing for this time is joined again, while the other one carries the stream. */
    private static final long SILENT_NS = 1_000_000_000;
    /** After so many tries without an answer the writer may have another address, or other keys for cookies. */
    private static final int TRIES_WITH_COOKIE = 4;

    private static final long STATUS_PAUSE_NS = 10_000_000;
    private static final long LONGEST_STATUS_PAUSE_NS = 100_000_000;

    private final StreamReader reader;
    private final StreamNode node;
    /** Where Joins without a cookie are sent. */
    private final PeerAddress asked;
    /** The writer's socket. */
    private final PeerAddress writer = new PeerAddress();
    private final RoundTrip trip = new RoundTrip();
    private int state = ASKING;
    private long cookie;
    private int tries;
    private long pauseNs = RoundTrip.UNKNOWN_NS;
    private long dueNs;
    private long heardNs;
    private long statusNs;
    private long statusPauseNs = STATUS_PAUSE_NS;
    private long frontier;
    private int frontierByte;
    private boolean hasJoined;
    private boolean hasOthers;

    ReaderPath(StreamReader reader, StreamNode node, SocketName asked, long nowNs) {
        this.reader = reader;
        this.node = node;
        this.asked = PeerAddress.of(asked);
        dueNs = nowNs;
        heardNs = nowNs;
        node.add(reader.id(), this);
    }

    StreamReader reader() {
        return reader;
    }

    StreamNode node() {
        return node;
    }

    PeerAddress writer() {
        return writer;
    }

    RoundTrip trip() {
        return trip;
    }

    boolean isJoined() {
        return state == JOINED;
    }

    boolean isFrom(long name, int nameLength) {
        return writer.is(name, nameLength);
    }

    // ---- joining ----

    /** Asks again if it is time; 0 if there was nothing to do. */
    int step(long nowNs) {
        if (state == JOINED) {
            if (nowNs - heardNs < SILENT_NS) {
                return 0;
            }
            ask(nowNs);
        }
        if (nowNs - dueNs < 0) {
            return 0;
        }
        if (tries++ >= TRIES_WITH_COOKIE && cookie != 0) {
            cookie = 0;
            tries = 0;
        }
        state = ASKING;
        node.sender().join(cookie == 0 ? asked : writer, reader, cookie, nowNs);
        dueNs = nowNs + pauseNs;
        pauseNs = Math.min(2 * pauseNs, LONGEST_PAUSE_NS);
        return 1;
    }

    private void ask(long nowNs) {
        state = ASKING;
        cookie = 0;
        tries = 0;
        pauseNs = trip.timeoutNs();
        dueNs = nowNs;
    }

    /** The writer has answered a Join without a cookie: it asks at once again, with it. */
    void onCookie(long newCookie, long timeNs, long name, int nameLength) {
        if (state == JOINED || newCookie == 0) {
            return;
        }
        if ((cookie != 0 || hasJoined && reader.isMulticast()) && !writer.is(name, nameLength)) {
            if (!hasOthers) {
                hasOthers = true;
                PeerAddress other = new PeerAddress();
                other.set(name, nameLength);
                reader.onNotice(new FabricException(FabricErrno.EINVAL,
                    "the group " + asked + " has a second writer, " + other + " beside " + writer,
                    "This reader stays with the first. Give each stream a group of its own."));
            }
            return;
        }
        long nowNs = reader.nowNs();
        trip.add(nowNs - timeNs);
        writer.set(name, nameLength);
        cookie = newCookie;
        tries = 0;
        pauseNs = trip.timeoutNs();
        dueNs = nowNs;
    }

    /** The writer has accepted. */
    void joined(long timeNs, long next) {
        long nowNs = reader.nowNs();
        trip.add(nowNs - timeNs);
        hasJoined = true;
        heard(nowNs);
        statusNs = nowNs - LONGEST_STATUS_PAUSE_NS;
        passed(next, 0);
    }

    void refused() {
        state = REFUSED;
        hasJoined = false;
        cookie = 0;
        tries = 0;
        dueNs = reader.nowNs() + LONGEST_PAUSE_NS;
    }

    // ---- what has arrived ----

    /** The writer is alive. */
    void heard(long nowNs) {
        heardNs = nowNs;
        state = hasJoined ? JOINED : state;
    }

    long heardNs() {
        return heardNs;
    }

    void onEcho(long timeNs) {
        heard(reader.nowNs());
        trip.add(heardNs - timeNs);
    }

    /** Everything before a place has been on this path, unless it was lost there. */
    void passed(long position, int offset) {
        if (Gaps.isBefore(frontier, frontierByte, position, offset)) {
            frontier = position;
            frontierByte = offset;
        }
    }

    /**
     * Whether nothing before a place will come on this path but repairs: it is past it, or brings nothing.
     *
     * @param sinceNs when another path has been past it.
     */
    boolean hasPassed(long position, int offset, long sinceNs, long nowNs) {
        return state != JOINED || !Gaps.isBefore(frontier, frontierByte, position, offset)
            || nowNs - heardNs > trip.timeoutNs() || nowNs - sinceNs >= trip.timeoutNs();
    }

    // ---- reports ----

    /** Reports how far the reader is, if it is time; whether it was. */
    boolean report(long nowNs, boolean isUrgent, boolean isChanged, long consumed, long window) {
        long sinceNs = nowNs - statusNs;
        if (!isUrgent && sinceNs < (isChanged ? Math.max(trip.smoothedNs(), STATUS_PAUSE_NS) : statusPauseNs)) {
            return false;
        }
        statusPauseNs = isChanged ? STATUS_PAUSE_NS : Math.min(2 * statusPauseNs, LONGEST_STATUS_PAUSE_NS);
        statusNs = nowNs;
        node.sender().status(writer, reader, consumed, window, nowNs, trip);
        return true;
    }

    void leave() {
        if (!writer.isSet()) {
            return;
        }
        if (reader.member() != 0) {
            node.sender().leave(writer, reader.member(), reader.next());
        } else if (!node.hasSuccessor(reader)) {
            // the Accept may have been lost, which has the number to leave by
            node.sender().join(writer, reader, cookie, reader.nowNs());
        }
    }

    /** Receives nothing any more. */
    void close() {
        node.remove(reader.id(), this);
        node.remove(reader.stream(), this);
        node.remove(reader.member(), this);
    }

    @Override
    public String toString() {
        return (state == JOINED ? "joined " : state == ASKING ? "asking " : "refused by ")
            + (writer.isSet() ? writer : asked) + ", at " + frontier + '.' + frontierByte
            + ", round trip " + trip.smoothedNs() + " ns, heard at " + heardNs;
    }
}
