package org.jfabric.driver.stream.net;

import java.util.ArrayList;
import java.util.List;
import org.jfabric.codec.stream.JoinDecoder;
import org.jfabric.codec.stream.StatusDecoder;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.LogPosition;
import org.jfabric.layout.Words;

/**
 * The writer's end of a stream: sends the messages of a {@link StreamSource} to reading hosts, by unicast to each or
 * once to a multicast group, and repairs what they miss.
 *
 * <p>Each host has a cursor. Hosts at the same place get the same datagram, which is made once; one that was behind, or
 * had no room, gets its own until it is in step again. Every step sends all that is there, so that a message waits for
 * others only while it is behind them. Owner: progress agent.
 */
public final class StreamWriter {
    private static final int DATAGRAMS_PER_STEP = 128;
    private static final int REPAIR_PARTS = 8;
    private static final long LEAST_REPAIR_BYTES = 64 << 10;
    private static final long LEAST_BURST_BYTES = 256 << 10;
    private static final int RECORDED = StreamSink.RECORDED;
    private static final int MULTICAST = 1;
    /** Between two questions whether a multicast group has another writer. */
    private static final long PROBE_NS = 1_000_000_000;

    private final StreamNet net;
    private final StreamSource source;
    private final StreamPolicy policy;
    private final long stream;
    private final StreamNode[] nodes;
    /** The multicast groups; null with unicast. */
    private final PeerAddress[] groups;
    private final List<RemoteReader> readers = new ArrayList<>();
    /** Readers that were removed, which get the reason as answer for a while. */
    private final List<RemoteReader> ended = new ArrayList<>();
    private final DataWriter data;
    private final Pacer pacer;
    private final Repairs repairs;
    /** Of the multicast group. */
    private final SendCursor groupCursor = new SendCursor();
    /** Another writer of the group that was seen last. */
    private final PeerAddress other = new PeerAddress();
    private boolean isProbing;
    private long probedNs;
    private int followers;
    private int hosts;
    private int turn;
    private long shortestRoundTripNs = RoundTrip.UNKNOWN_NS;
    private long longestRoundTripNs = RoundTrip.UNKNOWN_NS;
    private long blockedSinceNs;
    private boolean isBlocked;
    private boolean isClosing;
    private int endErrno;
    private long datagrams;

    StreamWriter(StreamNet net, StreamSource source, StreamPolicy policy, List<StreamPath> paths) {
        this.net = net;
        this.source = source;
        this.policy = policy;
        stream = net.random();
        nodes = paths.stream().map(StreamPath::node).toArray(StreamNode[]::new);
        groups = paths.getFirst().peer() == null ? null
            : paths.stream().map(path -> PeerAddress.of(path.peer())).toArray(PeerAddress[]::new);
        int datagramBytes = Integer.MAX_VALUE;
        for (StreamNode node : nodes) {
            datagramBytes = Math.min(datagramBytes, node.port().maxDatagramBytes());
        }
        data = new DataWriter(source, stream, datagramBytes);
        pacer = new Pacer(
            policy.bytesPerSecond(), Math.max(LEAST_BURST_BYTES, policy.bytesPerSecond() / 1000), net.nowNs());
        repairs = new Repairs(this, data, pacer, net.nowNs());
        groupCursor.set(source.next(), 0);
        probedNs = net.nowNs() - PROBE_NS;
    }

    // ---- for the group ----

    /** Hosts that read. */
    public List<RemoteReader> readers() {
        return readers;
    }

    /**
     * The first message that a host needs for which this writer waits: it must stay in the ring.
     *
     * @return {@link Long#MAX_VALUE} if nothing is waited for.
     */
    public long needed() {
        return switch (policy.waits()) {
            case ALL -> slowest(null);
            case QUORUM -> quorumPosition();
            case REQUIRED -> {
                long needed = Long.MAX_VALUE;
                for (int i = 0; i < policy.required().size(); i++) {
                    long of = slowest(policy.required().get(i));
                    // who is not there needs everything
                    needed = Math.min(needed, of == Long.MAX_VALUE ? source.oldest() : of);
                }
                yield needed;
            }
            case NONE -> Long.MAX_VALUE;
        };
    }

