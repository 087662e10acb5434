package org.jfabric.driver.stream;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.agrona.UnsafeApi;
import org.agrona.collections.Int2ObjectHashMap;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ShmConfig;
import org.jfabric.driver.config.UdpConfig;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.ContextName;
import org.jfabric.driver.link.GroupHandler;
import org.jfabric.driver.link.GroupName;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.driver.link.support.FabricName;
import org.jfabric.driver.resource.FaultPoint;
import org.jfabric.driver.resource.PeerFile;
import org.jfabric.driver.resource.ResourceTask;
import org.jfabric.driver.resource.UnmapTask;
import org.jfabric.driver.stream.net.StreamSockets;
import org.jfabric.driver.stream.record.LogWriter;
import org.jfabric.ffi.LinuxErrno;
import org.jfabric.ffi.MappedFile;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.JoinAttr;
import org.jfabric.info.LogPosition;
import org.jfabric.layout.GroupRingDescriptor;
import org.jfabric.layout.OwnerId;

/**
 * The groups of this driver's endpoints: those that they write ({@link Group}), and their memberships in groups of
 * this driver and of others ({@link GroupMember}).
 *
 * <pre>
 *   read a group of another driver:  GroupJoin --GROUP_JOIN, GROUP_JOINED, ring mapped--> GroupMember
 *   of this driver:                  GroupJoin -----------------------------------------> GroupMember
 *   write:                           Group --file made--> with a ring
 * </pre>
 *
 * <p>A group is on the progress thread of its writer. To the other threads of its driver that one is as another driver:
 * they join by the wire between threads. Another driver asks the first thread, which names the one that has the group.
 *
 * <p>Owner: progress agent.
 */
public final class Groups {
    /** The ways to progress threads of this driver and of others. */
    public interface Wires {
        /** The way to a progress thread; made if there is none. Null if no link is between the driver's threads. */
        GroupWire to(String driver, int thread);
    }

    private static final int MAX_THREADS = 1 << 15;
    /** Readers of all groups of this driver, a bound for drivers that ask again and again. */
    private static final int MAX_READERS = 1 << 16;

    private final LinkServices services;
    private final DriverConfig config;
    private final Wires wires;
    private final Predicate<String> isEndpoint;
    private final Map<String, Group> groups = new HashMap<>();
    private final List<GroupJoin> joins = new ArrayList<>();
    private final List<GroupChannel> channels = new ArrayList<>();
    /** Readers of other drivers, by this driver's number. */
    private final Int2ObjectHashMap<GroupReader> readers = new Int2ObjectHashMap<>();
    /** Replaced by each change, because a step may begin or end memberships. */
    private Group[] written = {};
    /** Closed, and still being recorded. */
    private Group[] draining = {};
    /** Writers that wait until the log of an earlier one is closed. */
    private final List<CreateTask> waiting = new ArrayList<>();
    private GroupMember[] members = {};
    private final GroupMeters meters;
    /** Those of the members. */
    private GroupRing[] read = {};
    /** Null while there are no sockets for streams. */
    private GroupNetwork network;
    private long lostCounter;
    private int ids;

    /**
     * Without groups.
     *
     * @param isEndpoint whether an endpoint of this driver has an address.
     */
    public Groups(
        LinkServices services, DriverConfig config, Wires wires, Predicate<String> isEndpoint) {
        this.services = services;
        this.config = config;
        this.wires = wires;
        this.isEndpoint = isEndpoint;
        this.meters = new GroupMeters(services, config);
    }

    /** Whether there is nothing to poll. */
    public boolean isEmpty() {
        return members.length == 0 && written.length == 0 && draining.length == 0 && joins.isEmpty()
            && (network == null || network.isEmpty());
    }

    /**
     * Groups reach other hosts from now on, by these sockets.
     *
     * @param security of the connections for logs, if keys seal what is sent besides; or null.
     */
    public void reachHosts(StreamSockets sockets, ReplaySecurity security) {
        network = new GroupNetwork(this, services, sockets, config.get(UdpConfig.STREAM_SILENCE_NS),
            config.file(UdpConfig.STREAM_KEY_FILE), security);
    }

    // ---- joining ----

