package org.jfabric.driver.stream;

import java.util.List;
import org.agrona.UnsafeApi;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.stream.net.RemoteReader;
import org.jfabric.driver.stream.net.StreamSource;
import org.jfabric.driver.stream.net.StreamWriter;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.LogPosition;
import org.jfabric.layout.GroupRingDescriptor;

/**
 * The ring of a group as other hosts read it. Where each message lies is noted when it is asked for, so that the writer
 * of the ring has no work for that.
 *
 * <p>Owner: progress agent.
 */
final class GroupSource extends StreamSource {
    /** After this time without progress the hosts that have not received everything are given up. */
    private static final long END_NS = 5_000_000_000L;
    private static final long LAST_NS = 1_000_000_000L;

    private final Group group;
    private final GroupRing ring;
    private final LinkServices services;
    private final GroupNetwork network;
    private final LogPosition first;
    /** Offsets of the messages, by the lower bits of their positions: each takes a line at least. */
    private final long[] offsets;
    private long oldest;
    /** End of the records that are noted, and the position behind them. */
    private long noted;
    private long next;
    private StreamWriter writer;
    private boolean isReleased;
    /** The newest position of the slowest host after the close, and when it was reached. */
    private long drained;
    private long drainedNs;

    /** Of a group that is open. */
    GroupSource(Group group, LinkServices services, GroupNetwork network) {
        this.group = group;
        this.ring = group.ring();
        this.services = services;
        this.network = network;
        first = group.start();
        offsets = new long[ring.capacity() / GroupRingDescriptor.RECORD_ALIGNMENT];
        noted = group.startOffset();
        next = group.start().position();
        oldest = next;
    }

    /** Sent from now on. */
    void sentBy(StreamWriter newWriter) {
        writer = newWriter;
    }

    /** Notes the messages that were written since. */
    private void note() {
        // of a recorded group what readers may see, which may be less than what is written
        long tail = group.startOffset();
        long overwritten = group.tail() - ring.capacity();
        if (noted - overwritten < 0 && noted != tail) {
            long shown = group.start().position();
            next = Math.min(group.oldest(), shown);
            oldest = next;
            noted = next == shown ? tail : group.offset(next);
        }
        while (noted != tail) {
            long record = ring.record(noted);
            if ((UnsafeApi.getInt(record + GroupRingDescriptor.FLAGS) & GroupRingDescriptor.PADDING) == 0) {
                offsets[(int) next & offsets.length - 1] = noted;
                next++;
            }
            noted += GroupRingDescriptor.alignedLength(UnsafeApi.getInt(record + GroupRingDescriptor.LENGTH));
        }
        // their places have been taken by newer ones
        oldest = Math.max(oldest, next - offsets.length);
        while (oldest < next && offset(oldest) - overwritten < 0) {
            oldest++;
        }
    }

    @Override
    public LogPosition first() {
        return first;
    }

    @Override
    public int ringBytes() {
        return ring.capacity();
    }

    @Override
    public long next() {
        note();
        return next;
    }

    @Override
    public long oldest() {
        note();
        return oldest;
    }

    @Override
    public int read(long position) {
        note();
        if (position < oldest || position >= next) {
            return -FabricErrno.ENODATA;
        }
        long record = ring.record(offset(position));
        flags = UnsafeApi.getInt(record + GroupRingDescriptor.FLAGS);
        boolean hasData = (flags & GroupRingDescriptor.HAS_DATA) != 0;
        int before = hasData ? GroupRingDescriptor.RECORD_HEADER_WITH_DATA : GroupRingDescriptor.RECORD_HEADER;
        tag = (flags & GroupRingDescriptor.TAGGED) == 0 ? 0 : UnsafeApi.getLong(record + GroupRingDescriptor.TAG);
        data = hasData ? UnsafeApi.getLong(record + GroupRingDescriptor.DATA) : 0;
        payload = record + before;
        payloadLength = UnsafeApi.getInt(record + GroupRingDescriptor.LENGTH) - before;
        return 0;
    }