    /** Whether the writer waits for a host now. */
    public boolean waitsFor(RemoteReader reader) {
        return switch (policy.waits()) {
            case ALL -> true;
            case QUORUM -> reader.received() >= quorumPosition() && hosts >= policy.quorum();
            case REQUIRED -> policy.required().contains(reader.name());
            case NONE -> false;
        };
    }

    private long slowest(String name) {
        long slowest = Long.MAX_VALUE;
        for (int i = 0; i < readers.size(); i++) {
            RemoteReader reader = readers.get(i);
            if (name == null || name.equals(reader.name())) {
                slowest = Math.min(slowest, reader.received());
            }
        }
        return slowest;
    }

    /** Hosts that read: one may have several readers. */
    public int hosts() {
        return hosts;
    }

    /** Numbers the hosts of the readers. */
    private void findHosts() {
        hosts = 0;
        for (int i = 0; i < readers.size(); i++) {
            RemoteReader reader = readers.get(i);
            reader.host(-1);
            for (int k = 0; k < i && reader.host() < 0; k++) {
                reader.host(readers.get(k).isOnHostOf(reader) ? readers.get(k).host() : -1);
            }
            if (reader.host() < 0) {
                reader.host(hosts++);
            }
        }
    }

    /** Whether another reader of the same host counts for it, because it has more. */
    private boolean isBehindOwnHost(int index) {
        RemoteReader reader = readers.get(index);
        for (int i = 0; hosts < readers.size() && i < readers.size(); i++) {
            RemoteReader other = readers.get(i);
            if (other.host() == reader.host() && (other.received() > reader.received()
                || i < index && other.received() == reader.received())) {
                return true;
            }
        }
        return false;
    }

    /** What as many hosts have as are wanted; with fewer hosts nothing. */
    private long quorumPosition() {
        if (hosts < policy.quorum()) {
            return source.oldest();
        }
        long bound = Long.MAX_VALUE;
        for (int found = 0; found < policy.quorum();) {
            long greatest = Long.MIN_VALUE;
            int have = 0;
            for (int i = 0; i < readers.size(); i++) {
                long received = readers.get(i).received();
                if (received < bound && received >= greatest && !isBehindOwnHost(i)) {
                    have = received > greatest ? 1 : have + 1;
                    greatest = received;
                }
            }
            found += have;
            bound = greatest;
        }
        return bound;
    }

    /** The writer has left, or is lost: what it has written is still sent, and then {@link #isDrained}. */
    public void close(int errno) {
        isClosing = true;
        endErrno = errno;
    }

    /** After {@link #close}: no reader needs anything more. */
    public boolean isDrained() {
        return isClosing && readers.isEmpty();
    }

    /** Ends it now; call it when it is drained, or when that takes too long. */
    public void release() {
        for (int i = readers.size() - 1; i >= 0; i--) {
            remove(readers.get(i), endErrno == 0 ? FabricErrno.ECONNRESET : endErrno);
        }
        for (RemoteReader reader : ended) {
            forget(reader);
        }
        ended.clear();
        net.remove(this);
    }

    /** Datagrams with messages that were sent, repairs included. */
    public long datagrams() {
        return datagrams;
    }

    /** Datagrams of these that were repairs. */
    public long repairs() {
        return repairs.datagrams();
    }

    /** The rate in bytes per second at which it sends at most. */
    public long bytesPerSecond() {
        return pacer.bytesPerSecond();
    }

    /** Whether all that was sent has arrived: heartbeats alone are to be sent before the next datagram arrives. */
    boolean isSettled() {
        for (int i = 0; i < readers.size(); i++) {
            RemoteReader reader = readers.get(i);
            SendCursor cursor = cursorOf(reader);
            if (reader.received() < cursor.position() || cursor.firstByte() > 0
                || cursor.position() < source.next() && hasRoom(reader, cursor)) {
                return false;
            }
        }
        return !isClosing;
    }

