package org.jfabric.driver.link.shm;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.agrona.UnsafeApi;
import org.agrona.collections.Int2ObjectHashMap;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ShmConfig;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.ContextName;
import org.jfabric.driver.link.GroupHandler;
import org.jfabric.driver.link.GroupName;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.driver.link.support.FabricName;
import org.jfabric.driver.resource.FaultPoint;
import org.jfabric.driver.resource.ResourceTask;
import org.jfabric.ffi.MappedFile;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.layout.GroupRingDescriptor;

/**
 * The groups of this driver's endpoints: those that they write ({@link ShmGroup}), and their memberships in groups of
 * this driver and of others ({@link ShmGroupMember}).
 *
 * <pre>
 *   read a group of another driver:  ShmGroupJoin --GROUP_JOIN, GROUP_JOINED, ring mapped--> ShmGroupMember
 *   of this driver:                  ShmGroupJoin -----------------------------------------> ShmGroupMember
 *   write:                           ShmGroup --file made--> with a ring
 * </pre>
 *
 * <p>Owner: progress agent.
 */
final class ShmGroups {
    /** Readers of all groups of this driver, a bound for drivers that ask again and again. */
    private static final int MAX_READERS = 1 << 16;

    private final ShmLink link;
    private final LinkServices services;
    private final DriverConfig config;
    private final Map<String, ShmGroup> groups = new HashMap<>();
    private final List<ShmGroupJoin> joins = new ArrayList<>();
    private final List<ShmGroupChannel> channels = new ArrayList<>();
    /** Readers of other drivers, by this driver's number. */
    private final Int2ObjectHashMap<ShmGroupReader> readers = new Int2ObjectHashMap<>();
    /** Replaced by each change, because a step may begin or end memberships. */
    private ShmGroup[] written = {};
    private ShmGroupMember[] members = {};
    private long lostCounter;
    private int ids;

    ShmGroups(ShmLink link, LinkServices services, DriverConfig config) {
        this.link = link;
        this.services = services;
        this.config = config;
    }

    /** Whether there is nothing to poll. */
    boolean isEmpty() {
        return members.length == 0 && written.length == 0 && joins.isEmpty();
    }

    // ---- joining ----

    void join(LocalEndpoint endpoint, GroupName name, long flags, GroupHandler handler) {
        String address = name.address();
        boolean writes = (flags & Flags.SEND) != 0;
        boolean isOwn = services.driverName().equals(FabricName.driverOf(address));
        ShmGroupJoin join = new ShmGroupJoin(++ids, endpoint, address, handler, isOwn || writes ? null
            : isName(address) ? link.connection(address) : null,
            services.readAttendedNs() + config.get(ShmConfig.CONNECT_TIMEOUT_NS));
        if (!isName(address)) {
            join.failed(FabricErrno.EINVAL, "has no valid name", "Name it jfabric://<driver>/<group>.");
        } else if (isMember(endpoint, address)) {
            join.failed(FabricErrno.EALREADY, "was joined by this endpoint", "Close the group, then join it again.");
        } else if (writes) {
            write(join, name, isOwn, (flags & Flags.RECV) != 0);
        } else if (name.isLossy()) {
            join.failed(FabricErrno.EINVAL, "is joined with an option of the writer", "Read it by its address alone.");
        } else if (isOwn) {
            read(join);
        } else {
            joins.add(join);
            if (join.connection().state() == ShmConnection.UP) {
                join.connection().groups().join(join);
            }
        }
    }

    private static boolean isName(String address) {
        String driver = FabricName.driverOf(address);
        return driver != null && FabricName.isValidPart(driver)
            && FabricName.isValidPart(FabricName.endpointOf(address));
    }

    /** Whether an endpoint reads a group or is about to; a membership whose writer has gone ends now. */
    private boolean isMember(LocalEndpoint endpoint, String address) {
        ShmGroupMember member = member(endpoint, address);
        if (member != null && member.isEnding()) {
            member.down(FabricErrno.ESHUTDOWN);
            member = null;
        }
        ShmGroup group = groups.get(address);
        return member != null || group != null && group.writer() == endpoint
            || joins.stream().anyMatch(join -> join.endpoint() == endpoint && join.group().equals(address));
    }

    private void write(ShmGroupJoin join, GroupName name, boolean isOwn, boolean reads) {
        String address = name.address();
        if (!isOwn) {
            join.failed(FabricErrno.EINVAL, "is in another driver than " + services.driverName()
                + ", and only endpoints of its own driver can write it",
                "Write a group that is named after this driver, or join with FI_RECV.");
        } else if (groups.containsKey(address)) {
            join.failed(FabricErrno.EBUSY, "has a writer, " + groups.get(address).writer().address(),
                "Join with FI_RECV to read it.");
        } else if (link.endpoint(address) != null) {
            join.failed(FabricErrno.EADDRINUSE, "has the address of an endpoint", "Choose another name.");
        } else {
            LocalEndpoint endpoint = join.endpoint();
            ShmGroup group = new ShmGroup(
                services, name, endpoint, channel(endpoint, address), config.get(ShmConfig.GROUP_STALL_TIMEOUT_NS));
            groups.put(address, group);
            services.submit(new CreateTask(group, join, reads));
        }
    }