    /** As {@link org.jfabric.driver.link.Link#join}. */
    public void join(
        LocalEndpoint endpoint, GroupName name, long flags, LogPosition from, boolean inPlace,
        GroupHandler handler) {
        String address = name.address();
        boolean writes = (flags & Flags.SEND) != 0;
        boolean isStream = StreamAddress.isOne(address);
        // a stream has its ring in the driver that reads it
        boolean isOwn = isStream || services.driverName().equals(FabricName.driverOf(address));
        int thread = isOwn ? services.threadOf(place(address)) : 0;
        boolean isHere = isOwn && (thread < 0 || thread == services.thread());
        GroupJoin join = new GroupJoin(++ids, endpoint, address, from, inPlace, handler, isHere || writes ? null
            : isStream || isName(address) ? wires.to(isOwn ? services.driverName() : FabricName.driverOf(address),
                thread) : null,
            services.readAttendedNs() + config.get(ShmConfig.CONNECT_TIMEOUT_NS));
        if (!isStream && !isName(address)) {
            join.failed(FabricErrno.EINVAL, "has no valid name", "Name it jfabric://<driver>/<group>.");
        } else if (isMember(endpoint, address)) {
            join.failed(FabricErrno.EALREADY, "was joined by this endpoint", "Close the group, then join it again.");
        } else if (inPlace && endpoint.readPlace() == null) {
            join.failed(FabricErrno.EINVAL, "is to be read in place by an endpoint without a completion queue for"
                + " receives", "Bind one.");
        } else if (writes) {
            write(join, name, isOwn && !isStream, (flags & Flags.RECV) != 0);
        } else if (name.hasOptions()) {
            join.failed(FabricErrno.EINVAL, "is joined with an option of the writer", "Read it by its address alone.");
        } else if (isHere) {
            if (isStream) {
                readStream(join);
            } else {
                read(join);
            }
        } else if (join.wire() == null) {
            join.failed(FabricErrno.EOPNOTSUPP, "has its writer on another progress thread", "Enable link loopback.");
        } else {
            joins.add(join);
            if (join.wire().isUp()) {
                join.wire().join(join.request());
            }
        }
    }

    private void readStream(GroupJoin join) {
        if (network == null) {
            join.failed(noNetwork(join.group()));
        } else if (!join.isInPlace() && join.group().contains(JoinAttr.TIMES)) {
            join.failed(FabricErrno.EOPNOTSUPP, "is joined with times of arrival by an endpoint that reads by"
                + " receives", "Read it in place, by a Subscription or a MulticastReader; or join without times.");
        } else if (!join.isKeyless()) {
            join.failed(FabricErrno.EKEYREJECTED, "is a stream of another host, of which the endpoint's"
                + " authorization key proves nothing", "Open the endpoint without one.");
        } else {
            try {
                network.join(join);
            } catch (FabricException e) {
                join.failed(e);
            }
        }
    }

    private static FabricException noNetwork(String group) {
        return new FabricException(FabricErrno.EOPNOTSUPP, "group " + group + " is to reach other hosts, and this"
            + " driver has no sockets for that", "Add udp to jfabric.link.enabled of the driver; with"
            + " jfabric.tls.policy REQUIRED a group stays on its host.");
    }

    /** The name under which a group has its progress thread; endpoints have others. */
    private static String place(String address) {
        return "group " + address;
    }

    private static boolean isName(String address) {
        String driver = FabricName.driverOf(address);
        return driver != null && FabricName.isValidPart(driver)
            && FabricName.isValidPart(FabricName.endpointOf(address));
    }

    /** Whether an endpoint reads a group or is about to; a membership whose writer has gone ends now. */
    private boolean isMember(LocalEndpoint endpoint, String address) {
        GroupMember member = member(endpoint, address);
        if (member != null && member.isEnding()) {
            member.down(FabricErrno.ESHUTDOWN);
            member = null;
        }
        Group group = groups.get(address);
        return member != null || group != null && group.writer() == endpoint
            || network != null && network.isJoining(endpoint, address)
            || joins.stream().anyMatch(join -> join.endpoint() == endpoint && join.group().equals(address));
    }