    // ---- what its parts need ----

    long nowNs() {
        return net.nowNs();
    }

    LogPosition first() {
        return source.first();
    }

    long stream() {
        return stream;
    }

    long next() {
        return source.next();
    }

    long oldest() {
        return source.oldest();
    }

    int ringBytes() {
        return source.ringBytes();
    }

    int fragmentBytes() {
        return data.fragmentBytes();
    }

    boolean isRecorded() {
        return source.isRecorded();
    }

    /** As in the Accept. */
    int flags() {
        return (groups == null ? 0 : MULTICAST)
            | (policy.waits() == StreamPolicy.Waits.NONE ? StreamSink.LOSSY : 0)
            | (source.isRecorded() ? RECORDED : 0);
    }

    int pathCount() {
        return nodes.length;
    }

    StreamNode node(int path) {
        return nodes[path];
    }

    PeerAddress[] groups() {
        return groups;
    }

    SendCursor cursorOf(RemoteReader reader) {
        return reader.follows() ? groupCursor : reader.cursor();
    }

    /** A datagram with messages was sent. */
    void sent(int bytes) {
        datagrams++;
        pacer.sent(bytes);
    }

    // ---- sending ----

    int step() {
        long nowNs = net.nowNs();
        pacer.step(nowNs, longestRoundTripNs);
        int work = repairs.step(nowNs, DATAGRAMS_PER_STEP);
        work += groups == null ? 0 : sendGroup(DATAGRAMS_PER_STEP - work);
        int count = readers.size();
        for (int i = 0; i < count && work < DATAGRAMS_PER_STEP; i++) {
            RemoteReader reader = readers.get((turn + i) % count);
            if (!reader.follows()) {
                work += sendReader(reader, DATAGRAMS_PER_STEP - work);
            }
        }
        turn = count == 0 ? 0 : (turn + 1) % count;
        beat(nowNs);
        if (groups != null && nowNs - probedNs >= PROBE_NS) {
            probe(nowNs);
        }
        return work + expire(nowNs);
    }

    private void probe(long nowNs) {
        probedNs = nowNs;
        isProbing = true;
        for (int path = 0; path < nodes.length; path++) {
            nodes[path].probe(this, groups[path]);
        }
    }

    /** A writer has answered the last question; further answers to it may be forged. */
    void onOther(long name, int nameLength) {
        if (isProbing && !other.is(name, nameLength)) {
            other.set(name, nameLength);
            source.onOtherWriter(other.toString());
        }
        isProbing = false;
    }

    private int sendGroup(int most) {
        if (followers == 0) {
            groupCursor.set(source.next(), 0);
            return 0;
        }
        int work = 0;
        while (work < most && groupCursor.position() < source.next() && pacer.mayData()
            && groupHasRoom() && send(groupCursor, true)) {
            work++;
        }
        if (groupCursor.position() < source.oldest()) {
            // it waits for no reader: those who want it ask, and get the answer
            groupCursor.set(source.next(), 0);
        }
        return work;
    }

    /** Whether all those have room for the next message that are waited for. */
    private boolean groupHasRoom() {
        for (int i = 0; i < readers.size(); i++) {
            RemoteReader reader = readers.get(i);
            if (reader.follows() && !hasRoom(reader, groupCursor) && waitsFor(reader)) {
                return false;
            }
        }
        return true;
    }

    private boolean hasRoom(RemoteReader reader, SendCursor cursor) {
        return cursor.firstByte() > 0 || reader.window() == StreamSink.UNLIMITED
            || source.offset(cursor.position() + 1) - source.offset(reader.received()) <= reader.window();
    }

    private int sendReader(RemoteReader reader, int most) {
        SendCursor cursor = reader.cursor();
        int work = 0;
        if (cursor.position() < source.oldest()) {
            skip(reader);
        }
        while (work < most && cursor.position() < source.next() && pacer.mayData() && hasRoom(reader, cursor)) {
            if (!send(cursor, false)) {
                break;
            }
            work++;
        }
        if (groups != null && cursor.isAt(groupCursor)) {
            reader.follow();
            followers++;
            groupCursor.sent(net.nowNs(), shortestRoundTripNs);
        }
        return work;
    }