    private void read(ShmGroupJoin join) {
        ShmGroup group = find(join.group());
        int errno = refusal(group, null, join.endpoint().address(), join.endpoint().authKey());
        if (errno != 0) {
            refused(join, errno);
            return;
        }
        join.answered(0, group.writer().address(), group.isLossy(), group.mayOverrun(), group.position(),
            group.sequence());
        group.add(ShmGroupReader.local(group, begin(join, group.ring())));
        join.joined();
    }

    private ShmGroupMember begin(ShmGroupJoin join, ShmGroupRing ring) {
        LocalEndpoint endpoint = join.endpoint();
        channel(endpoint, join.group());
        ChannelHandler source = endpoint.handlerFor(ContextName.writer(join.writer(), join.group()));
        ShmGroupMember member = new ShmGroupMember(this, join, ring, source);
        members = Arrays.copyOf(members, members.length + 1);
        members[members.length - 1] = member;
        if (join.endErrno() != 0) {
            member.ending(join.endErrno(), join.endPosition());
        }
        member.up();
        return member;
    }

    /** The channel by which an endpoint sends to a group; made if there is none. */
    private ShmGroupChannel channel(LocalEndpoint endpoint, String address) {
        for (ShmGroupChannel known : channels) {
            if (known.endpoint() == endpoint && known.address().equals(address)) {
                return known;
            }
        }
        ChannelHandler handler = endpoint.handlerFor(address);
        ShmGroupChannel channel = new ShmGroupChannel(this, endpoint, address, handler);
        channels.add(channel);
        handler.onOpening();
        handler.onUp(channel);
        return channel;
    }

    /** The engine has closed the channel, or has seen its end. */
    void onClosed(ShmGroupChannel channel) {
        channels.remove(channel);
    }

    // ---- joining groups of other drivers ----

    void onUp(ShmConnection connection) {
        for (ShmGroupJoin join : List.copyOf(joins)) {
            if (join.connection() == connection) {
                join.connection().groups().join(join);
            }
        }
    }

    /** A join by its number, if it was sent over that connection; or null. */
    ShmGroupJoin pending(int id, ShmConnection connection) {
        for (ShmGroupJoin join : joins) {
            if (join.id() == id && join.connection() == connection) {
                return join;
            }
        }
        return null;
    }

    void refused(ShmGroupJoin join, int errno) {
        joins.remove(join);
        switch (errno) {
            case FabricErrno.ECONNREFUSED -> join.failed(errno, "has no writer",
                "Join again when an endpoint of its driver has joined it with FI_SEND.");
            case FabricErrno.EKEYREJECTED -> join.failed(errno, "has a writer with another authorization key",
                "Open the endpoint with the writer's key.");
            default -> join.failed(errno, "cannot be joined", "See the error log of the group's driver.");
        }
    }

    /** The writer's driver has answered: maps the ring. */
    void map(ShmGroupJoin join, long ringNumber, long ringLength) {
        if (ringNumber <= 0 || !GroupRingDescriptor.isValidCapacity(ringLength)
            || (join.position() & GroupRingDescriptor.RECORD_ALIGNMENT - 1) != 0) {
            // a record that began elsewhere could reach beyond the file
            throw new FabricException(FabricErrno.EIO,
                "ring " + ringNumber + " of " + ringLength + " bytes, read from " + join.position());
        }
        for (ShmGroupMember member : members) {
            if (member.connection() == join.connection() && member.ring().number() == ringNumber
                && member.ring().capacity() == ringLength) {
                joined(join, member.ring());
                return;
            }
        }
        services.submit(new MapTask(join, ringNumber, (int) ringLength));
    }

    private void joined(ShmGroupJoin join, ShmGroupRing ring) {
        joins.remove(join);
        begin(join, ring);
        join.joined();
    }

    /** Gives up a join that the writer's driver has accepted. */
    private void giveUp(ShmGroupJoin join) {
        joins.remove(join);
        if (join.isAnswered()) {
            join.connection().groups().leave(join.remoteId());
        }
    }

    // ---- groups of this driver ----

    ShmGroup find(String address) {
        ShmGroup group = groups.get(address);
        return group == null || group.ring() == null ? null : group;
    }