    private void write(GroupJoin join, GroupName name, boolean isOwn, boolean reads) {
        String address = name.address();
        if (!isOwn) {
            join.failed(FabricErrno.EINVAL, "is in another driver than " + services.driverName()
                + ", and only endpoints of its own driver can write it",
                "Write a group that is named after this driver, or join with FI_RECV.");
        } else if (groups.containsKey(address)) {
            join.failed(FabricErrno.EBUSY, "has a writer, " + groups.get(address).writer().address(),
                "Join with FI_RECV to read it.");
        } else if (isEndpoint.test(address)) {
            join.failed(FabricErrno.EADDRINUSE, "has the address of an endpoint", "Choose another name.");
        } else if (name.network() != null && network == null) {
            join.failed(noNetwork(address));
        } else if (name.network() != null && join.request().authKey().length != 0) {
            join.failed(FabricErrno.EOPNOTSUPP, "is to reach other hosts, and its writer has an authorization key,"
                + " which they do not show", "Open the endpoint without one, or keep the group on this host.");
        } else if (name.network() != null && network.isFull(name)) {
            join.failed(FabricErrno.EADDRINUSE, "is sealed with a key, and " + name.network() + " sends another group",
                "Give each group with a key a socket of its own.");
        } else if (!services.claim(place(address))) {
            join.failed(FabricErrno.EBUSY, "has a writer on another progress thread", "Join with FI_RECV to read it.");
        } else {
            LocalEndpoint endpoint = join.endpoint();
            Group group = new Group(
                this, services, name, endpoint, channel(endpoint, address),
                config.get(ShmConfig.GROUP_STALL_TIMEOUT_NS));
            groups.put(address, group);
            CreateTask task = new CreateTask(
                group, null, config.get(ShmConfig.GROUP_RING_LENGTH_BYTES), join::failed, () -> {
                    if (reads) {
                        read(join);
                    } else {
                        join.joined(group.next(), name.logFolder());
                    }
                });
            if (isDraining(name)) {
                waiting.add(task);
            } else {
                task.submit();
            }
        }
    }

    /** Whether an earlier group still writes the log or is still sent, or the socket is being opened. */
    private boolean isDraining(GroupName name) {
        boolean isSent = name.network() != null;
        return isSent && network.isOpening(name.network()) || Arrays.stream(draining).anyMatch(
            earlier -> name.log() != null && name.log().equals(earlier.name().log())
                || isSent && name.address().equals(earlier.address()));
    }

    /** Makes the ring of a group that is written on another host. */
    Group create(GroupName name, LogPosition first, int capacity, NetworkReader reader) {
        Group group = new Group(
            this, services, name, null, null, config.get(ShmConfig.GROUP_STALL_TIMEOUT_NS));
        groups.put(name.address(), group);
        new CreateTask(group, first, capacity, reader::failed, () -> {
            meters.open(group, reader);
            reader.opened();
        }).submit();
        return group;
    }

    /** This thread is the one that reads a stream; false if another one is. */
    boolean claim(String address) {
        return services.claim(place(address));
    }

    void unclaim(String address) {
        services.closed(place(address));
    }

    void read(GroupJoin join) {
        read(join, find(join.group()));
    }

    /** An endpoint reads a ring of this thread. */
    void read(GroupJoin join, Group group) {
        GroupRequest request = join.request();
        int errno = refusal(group, null, request);
        if (errno != 0) {
            refused(join, refused(group, errno));
            return;
        }
        join.answered(answer(group, request, 0));
        begin(join, group.ring(), member -> group.add(GroupReader.local(group, member)));
    }

    /** The membership begins, and is reported; or it cannot be read in place, which is reported, too. */
    private void begin(GroupJoin join, GroupRing ring, Consumer<GroupMember> onBegun) {
        long clientNumber = !join.isInPlace() ? 0 : join.endpoint().readPlace().isTaken() ? -FabricErrno.EBUSY
            : ring.openToClients(join.wire() == null ? services.directoryFd() : join.wire().directoryFd());
        if (clientNumber < 0) {
            ring.retain().release();
            if (join.wire() != null) {
                join.wire().end(join.answer().member(), 0, 0);
            }
            refuseInPlace(join, (int) -clientNumber);
            return;
        }
        onBegun.accept(begun(join, ring));
        join.joined(clientNumber);
    }

    private void refuseInPlace(GroupJoin join, int errno) {
        if (errno == FabricErrno.ENOENT) {
            refused(join, GroupAnswer.refused(FabricErrno.ECONNREFUSED, null, 0));
            return;
        } else if (errno == FabricErrno.EBUSY) {
            join.failed(errno, "is to be read in place by an endpoint whose completion queue has such a reader",
                "Give the endpoint a queue of its own.");
            return;
        }
        join.failed(errno == LinuxErrno.EXDEV ? FabricErrno.EOPNOTSUPP : errno, "cannot be read in place: its ring"
            + " gets no name in the directory of driver " + services.driverName() + ": "
            + LinuxErrno.describe(errno),
            "Keep the directories of the drivers on one file system, or join with receives.");
    }