    /** The ring does not have what a slow reader needs next. */
    private void skip(RemoteReader reader) {
        long first = reader.cursor().position();
        reader.cursor().set(source.next(), 0);
        sendLost(reader, first, source.next() - 1);
    }

    void sendLost(RemoteReader reader, long first, long last) {
        for (int path = 0; path < nodes.length; path++) {
            if (reader.address(path).isSet()) {
                nodes[path].sender().lost(reader.address(path), stream, first, last, source.isRecorded());
            }
        }
    }

    /** Sends the datagram at a cursor, to all readers that are there and have room, or to the group. */
    private boolean send(SendCursor cursor, boolean isToGroup) {
        if (!isToGroup) {
            for (int i = 0; i < readers.size(); i++) {
                RemoteReader reader = readers.get(i);
                reader.choose(!reader.follows() && reader.cursor().isAt(cursor)
                    && hasRoom(reader, reader.cursor()));
            }
        }
        long made = 0;
        int length = 0;
        for (int path = 0; path < nodes.length; path++) {
            StreamSocket port = nodes[path].port();
            long memory = port.claim();
            if (memory == 0) {
                continue;
            }
            if (made == 0) {
                data.to(cursor.position(), cursor.firstByte());
                length = data.write(memory, source.next(), 0, false);
                if (length == 0) {
                    return false;
                }
                made = memory;
            } else {
                Words.copy(made, memory, length);
            }
            if (isToGroup) {
                port.send(length, groups[path].name(), groups[path].length());
                sent(length);
            } else {
                sendToChosen(port, path, length);
            }
        }
        if (made != 0) {
            advance(cursor, isToGroup);
        }
        return made != 0;
    }

    private void sendToChosen(StreamSocket port, int path, int length) {
        boolean isFirst = true;
        for (int i = 0; i < readers.size(); i++) {
            PeerAddress address = readers.get(i).address(path);
            if (!readers.get(i).isChosen() || !address.isSet()) {
                continue;
            }
            if (isFirst) {
                port.send(length, address.name(), address.length());
            } else {
                port.repeat(address.name(), address.length());
            }
            isFirst = false;
            sent(length);
            readers.get(i).sent(length);
        }
    }

    private void advance(SendCursor cursor, boolean isOfGroup) {
        long nowNs = net.nowNs();
        if (isOfGroup) {
            cursor.set(data.position(), data.firstByte());
            cursor.sent(nowNs, shortestRoundTripNs);
            return;
        }
        for (int i = 0; i < readers.size(); i++) {
            RemoteReader reader = readers.get(i);
            if (reader.isChosen()) {
                reader.cursor().set(data.position(), data.firstByte());
                reader.cursor().sent(nowNs, reader.roundTripNs());
            }
        }
    }

    // ---- time ----

    private void beat(long nowNs) {
        if (followers > 0 && groupCursor.beats(nowNs)) {
            for (int path = 0; path < nodes.length; path++) {
                beat(groupCursor, path, groups[path]);
            }
        }
        for (int i = 0; i < readers.size(); i++) {
            RemoteReader reader = readers.get(i);
            if (!reader.follows() && reader.cursor().beats(nowNs)) {
                for (int path = 0; path < nodes.length; path++) {
                    if (reader.address(path).isSet()) {
                        beat(reader.cursor(), path, reader.address(path));
                    }
                }
            }
        }
    }

    private void beat(SendCursor cursor, int path, PeerAddress to) {
        ControlSender sender = nodes[path].sender();
        if (isClosing && cursor.position() == source.next()) {
            sender.bye(to, stream, 0, source.next(), endErrno);
        } else {
            sender.heartbeat(to, stream, cursor.position(), source.oldest());
        }
    }