    /** Why an endpoint may not read a group, or 0. */
    int refusal(ShmGroup group, ShmConnection connection, String source, byte[] authKey) {
        if (group == null
            || connection != null && !connection.peerName().equals(FabricName.driverOf(source))) {
            return FabricErrno.ECONNREFUSED;
        }
        if (!group.writer().admits(authKey)) {
            return FabricErrno.EKEYREJECTED;
        }
        return readers.size() < MAX_READERS ? 0 : FabricErrno.EMFILE;
    }

    /** Adds a reader of another driver, which begins at the tail. */
    ShmGroupReader add(ShmGroup group, String source, ShmConnection connection, int remoteId) {
        ShmGroupReader reader = ShmGroupReader.remote(group, ++ids, source, connection, remoteId, group.position());
        readers.put(reader.id(), reader);
        group.add(reader);
        return reader;
    }

    /** A reader of another driver by this driver's number, or null. */
    ShmGroupReader reader(int id, ShmConnection connection) {
        ShmGroupReader reader = readers.get(id);
        return reader != null && reader.connection() == connection ? reader : null;
    }

    void forget(ShmGroupReader reader) {
        readers.remove(reader.id());
    }

    /** The other driver reports the end of a membership: of one of its readers with errno 0, else of one here. */
    void onEnd(ShmConnection connection, int id, int errno, long position) {
        if (errno == 0) {
            ShmGroupReader reader = reader(id, connection);
            if (reader != null) {
                forget(reader);
                reader.group().remove(reader);
            }
            return;
        }
        ShmGroupJoin join = pending(id, connection);
        if (join != null) {
            join.ending(errno, position);
        }
        for (ShmGroupMember member : members) {
            if (member.id() == id && member.connection() == connection) {
                member.ending(errno, position);
            }
        }
    }

    private void close(ShmGroup group, int errno) {
        groups.remove(group.address(), group);
        written = Arrays.stream(written).filter(other -> other != group).toArray(ShmGroup[]::new);
        group.close(errno);
    }

    // ---- the end ----

    private ShmGroupMember member(LocalEndpoint endpoint, String address) {
        for (ShmGroupMember member : members) {
            if (member.endpoint() == endpoint && member.group().equals(address)) {
                return member;
            }
        }
        return null;
    }

    /** The application leaves a group. */
    void leave(LocalEndpoint endpoint, String address) {
        ShmGroupMember member = member(endpoint, address);
        if (member != null) {
            member.leave();
        }
        ShmGroup group = groups.get(address);
        if (group != null && group.writer() == endpoint) {
            close(group, FabricErrno.ESHUTDOWN);
        }
    }

    void detach(LocalEndpoint endpoint) {
        for (ShmGroupJoin join : List.copyOf(joins)) {
            if (join.endpoint() == endpoint) {
                giveUp(join);
                join.closed();
            }
        }
        for (ShmGroupMember member : members) {
            if (member.endpoint() == endpoint) {
                member.close(FabricErrno.ESHUTDOWN);
            }
        }
        for (ShmGroup group : List.copyOf(groups.values())) {
            if (group.writer() == endpoint) {
                close(group, FabricErrno.ESHUTDOWN);
            }
        }
    }

    /** A membership is over. */
    void remove(ShmGroupMember member) {
        members = Arrays.stream(members).filter(other -> other != member).toArray(ShmGroupMember[]::new);
        if (member.connection() != null) {
            member.connection().groups().leave(member.remoteId());
            return;
        }
        ShmGroup group = groups.get(member.group());
        ShmGroupReader reader = group == null ? null : group.find(member);
        if (reader != null) {
            group.remove(reader);
        }
    }

    /** The ring of a member's group cannot be read any more. */
    void onBroken(ShmGroupMember member, int errno, String what) {
        services.onError(new FabricException(errno, "the ring of group " + member.group() + ' ' + what,
            "Its reader " + member.endpoint().address() + " has left it."));
    }

    /** A connection has ended: its readers hold nothing back any more; groups of that driver are read to the end. */
    void onDown(ShmConnection connection, int errno) {
        for (ShmGroupReader reader : List.copyOf(readers.values())) {
            if (reader.connection() == connection) {
                forget(reader);
                reader.group().remove(reader);
            }
        }
        for (ShmGroupMember member : members) {
            if (member.connection() == connection) {
                member.onConnectionDown(errno);
            }
        }
        for (ShmGroupJoin join : List.copyOf(joins)) {
            if (join.connection() == connection) {
                joins.remove(join);
                join.failed(errno, "is in driver " + connection.peerName() + ", which cannot be reached",
                    "Start that driver, then join again.");
            }
        }
    }

    /** The driver ends: nothing is reported. */
    void close() {
        for (ShmGroupMember member : members) {
            member.close(FabricErrno.ESHUTDOWN);
        }
        for (ShmGroup group : List.copyOf(groups.values())) {
            close(group, FabricErrno.ESHUTDOWN);
        }
        joins.clear();
    }