    private GroupMember begun(GroupJoin join, GroupRing ring) {
        LocalEndpoint endpoint = join.endpoint();
        channel(endpoint, join.group());
        ChannelHandler source = endpoint.handlerFor(ContextName.writer(join.answer().writer(), join.group()));
        GroupMember member = new GroupMember(this, join, ring, source);
        members = Arrays.copyOf(members, members.length + 1);
        members[members.length - 1] = member;
        meters.open(member);
        if (ring.add(member)) {
            read = Arrays.copyOf(read, read.length + 1);
            read[read.length - 1] = ring;
        }
        if (join.endErrno() != 0) {
            member.ending(join.endErrno(), join.endOffset());
        }
        member.up();
        return member;
    }

    /** The channel by which an endpoint sends to a group; made if there is none. */
    private GroupChannel channel(LocalEndpoint endpoint, String address) {
        for (GroupChannel known : channels) {
            if (known.endpoint() == endpoint && known.address().equals(address)) {
                return known;
            }
        }
        ChannelHandler handler = endpoint.handlerFor(address);
        GroupChannel channel = new GroupChannel(this, endpoint, address, handler);
        channels.add(channel);
        handler.onOpening();
        handler.onUp(channel);
        return channel;
    }

    /** The engine has closed the channel, or has seen its end. */
    void onClosed(GroupChannel channel) {
        channels.remove(channel);
    }

    // ---- joining groups of other drivers ----

    /** Requests can be sent by a wire. */
    public void onUp(GroupWire wire) {
        for (GroupJoin join : joins) {
            if (join.wire() == wire) {
                wire.join(join.request());
            }
        }
    }

    /** A join by its number, if it was sent by that wire; or null. */
    private GroupJoin pending(int id, GroupWire wire) {
        for (GroupJoin join : joins) {
            if (join.id() == id && join.wire() == wire) {
                return join;
            }
        }
        return null;
    }

    /**
     * The other driver has answered a request.
     *
     * @throws FabricException if the answer is impossible.
     */
    public void onAnswer(GroupWire wire, int id, GroupAnswer answer) {
        GroupJoin join = pending(id, wire);
        if (join == null || join.answer() != null) {
            if (answer.errno() == 0) {
                // the endpoint was closed before the answer arrived
                wire.end(answer.member(), 0, 0);
            }
        } else if (answer.errno() == GroupAnswer.MOVED && !join.isMoved() && answer.member() >= 0
            && answer.member() < MAX_THREADS && !wire.peerName().equals(services.driverName())) {
            join.moveTo(wires.to(wire.peerName(), answer.member()));
            if (join.wire().isUp()) {
                join.wire().join(join.request());
            }
        } else if (answer.errno() != 0) {
            refused(join, answer);
        } else if (!wire.peerName().equals(services.driverName())
            && !wire.peerName().equals(FabricName.driverOf(answer.writer()))) {
            throw new FabricException(FabricErrno.EIO, "the writer of the group is " + answer.writer());
        } else {
            join.answered(answer);
            map(join, answer.ringNumber(), answer.ringLength());
        }
    }

    private void refused(GroupJoin join, GroupAnswer answer) {
        joins.remove(join);
        LogPosition oldest = answer.start();
        LogPosition wanted = join.request().from();
        int errno = answer.errno();
        if (oldest != null && StreamAddress.isOne(join.group()) && network != null && !network.isAlone(join)) {
            network.joinAlone(join, ++ids);
            return;
        }
        if (oldest != null && wanted != null && errno == FabricErrno.EINVAL) {
            join.failed(errno, "has log " + oldest.logId() + " term " + oldest.term() + ", and was to be read from "
                + wanted, "What was read is of another log: join without a position.");
            return;
        } else if (oldest != null && wanted != null && errno == FabricErrno.ENODATA) {
            join.failed(errno, "has the messages from " + oldest.position() + " in its ring, the next one is "
                + answer.end() + ", and was to be read from " + wanted,
                "Join from a position that is there, or without one.");
            return;
        }
        switch (errno) {
            case FabricErrno.ECONNREFUSED -> join.failed(errno, "has no writer",
                "Join again when an endpoint of its driver has joined it with FI_SEND.");
            case FabricErrno.EKEYREJECTED -> join.failed(errno, "has a writer with another authorization key",
                "Open the endpoint with the writer's key.");
            default -> join.failed(errno, "cannot be joined", "See the error log of the group's driver.");
        }
    }