    @Override
    public long offset(long position) {
        return position >= next ? noted : offsets[(int) Math.max(position, oldest) & offsets.length - 1];
    }

    @Override
    public boolean isRecorded() {
        return group.recorder() != null;
    }

    @Override
    public boolean isBlocked() {
        return group.isBlocked();
    }

    @Override
    public void onJoined(RemoteReader reader) {
        group.hold(offset(reader.received()));
    }

    @Override
    public void onOtherWriter(String address) {
        network.countOther();
        services.onError(new FabricException(FabricErrno.EBUSY, "group " + group.address() + " is sent to "
            + group.name().network() + ", where " + address + " sends another one of that name",
            "Readers stay with the one that has answered first. Give each a name or a multicast group of its own."));
    }

    @Override
    public void onLeft(RemoteReader reader, int errno) {
        if (errno == FabricErrno.ETIMEDOUT || errno == FabricErrno.ECONNRESET) {
            services.onError(new FabricException(errno, "host " + reader.address() + " does not read group "
                + group.address() + " any more: it has " + (errno == FabricErrno.ETIMEDOUT ? "held the group back"
                : "said nothing"), "Its readers get " + FabricErrno.name(errno) + ", and may join again."));
        }
    }

    /** Everything before this offset of the ring was received by the hosts that the writer waits for. */
    long neededOffset() {
        note();
        long needed = isReleased ? Long.MAX_VALUE : writer.needed();
        return needed == Long.MAX_VALUE ? noted : offset(needed);
    }

    /** A host that has not received everything before an offset; null if there is none. */
    RemoteReader awaitedHost(long offset) {
        for (RemoteReader reader : writer.readers()) {
            if (writer.waitsFor(reader) && offset(reader.received()) - offset < 0) {
                return reader;
            }
        }
        return null;
    }

    /** What the writer waits for that has not joined; null without. */
    String absentHost() {
        int quorum = group.name().quorum();
        if (writer.hosts() < quorum) {
            return "a quorum of " + quorum + " hosts";
        }
        for (String driver : group.name().required()) {
            if (writer.readers().stream().noneMatch(reader -> reader.name().equals(driver))) {
                return "driver " + driver + ", which has not joined";
            }
        }
        return null;
    }

    List<RemoteReader> hosts() {
        return writer == null ? List.of() : writer.readers();
    }

    // ---- the end ----

    void close(int errno) {
        note();
        writer.close(errno);
        drained = -1;
    }

    /** After the close: all hosts have everything, or those that do not take it were given up. */
    boolean isDrained() {
        if (!isReleased && (writer.isDrained() || isStuck())) {
            isReleased = true;
            writer.release();
            network.unpublish(group);
        }
        return isReleased;
    }

    private boolean isStuck() {
        long slowest = Long.MAX_VALUE;
        for (RemoteReader reader : writer.readers()) {
            slowest = Math.min(slowest, reader.received());
        }
        if (slowest != drained) {
            drained = slowest;
            drainedNs = services.attendedNs();
        }
        if (services.attendedNs() - drainedNs < END_NS) {
            return false;
        }
        // who has everything has had the end, too
        writer.close(FabricErrno.ETIMEDOUT);
        return true;
    }

    /** The driver ends: sends what is there for a short while. Returns whether all hosts have it. */
    boolean awaitEnd() {
        long deadlineNs = services.environment().nanoTime() + LAST_NS;
        while (!services.environment().isKilled() && !writer.isDrained()
            && services.environment().nanoTime() - deadlineNs < 0) {
            network.step();
            services.environment().pause();
        }
        boolean isWhole = writer.isDrained();
        if (!isWhole) {
            writer.close(FabricErrno.ECONNRESET);
        }
        if (!isReleased) {
            isReleased = true;
            writer.release();
            if (!services.environment().isKilled()) {
                network.step();
            }
            network.unpublish(group);
        }
        return isWhole;
    }
}