    private int expire(long nowNs) {
        boolean blocks = source.isBlocked();
        blockedSinceNs = blocks && !isBlocked ? nowNs : blockedSinceNs;
        isBlocked = blocks;
        boolean mayStall = isBlocked && policy.stallTimeoutNs() != 0
            && nowNs - blockedSinceNs >= policy.stallTimeoutNs();
        long needed = mayStall ? needed() : 0;
        int work = 0;
        for (int i = readers.size() - 1; i >= 0; i--) {
            RemoteReader reader = readers.get(i);
            if (nowNs - reader.heardNs() >= net.silenceNs()) {
                remove(reader, FabricErrno.ECONNRESET);
                work++;
            } else if (mayStall && reader.received() <= needed && waitsFor(reader)
                && nowNs - reader.movedNs() >= policy.stallTimeoutNs()) {
                remove(reader, FabricErrno.ETIMEDOUT);
                work++;
            }
        }
        for (int i = ended.size() - 1; i >= 0; i--) {
            if (nowNs - ended.get(i).heardNs() >= net.silenceNs()) {
                forget(ended.remove(i));
            }
        }
        return work;
    }

    // ---- readers ----

    /**
     * A reader with a good cookie asks to join.
     *
     * @param from where it begins; null for the next message.
     */
    void onJoin(int path, StreamSocket port, JoinDecoder join, LogPosition from, String readerName) {
        RemoteReader reader = find(join.reader());
        if (reader == null) {
            boolean hasLeft = nodes[path].hasLeft(join.reader());
            if (!hasLeft) {
                removeOther(path, port.name(), port.nameLength());
            }
            int errno = hasLeft || join.member() != 0 ? FabricErrno.ECONNRESET : refusal(from);
            if (errno != 0) {
                nodes[path].sender().refuse(
                    port.name(), port.nameLength(), join.reader(), join.timeNs(), this, errno);
                return;
            }
            reader = new RemoteReader(this, join.reader(), net.random(), readerName, nodes.length,
                Math.max(LEAST_REPAIR_BYTES, source.ringBytes() / REPAIR_PARTS));
            reader.begin(from == null ? source.next() : from.position());
            reader.cursor().sent(net.nowNs(), reader.roundTripNs());
            readers.add(reader);
            net.add(reader);
            source.onJoined(reader);
        }
        reader.address(path).set(port.name(), port.nameLength());
        findHosts();
        reader.heard(net.nowNs());
        nodes[path].sender().accept(reader.address(path), reader, join.timeNs(), reader.received());
    }

    /** A socket has one reader of a stream: a driver that was started again has taken the place of the last one. */
    private void removeOther(int path, long name, int nameLength) {
        for (int i = readers.size() - 1; i >= 0; i--) {
            if (readers.get(i).address(path).is(name, nameLength)) {
                remove(readers.get(i), FabricErrno.ECONNRESET);
            }
        }
    }

    private RemoteReader find(long id) {
        for (int i = 0; i < readers.size(); i++) {
            if (readers.get(i).id() == id) {
                return readers.get(i);
            }
        }
        return null;
    }

    private int refusal(LogPosition from) {
        if (isClosing) {
            return FabricErrno.ECONNREFUSED;
        }
        if (readers.size() >= policy.mostReaders()) {
            return FabricErrno.EBUSY;
        }
        if (from == null) {
            return 0;
        }
        if (!from.at(0).equals(source.first().at(0)) || from.position() > source.next()) {
            return FabricErrno.EINVAL;
        }
        return from.position() < source.oldest() ? FabricErrno.ENODATA : 0;
    }