    private void map(GroupJoin join, long ringNumber, long ringLength) {
        if (ringNumber <= 0 || !GroupRingDescriptor.isValidCapacity(ringLength)
            || (join.answer().offset() & GroupRingDescriptor.RECORD_ALIGNMENT - 1) != 0) {
            // a record that began elsewhere could reach beyond the file
            throw new FabricException(FabricErrno.EIO,
                "ring " + ringNumber + " of " + ringLength + " bytes, read from " + join.answer().offset());
        }
        for (GroupMember member : members) {
            if (member.wire() == join.wire() && member.ring().number() == ringNumber
                && member.ring().capacity() == ringLength) {
                joined(join, member.ring());
                return;
            }
        }
        services.submit(new MapTask(join, ringNumber, (int) ringLength));
    }

    private void joined(GroupJoin join, GroupRing ring) {
        joins.remove(join);
        if (!ring.isOf(join.answer().start())) {
            ring.retain().release();
            join.wire().end(join.answer().member(), 0, 0);
            join.failed(FabricErrno.EIO, "has a ring that is not of log " + join.answer().start(), "Join again.");
            return;
        }
        begin(join, ring, member -> { });
    }

    /** Gives up a join that the writer's driver has accepted. */
    private void giveUp(GroupJoin join) {
        joins.remove(join);
        if (join.answer() != null) {
            join.wire().end(join.answer().member(), 0, 0);
        }
    }

    // ---- groups of this driver ----

    private Group find(String address) {
        Group group = groups.get(address);
        return group == null || group.ring() == null ? null : group;
    }

    /** Why an endpoint may not read a group, or 0. */
    private int refusal(Group group, GroupWire wire, GroupRequest request) {
        if (group == null || wire != null && !wire.peerName().equals(FabricName.driverOf(request.source()))) {
            return FabricErrno.ECONNREFUSED;
        }
        if (!group.admits(request.authKey())) {
            return FabricErrno.EKEYREJECTED;
        }
        return readers.size() < MAX_READERS ? group.refusal(request.from()) : FabricErrno.EMFILE;
    }

    private static GroupAnswer answer(Group group, GroupRequest request, int member) {
        boolean isFromNow = request.from() == null;
        LogPosition start = isFromNow ? group.start() : request.from();
        return new GroupAnswer(0, member, group.isLossy(), group.mayOverrun(), group.ring().number(),
            group.ring().capacity(), isFromNow ? group.startOffset() : group.offset(start.position()), start,
            group.position(), group.writerAddress(),
            group.name().logFolder());
    }

    private static GroupAnswer refused(Group group, int errno) {
        boolean isPlace = errno == FabricErrno.EINVAL || errno == FabricErrno.ENODATA;
        return isPlace ? GroupAnswer.refused(errno, group.next().at(group.oldest()), group.position())
            : GroupAnswer.refused(errno, null, 0);
    }

    /** An endpoint of another driver wants to read a group of this one; if it may, it holds its records from now on. */
    public GroupAnswer onRequest(GroupWire wire, GroupRequest request) {
        Group group = find(request.group());
        int thread = services.threadOf(place(request.group()));
        if (thread >= 0 && thread != services.thread()) {
            return GroupAnswer.moved(thread);
        }
        int errno = group == null && network != null && network.reads(request.group()) ? FabricErrno.EAGAIN
            : refusal(group, wire, request);
        if (errno != 0) {
            return refused(group, errno);
        }
        GroupAnswer answer = answer(group, request, ++ids);
        GroupReader reader = GroupReader.remote(
            group, answer.member(), wire, request, answer.offset(), answer.start().position());
        readers.put(reader.id(), reader);
        group.add(reader);
        return answer;
    }

    /** A reader of another driver by this driver's number, or null. */
    private GroupReader reader(int id, GroupWire wire) {
        GroupReader reader = readers.get(id);
        return reader != null && reader.wire() == wire ? reader : null;
    }

    private void forget(GroupReader reader) {
        readers.remove(reader.id());
    }

    /** The membership of a reader of another driver ends, once it has read everything up to that offset. */
    void end(GroupReader reader, int errno, long offset) {
        forget(reader);
        if (!services.environment().isKilled()) {
            reader.wire().end(reader.remoteId(), errno, offset);
        }
    }