    // ---- progress ----

    /** Makes one step; 0 if there was nothing to do. */
    int poll(int limit) {
        int work = 0;
        ShmGroupMember[] reading = members;
        for (int i = 0; i < reading.length; i++) {
            work += reading[i].poll(limit);
        }
        ShmGroup[] writing = written;
        for (int i = 0; i < writing.length; i++) {
            work += poll(writing[i]);
        }
        return joins.isEmpty() ? work : work + endLateJoins();
    }

    private int poll(ShmGroup group) {
        try {
            int work = group.poll();
            FaultPoint.pass();
            return work;
        } catch (InternalError e) {
            ShmGroupRing ring = group.ring();
            if (ring != null && ring.isCut()) {
                services.onError(new FabricException(FabricErrno.EIO,
                    "the ring of group " + group.address() + " was truncated while it was mapped here",
                    "The group has ended; its writer and its readers can join it again."));
                close(group, FabricErrno.EIO);
                channels.remove(group.channel());
                group.channel().handler().onDown(FabricErrno.EIO);
            }
            throw e;
        }
    }

    private int endLateJoins() {
        for (ShmGroupJoin join : joins) {
            if (join.isLate(services.attendedNs())) {
                giveUp(join);
                join.failed(FabricErrno.ETIMEDOUT, "has a driver that did not answer in time",
                    "Wait for it, then join again; the time is jfabric.shm.connectTimeoutNs.");
                return 1;
            }
        }
        return 0;
    }

    /** Prepares for the thread to sleep; false if there is work. */
    boolean arm() {
        boolean armed = true;
        for (ShmGroup group : written) {
            group.announce();
        }
        for (ShmGroupMember member : members) {
            armed &= !member.hasMore();
        }
        return armed;
    }

    /** Counts messages that a reader has lost because the writer did not wait for it. */
    void lost(long messages) {
        if (lostCounter == 0) {
            lostCounter = services.counterAddress("shm: messages of lossy groups lost by their readers");
        }
        // one writer, read by tools: no ordering is needed, but the store must not tear
        UnsafeApi.putLongOpaque(null, lostCounter, UnsafeApi.getLong(lostCounter) + messages);
    }

    // ---- slow work ----

    /** Makes the ring of a group. */
    private final class CreateTask extends ResourceTask {
        private final ShmGroup group;
        private final ShmGroupJoin join;
        private final boolean reads;
        private final long number = services.nextFileNumber();
        private final int capacity = config.get(ShmConfig.GROUP_RING_LENGTH_BYTES);
        private MappedFile file;

        CreateTask(ShmGroup group, ShmGroupJoin join, boolean reads) {
            this.group = group;
            this.join = join;
            this.reads = reads;
        }

        @Override
        protected long sizeBytes() {
            return capacity;
        }

        @Override
        protected void execute() {
            file = ShmGroupRing.create(
                services.environment(), services.directoryFd(), number, capacity, services.ownerId());
        }

        @Override
        protected void onDone() {
            ShmGroupRing ring = new ShmGroupRing(services, file, number, capacity);
            if (group.isClosed()) {
                ring.discard();
                join.closed();
                return;
            }
            group.open(ring);
            written = Arrays.copyOf(written, written.length + 1);
            written[written.length - 1] = group;
            if (reads) {
                read(join);
            } else {
                join.joined();
            }
        }

        @Override
        protected void onFailed(Throwable cause) {
            groups.remove(group.address(), group);
            join.failed(new FabricException(ShmFiles.errnoOf(cause), "the ring of group " + group.address()
                + " cannot be made: " + cause.getMessage(),
                "Make room for " + capacity + " bytes, or lower jfabric.shm.groupRingLengthBytes.", cause));
        }
    }

    /** Maps the ring of a group of another driver. */
    private final class MapTask extends ResourceTask {
        private final ShmGroupJoin join;
        private final long number;
        private final int capacity;
        private final ShmFiles files;
        private MappedFile file;

        MapTask(ShmGroupJoin join, long number, int capacity) {
            this.join = join;
            this.number = number;
            this.capacity = capacity;
            this.files = join.connection().files();
        }

        @Override
        protected void execute() {
            file = ShmGroupRing.open(
                files.peerDirectoryFd(), number, capacity, files.peerOwner(), join.connection().peerName());
        }

        @Override
        protected void onDone() {
            if (join.isOver()) {
                services.submit(new ShmUnmapTask(file));
            } else {
                joined(join, new ShmGroupRing(services, file, number, capacity));
            }
        }

        @Override
        protected void onFailed(Throwable cause) {
            giveUp(join);
            join.failed(new FabricException(ShmFiles.errnoOf(cause), "the ring of group " + join.group()
                + " cannot be mapped: " + cause.getMessage(), "Join again if the writer is still there.", cause));
        }
    }
}
