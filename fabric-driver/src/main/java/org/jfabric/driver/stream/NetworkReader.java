package org.jfabric.driver.stream;

import java.util.ArrayList;
import java.util.List;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.stream.net.StreamNet;
import org.jfabric.driver.stream.net.StreamPath;
import org.jfabric.driver.stream.net.StreamReader;
import org.jfabric.driver.stream.net.StreamSink;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.LogPosition;
import org.jfabric.layout.GroupRingDescriptor;

/**
 * A group of another host as this driver reads it: puts what arrives into a ring of its own, whose readers are those of
 * any group.
 *
 * <pre>
 *   socket opened ──▶ joined at the writer ──▶ ring made ──▶ readers ──▶ the end, or the last reader leaves
 * </pre>
 *
 * <p>Owner: progress agent.
 */
final class NetworkReader extends StreamSink {
    private final GroupNetwork network;
    private final LinkServices services;
    private final String address;
    private final StreamAddress parts;
    /** Where the first of those who wait wants to begin; null for the next message. */
    private final LogPosition from;
    private final List<GroupJoin> joins = new ArrayList<>();
    /** Empty while their sockets are being opened. */
    private List<StreamPath> paths = List.of();
    private StreamReader reader;
    /** Null before the writer has accepted; without a ring until that is made. */
    private Group group;
    private boolean isLossy;
    private long lostMessages;
    /** Position behind a gap that has no room yet; 0 without. */
    private long missingUntil;
    /** Why nothing more comes; a positive errno, or 0. */
    private int endErrno;

    NetworkReader(GroupNetwork network, LinkServices services, String address, LogPosition from) {
        this.network = network;
        this.services = services;
        this.address = address;
        this.parts = StreamAddress.parse(address);
        this.from = from;
    }

    String address() {
        return address;
    }

    /** {@code host:port} of each path to the writer. */
    String network() {
        return parts.network();
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

    /** The reading end, for its figures. */
    StreamReader stream() {
        return reader;
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
            network.read(join);
        } else {
            joins.add(join);
        }
    }

    /** The sockets are open. */
    void subscribe(StreamNet net, List<StreamPath> newPaths) {
        paths = newPaths;
        reader = net.subscribe(parts.group(), services.driverName(), from, this, paths);
    }

    // ---- what arrives ----

    @Override
    public void onJoined(LogPosition start, int ringBytes, int flags) {
        isLossy = (flags & LOSSY) != 0;
        group = network.create(this, start, ringBytes, isLossy);
    }

    /** The ring can be read. */
    void opened() {
        List.copyOf(joins).forEach(network::read);
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
        long kind = (flags & GroupRingDescriptor.TAGGED) != 0 ? Flags.TAGGED : Flags.MSG;
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
        return isOpen() ? Math.max(0, group.free() - group.ring().capacity() / GroupRingDescriptor.RECORDS_PER_RING)
            : 0;
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
        // the log of another host cannot be read from here: the group ends in front of what is in it alone
        end(FabricErrno.ENODATA);
    }

    @Override
    public void end(int errno) {
        endErrno = errno;
    }

    @Override
    public void onNotice(FabricException notice) {
        services.onError(notice);
    }

    /** Makes one step; 0 if there was nothing to do. */
    int poll() {
        boolean isCreating = group != null && group.ring() == null && !group.isClosed();
        if (isCreating) {
            return 0;
        }
        if (endErrno != 0 && (!isOpen() || hasSkipped())) {
            close(endErrno);
            return 1;
        }
        if (isOpen() && group.readers().isEmpty() || group == null && joins.isEmpty() && !paths.isEmpty()) {
            close(FabricErrno.ESHUTDOWN);
            return 1;
        }
        return 0;
    }

    /** The socket could not be opened, or the ring not be made. */
    void failed(FabricException cause) {
        List.copyOf(joins).forEach(join -> join.failed(cause));
        joins.clear();
        network.ended(this);
    }

    void close(int errno) {
        if (reader != null && !services.environment().isKilled()) {
            reader.leave();
        }
        if (group != null && !group.isClosed()) {
            network.close(group, errno);
        }
        FabricException refusal = joins.isEmpty() ? null : refusal(errno);
        if (refusal == null) {
            network.ended(this);
        } else {
            failed(refusal);
        }
    }

    private FabricException refusal(int errno) {
        String what = "the stream " + address;
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