    /** A reader of another driver has reported how far it is; false if that is impossible. */
    public boolean onPosition(GroupWire wire, int member, long offset, long position) {
        GroupReader reader = reader(member, wire);
        return reader == null || reader.group().onPosition(reader, offset, position);
    }

    /** The other driver reports the end of a membership: of one of its readers with errno 0, else of one here. */
    public void onEnd(GroupWire wire, int id, int errno, long offset) {
        if (errno == 0) {
            GroupReader reader = reader(id, wire);
            if (reader != null) {
                forget(reader);
                reader.group().remove(reader);
            }
            return;
        }
        GroupJoin join = pending(id, wire);
        if (join != null) {
            join.ending(errno, offset);
        }
        for (GroupMember member : members) {
            if (member.id() == id && member.wire() == wire) {
                member.ending(errno, offset);
            }
        }
    }

    void close(Group group, int errno) {
        groups.remove(group.address(), group);
        meters.close(group);
        services.closed(place(group.address()));
        written = Arrays.stream(written).filter(other -> other != group).toArray(Group[]::new);
        group.close(errno);
        if (group.ring() != null) {
            draining = Arrays.copyOf(draining, draining.length + 1);
            draining[draining.length - 1] = group;
        }
    }

    /** A group cannot be recorded any more, and ends. */
    void onRecorderFailed(Group group, FabricException cause) {
        services.onError(cause);
        end(group);
    }

    private void end(Group group) {
        if (group.channel() == null) {
            close(group, FabricErrno.EIO);
            return;
        }
        group.channel().failed(FabricErrno.EIO);
        close(group, FabricErrno.EIO);
        channels.remove(group.channel());
        group.channel().handler().onDown(FabricErrno.EIO);
        // without a channel sends that follow would look for an endpoint of that name, and be refused for want of it
        channel(group.writer(), group.address()).failed(FabricErrno.EIO);
    }

    /** The groups whose logs are closed are over; returns their number. */
    private int drained() {
        Group[] left = Arrays.stream(draining).filter(group -> !group.isDrained()).toArray(Group[]::new);
        int work = draining.length - left.length;
        draining = left;
        waiting.removeIf(task -> {
            boolean isNext = !isDraining(task.group.name());
            if (isNext) {
                task.submit();
            }
            return isNext;
        });
        return work;
    }

    // ---- the end ----

    private GroupMember member(LocalEndpoint endpoint, String address) {
        for (GroupMember member : members) {
            if (member.endpoint() == endpoint && member.group().equals(address)) {
                return member;
            }
        }
        return null;
    }

    /** The application leaves a group. */
    public void leave(LocalEndpoint endpoint, String address) {
        GroupMember member = member(endpoint, address);
        if (member != null) {
            member.leave();
        }
        Group group = groups.get(address);
        if (group != null && group.writer() == endpoint) {
            close(group, FabricErrno.ESHUTDOWN);
        }
    }

    /** An endpoint closes. */
    public void detach(LocalEndpoint endpoint) {
        if (network != null) {
            network.detach(endpoint);
        }
        for (GroupJoin join : List.copyOf(joins)) {
            if (join.endpoint() == endpoint) {
                giveUp(join);
                join.closed();
            }
        }
        for (GroupMember member : members) {
            if (member.endpoint() == endpoint) {
                member.close(FabricErrno.ESHUTDOWN);
            }
        }
        for (Group group : List.copyOf(groups.values())) {
            if (group.writer() == endpoint) {
                close(group, FabricErrno.ESHUTDOWN);
            }
        }
    }

    /** A membership is over. */
    void remove(GroupMember member) {
        members = Arrays.stream(members).filter(other -> other != member).toArray(GroupMember[]::new);
        meters.close(member);
        if (member.ring().remove(member)) {
            read = Arrays.stream(read).filter(ring -> ring != member.ring()).toArray(GroupRing[]::new);
        }
        if (member.wire() != null) {
            if (!services.environment().isKilled()) {
                member.wire().end(member.remoteId(), 0, 0);
            }
            return;
        }
        // by the ring: the readers of a stream may have several
        for (Group group : groups.values()) {
            GroupReader reader = group.ring() != null && group.ring().number() == member.ring().number()
                ? group.find(member) : null;
            if (reader != null) {
                group.remove(reader);
                return;
            }
        }
    }