    /** A reader has reported; answers at once, so that it can measure the round trip. */
    void onStatus(RemoteReader reader, int path, StatusDecoder status) {
        if (reader.hasEnded()) {
            nodes[path].sender().bye(
                reader.address(path), stream, reader.member(), source.next(), reader.endErrno());
            return;
        }
        reader.heard(net.nowNs());
        noteArrived(reader, status.timeNs(), status.arrivedBytes());
        long received = status.received();
        SendCursor cursor = reader.cursor();
        if (received <= source.next()) {
            reader.report(
                received, status.consumed(), status.window(), status.roundTripNs(), status.timeoutNs());
            if (received > cursor.position() && !reader.follows()) {
                // by the group while it catches up, or what was still under way to its predecessor at this address
                cursor.set(received, 0);
            }
        }
        nodes[path].sender().echo(reader.address(path), stream, status.timeNs());
        shortestRoundTripNs = Long.MAX_VALUE;
        longestRoundTripNs = 0;
        for (int i = 0; i < readers.size(); i++) {
            shortestRoundTripNs = Math.min(shortestRoundTripNs, readers.get(i).roundTripNs());
            longestRoundTripNs = Math.max(longestRoundTripNs, readers.get(i).roundTripNs());
        }
    }

    /** A reader has said how much has arrived, and asks for what has not. */
    void onNak(RemoteReader reader, long timeNs, long arrivedBytes) {
        if (!reader.hasEnded()) {
            reader.heard(net.nowNs());
            noteArrived(reader, timeNs, arrivedBytes);
        }
    }

    private void noteArrived(RemoteReader from, long timeNs, long arrivedBytes) {
        if (from.arrived(timeNs, arrivedBytes)) {
            long perSecond = 0;
            for (int i = 0; i < readers.size(); i++) {
                perSecond += readers.get(i).arrivedPerSecond();
            }
            pacer.arrived(groups == null ? perSecond : perSecond / readers.size());
        }
    }

    /** A reader asks for a range. */
    void onAsked(RemoteReader reader, int path, long first, int firstByte, long end, int endByte) {
        SendCursor cursor = cursorOf(reader);
        boolean isBeyond = Gaps.isBefore(cursor.position(), cursor.firstByte(), end, endByte);
        long last = isBeyond ? cursor.position() : end;
        int lastByte = isBeyond ? cursor.firstByte() : endByte;
        if (first < 0 || firstByte < 0 || endByte < 0 || reader.hasEnded()
            || !Gaps.isBefore(first, firstByte, last, lastByte)) {
            return;
        }
        reader.ask(path, first, firstByte, last, lastByte);
        boolean isNew = !Gaps.isBefore(first, firstByte, cursor.lossPosition(), cursor.lossByte());
        long lostFrom = isNew ? first : cursor.lossPosition();
        int lostFromByte = isNew ? firstByte : cursor.lossByte();
        if (!Gaps.isBefore(lostFrom, lostFromByte, last, lastByte)) {
            return;
        }
        cursor.lost(last, lastByte);
        lost(lostFrom, lostFromByte, last, lastByte);
    }

    /** A range did not arrive that was sent since the rate became less. */
    void lost(long first, int firstByte, long end, int endByte) {
        if (pacer.lost(source.offset(end) - source.offset(first) + endByte - firstByte, net.nowNs())) {
            groupCursor.lost(groupCursor.position(), groupCursor.firstByte());
            for (int i = 0; i < readers.size(); i++) {
                SendCursor other = readers.get(i).cursor();
                other.lost(other.position(), other.firstByte());
            }
        }
    }

    void onLeave(RemoteReader reader) {
        if (!reader.hasEnded()) {
            remove(reader, 0);
        }
    }

    /** A reader is not waited for any more; with an errno other than 0 it learns so. */
    private void remove(RemoteReader reader, int errno) {
        readers.remove(reader);
        findHosts();
        followers -= reader.follows() ? 1 : 0;
        for (StreamNode node : nodes) {
            node.left(reader.id());
        }
        if (errno == 0) {
            forget(reader);
        } else {
            reader.end(errno);
            ended.add(reader);
            for (int path = 0; path < nodes.length; path++) {
                if (reader.address(path).isSet()) {
                    nodes[path].sender().bye(reader.address(path), stream, reader.member(), source.next(), errno);
                }
            }
        }
        source.onLeft(reader, errno);
    }

    private void forget(RemoteReader reader) {
        net.remove(reader);
    }
}