    /** The ring of a member's group cannot be read any more. */
    void onBroken(GroupMember member, int errno, String what) {
        services.onError(new FabricException(errno, "the ring of group " + member.group() + ' ' + what,
            "Its reader " + member.endpoint().address() + " has left it."));
    }

    /** A wire has ended: its readers hold nothing back any more; groups of that driver are read to the end. */
    public void onDown(GroupWire wire, int errno) {
        for (GroupReader reader : List.copyOf(readers.values())) {
            if (reader.wire() == wire) {
                forget(reader);
                reader.group().remove(reader);
            }
        }
        for (GroupMember member : members) {
            if (member.wire() == wire) {
                member.onConnectionDown(errno);
            }
        }
        for (GroupJoin join : List.copyOf(joins)) {
            if (join.wire() == wire) {
                joins.remove(join);
                join.failed(errno, "is in driver " + wire.peerName() + ", which cannot be reached",
                    "Start that driver, then join again.");
            }
        }
    }

    /** The driver ends: nothing is reported. */
    public void close() {
        for (GroupMember member : members) {
            member.close(FabricErrno.ESHUTDOWN);
        }
        for (Group group : List.copyOf(groups.values())) {
            close(group, FabricErrno.ESHUTDOWN);
        }
        for (Group group : draining) {
            if (!group.awaitDrained()) {
                services.onError(new FabricException(FabricErrno.ETIMEDOUT, group.name().log() != null
                    ? "the log of group " + group.address() + " could not be closed in time"
                    : "hosts have not read group " + group.address() + " to its end when the driver was closed",
                    group.name().log() != null ? "Check the disk." : "Close the publication some time before."));
            }
        }
        if (network != null) {
            network.close();
        }
        joins.clear();
    }

    // ---- progress ----

    /** Makes one step; 0 if there was nothing to do. */
    public int poll(int limit) {
        int work = 0;
        GroupRing[] reading = read;
        for (int i = 0; i < reading.length; i++) {
            work += reading[i].poll(limit);
        }
        Group[] writing = written;
        for (int i = 0; i < writing.length; i++) {
            work += poll(writing[i]);
        }
        if (network != null && !network.isEmpty()) {
            work += network.poll();
        }
        if (draining.length != 0 || !waiting.isEmpty()) {
            work += drained();
        }
        meters.poll(services.nowNs());
        return joins.isEmpty() ? work : work + endLateJoins();
    }

    private int poll(Group group) {
        try {
            int work = group.poll();
            FaultPoint.pass();
            return work;
        } catch (InternalError e) {
            GroupRing ring = group.ring();
            if (ring != null && ring.isCut()) {
                services.onError(new FabricException(FabricErrno.EIO,
                    "the ring of group " + group.address() + " was truncated while it was mapped here",
                    "The group has ended; its writer and its readers can join it again."));
                end(group);
            }
            throw e;
        }
    }

    private int endLateJoins() {
        for (GroupJoin join : joins) {
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
    public boolean arm() {
        boolean armed = network == null || network.isEmpty() || network.arm();
        for (Group group : written) {
            armed &= group.arm();
        }
        for (Group group : draining) {
            armed &= group.arm();
        }
        for (GroupMember member : members) {
            armed &= !member.hasMore();
        }
        return armed;
    }

    /** Whether {@link #poll} has to be called again after a while although nothing arrives. */
    public boolean hasTimers() {
        return network != null && !network.isEmpty();
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
        private final Group group;
        private final Consumer<FabricException> onRefused;
        private final Runnable onOpened;
        private final long number = services.nextFileNumber();
        private final int capacity;
        /** Null for that of the log, or of a new one. */
        private LogPosition first;
        /** Of paths whose sockets are to be opened, and those then. */
        private List<String> closed = List.of();
        private List<GroupNetwork.Opened> opened = List.of();
        private List<ReplayServer> replays = List.of();
        private LogWriter log;
        private MappedFile file;

        CreateTask(
            Group group, LogPosition first, int capacity, Consumer<FabricException> onRefused, Runnable onOpened) {
            this.group = group;
            this.first = first;
            this.capacity = capacity;
            this.onRefused = onRefused;
            this.onOpened = onOpened;
        }

        void submit() {
            if (isSent()) {
                closed = network.claim(group.name());
                replays = network.replays(group.name());
            }
            services.submit(this);
        }

        private boolean isSent() {
            return group.name().network() != null;
        }

        @Override
        protected long sizeBytes() {
            return capacity;
        }

        @Override
        protected void execute() {
            GroupName name = group.name();
            if (isSent()) {
                opened = network.open(name, closed, replays);
            }
            try {
                if (name.log() == null && first == null) {
                    first = new LogPosition(new UUID(services.environment().randomLong(),
                        services.environment().randomLong()), 1, 0);
                } else if (name.log() != null) {
                    openLog(name);
                    first = new LogPosition(log.logId(), log.term(), log.position());
                }
                file = GroupRing.create(
                    services.environment(), services.directoryFd(), number, capacity, services.ownerId(), first);
            } finally {
                if (file == null && log != null) {
                    log.close();
                }
                if (file == null) {
                    opened.forEach(each -> each.port().close());
                }
            }
        }

        private void openLog(GroupName name) {
            log = LogWriter.open(name.log(), name.address(), name.options(), services.environment().logDisk());
            if (GroupRingDescriptor.maxPayload(capacity) > log.maxLength()) {
                int longest = log.maxLength();
                throw new FabricException(FabricErrno.EINVAL, "a log whose longest message has " + longest
                    + " bytes cannot record a group whose longest has " + GroupRingDescriptor.maxPayload(capacity),
                    "Begin a log with longer segments, or lower jfabric.shm.groupRingLengthBytes.");
            }
        }

        @Override
        protected void onDone() {
            GroupRing ring = new GroupRing(services, file, number, capacity);
            if (isSent()) {
                network.opened(opened);
            }
            if (group.isClosed()) {
                ring.discard();
                if (log != null) {
                    services.submit(new CloseTask(log));
                }
                if (isSent()) {
                    network.release(group.name().network());
                }
                onRefused.accept(new FabricException(FabricErrno.EOPBADSTATE, "group " + group.address()
                    + " was being joined by an endpoint that is closed", "Open another one."));
                return;
            }
            group.open(ring, first, log == null ? null : new GroupRecorder(
                services, group.address(), ring, log, group.name().options().visibility()));
            meters.open(group);
            written = Arrays.copyOf(written, written.length + 1);
            written[written.length - 1] = group;
            if (isSent()) {
                network.publish(group, config.get(ShmConfig.GROUP_STALL_TIMEOUT_NS));
            }
            onOpened.run();
        }

        @Override
        protected void onFailed(Throwable cause) {
            groups.remove(group.address(), group);
            services.closed(place(group.address()));
            if (isSent()) {
                network.release(group.name().network());
            }
            if (cause instanceof FabricException refusal && (isSent() || group.name().log() != null)) {
                onRefused.accept(refusal);
                return;
            }
            onRefused.accept(new FabricException(PeerFile.errnoOf(cause), "the ring of group " + group.address()
                + " cannot be made: " + cause.getMessage(),
                "Make room for " + capacity + " bytes, or lower jfabric.shm.groupRingLengthBytes.", cause));
        }
    }

    /** Closes a log whose group has ended before it began. */
    private static final class CloseTask extends ResourceTask {
        private final LogWriter log;

        CloseTask(LogWriter log) {
            this.log = log;
        }

        @Override
        protected void execute() {
            log.close();
        }

        @Override
        protected void onDone() {
            // nothing waits for it
        }

        @Override
        protected void onFailed(Throwable cause) {
            // nothing was appended, so nothing is lost
        }
    }

    /** Maps the ring of a group of another driver. */
    private final class MapTask extends ResourceTask {
        private final GroupJoin join;
        private final long number;
        private final int capacity;
        private final int directoryFd;
        private final OwnerId owner;
        private MappedFile file;

        MapTask(GroupJoin join, long number, int capacity) {
            this.join = join;
            this.number = number;
            this.capacity = capacity;
            this.directoryFd = join.wire().directoryFd();
            this.owner = join.wire().owner();
        }

        @Override
        protected void execute() {
            file = GroupRing.open(directoryFd, number, capacity, owner, join.wire().peerName());
        }

        @Override
        protected void onDone() {
            if (join.isOver()) {
                services.submit(new UnmapTask(file));
            } else {
                joined(join, new GroupRing(services, file, number, capacity));
            }
        }

        @Override
        protected void onFailed(Throwable cause) {
            giveUp(join);
            join.failed(new FabricException(PeerFile.errnoOf(cause), "the ring of group " + join.group()
                + " cannot be mapped: " + cause.getMessage(), "Join again if the writer is still there.", cause));
        }
    }
}
