package org.jfabric.driver.link.shm;

import static org.jfabric.layout.RecordRingDescriptor.WORD_LENGTH;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.Map;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.client.LentRing;
import org.jfabric.codec.wire.CloseEncoder;
import org.jfabric.codec.wire.OpenAckEncoder;
import org.jfabric.codec.wire.OpenEncoder;
import org.jfabric.codec.wire.ParksEncoder;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.driver.link.PlainMessages;
import org.jfabric.driver.resource.FaultPoint;
import org.jfabric.driver.resource.ResourceTask;
import org.jfabric.ffi.MappedFile;
import org.jfabric.ffi.NativeCallException;
import org.jfabric.ffi.UnixSocket;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.layout.CncDescriptor;
import org.jfabric.layout.RecordConsumer;
import org.jfabric.layout.RecordProducer;
import org.jfabric.layout.RecordRingDescriptor;

/**
 * The connection between this driver and another one: a socket, two rings, and the channels of their endpoints.
 *
 * <pre>
 *   outgoing:    DIALING --socket, our ring--> GREETING --peer's hello--> MAPPING --peer's ring--> UP
 *   incoming:                                            (hello arrived)  MAPPING --both rings--> UP
 *   crossing:    the one with the smaller name dials; the other one's hello is refused with FI_EALREADY and it waits
 *                for the first one's hello (AWAITING), and dials again now and then: the first one may have been
 *                killed, or have refused because it had not noticed the end of an earlier connection
 * </pre>
 *
 * <p>The socket carries doorbells; its end means that the peer has died. Then the ring is read to its end before the
 * connection closes, so that no message which the peer had sent is lost. Owner: progress agent.
 */
final class ShmConnection extends PlainMessages {
    static final int DIALING = 0;
    static final int GREETING = 1;
    static final int AWAITING = 2;
    static final int MAPPING = 3;
    static final int UP = 4;
    static final int DOWN = 5;

    private static final long FIRST_RETRY_NS = 5_000_000L;
    private static final long MAX_RETRY_NS = 500_000_000L;
    /** Bytes that the system gives a ring in about 0.1 ms; a resource thread asks for more. */
    private static final long EXTENDED_AT_ONCE = 1 << 20;
    private static final String CUT = "truncated one of its files while it was mapped here";
    /** Errno (EREMCHG) of an answer that names another progress thread in place of the short number. */
    static final int MOVED = 78;

    private static final int SLOT_BITS = 20;
    private static final int SLOT_MASK = (1 << SLOT_BITS) - 1;

    private final ShmLink link;
    private final LinkServices services;
    private final String peerName;
    private final int peerThread;
    private final Map<ChannelHandler, ShmChannel> byHandler = new IdentityHashMap<>();
    private final ArrayDeque<Runnable> blocked = new ArrayDeque<>();
    private final ShmRequests requests;
    private final ShmGroupFrames groups;
    private final ShmShortNumbers shortNumbers = new ShmShortNumbers();
    private ShmChannel[] channels = new ShmChannel[16];
    private int uses;
    private int state;
    private long deadlineNs;
    /** In AWAITING: when to dial once more. */
    private long retryNs;
    private long retryDelayNs = FIRST_RETRY_NS;
    private ShmFiles files;
    private RecordProducer producer;
    /** Bytes of our ring that have memory. */
    private int usableLength;
    private UnsafeBuffer ring;
    private ShmFrameReader reader;
    private ShmLentRing lent;
    private ShmRegionCache regions;
    private boolean peerMayPark;
    private boolean written;
    /** The socket has ended: the rest of the ring is read, then the connection ends too. */
    private boolean ended;
    /** Position behind which the peer cannot have written before its end; 0 before that. */
    private long lastEnd;
    /** An application could not read a lent message, because the file was truncated. */
    private boolean cut;

    // of the link's order of polling
    boolean isCold;
    int place;
    int emptySteps;

    ShmConnection(
        ShmLink link, LinkServices services, String peerName, int peerThread, int state, long deadlineNs) {
        this.link = link;
        this.services = services;
        this.peerName = peerName;
        this.peerThread = peerThread;
        this.state = state;
        this.deadlineNs = deadlineNs;
        this.requests = new ShmRequests(this, link);
        this.groups = new ShmGroupFrames(this, link.groups());
    }

    /** The frames of groups, of both drivers. */
    ShmGroupFrames groups() {
        return groups;
    }

    /** The connection requests between connection-oriented endpoints of both drivers. */
    ShmRequests requests() {
        return requests;
    }

    String peerName() {
        return peerName;
    }

    /** Number of the progress thread of the peer. */
    int peerThread() {
        return peerThread;
    }

    int state() {
        return state;
    }

    void state(int newState) {
        state = newState;
    }

    /** The peer has refused with FI_EALREADY. */
    void awaitPeer() {
        state = AWAITING;
        retryNs = services.nowNs() + retryDelayNs;
        retryDelayNs = Math.min(2 * retryDelayNs, MAX_RETRY_NS);
    }

    ShmFiles files() {
        return files;
    }

    void files(ShmFiles newFiles) {
        files = newFiles;
    }

    ShmRegionCache regions() {
        return regions;
    }

    /** Whether the peer has executed everything that was sent to it. */
    boolean isDrained() {
        return producer.isDrained();
    }

    // ---- life cycle ----

    /** Both rings are mapped: brings the connection up. */
    void up(int maxRegions) {
        long ours = files.ownRing().address();
        long theirs = files.peerRing().address();
        int ourCapacity = (int) (files.ownRing().lengthBytes() - RecordRingDescriptor.HEADER_LENGTH);
        int theirCapacity = files.peerRingLength();
        producer = new RecordProducer(
            ours + RecordRingDescriptor.HEADER_LENGTH,
            Integer.highestOneBit(ourCapacity),
            theirs + RecordRingDescriptor.CONSUMER_POSITION_OFFSET);
        usableLength = ShmRing.firstLength(producer.capacity());
        producer.beginSmall(usableLength, this::extend);
        if (services.stages().isOn() && files.peerWantsStamps()) {
            producer.stampEvery(
                (long) services.stages().interval() * RecordRingDescriptor.RECORD_ALIGNMENT, ShmFrameReader.STAMP);
        }
        ring = new UnsafeBuffer(ours + RecordRingDescriptor.HEADER_LENGTH, Integer.highestOneBit(ourCapacity));
        RecordConsumer consumer = new RecordConsumer(
            theirs + RecordRingDescriptor.HEADER_LENGTH,
            theirCapacity,
            ours + RecordRingDescriptor.CONSUMER_POSITION_OFFSET,
            ShmFrameReader.MAX_TYPE,
            ShmFrameReader.MAX_SHORT_TYPE);
        reader = new ShmFrameReader(
            this, consumer, services.stages(),
            files.peerRing().directBuffer(RecordRingDescriptor.HEADER_LENGTH, theirCapacity));
        lent = new ShmLentRing(this, files, consumer);
        regions = new ShmRegionCache(services, files.peerDirectoryFd(), files.peerOwner(), maxRegions);
        peerMayPark = files.peerCnc().directBuffer(0, CncDescriptor.METADATA_OFFSET)
            .getInt(CncDescriptor.MAY_PARK_OFFSET) == CncDescriptor.PARKS;
        state = UP;
        if (link.parks()) {
            // the peer may have read this driver's word before the change
            announceParking();
        }
        for (ShmChannel channel : channels) {
            if (channel != null) {
                channel.ring(producer, ring);
                announce(channel);
            }
        }
        link.groups().onUp(this);
    }

    /** Bytes of our ring that have memory. */
    int usableLength() {
        return usableLength;
    }

    /** More of our ring is needed. */
    void extend(int recordsLength, boolean isNeeded) {
        MappedFile file = files.ownRing();
        long from = ShmRing.usedBytes(usableLength);
        long to = ShmRing.usedBytes(recordsLength);
        if (to - from <= EXTENDED_AT_ONCE) {
            try {
                file.extend(from, to);
                extended(recordsLength);
            } catch (NativeCallException | InternalError e) {
                notExtended(e, isNeeded);
            }
            return;
        }
        // in the same order as the task that unmaps the file
        services.submit(new ResourceTask() {
            @Override
            protected void execute() {
                file.extend(from, to);
            }

            @Override
            protected void onDone() {
                extended(recordsLength);
            }

            @Override
            protected void onFailed(Throwable cause) {
                notExtended(cause, isNeeded);
            }
        });
    }

    private void extended(int recordsLength) {
        usableLength = recordsLength;
        producer.grown(recordsLength);
    }

    private void notExtended(Throwable cause, boolean isNeeded) {
        producer.notGrown();
        if (isNeeded) {
            // not inside of the call that wants to write
            later(() -> fail(
                ShmFiles.errnoOf(cause), "cannot be sent a message of that length: " + cause.getMessage()));
        } else {
            services.onError(new FabricException(ShmFiles.errnoOf(cause), "the ring to driver " + peerName
                + " stays short: " + cause.getMessage(), "Bursts to it wait until it has read what was sent before.",
                cause));
        }
    }

    /** Makes one step; 0 if there was nothing to do. */
    int poll(int limit) {
        if (state != UP) {
            if (state != DOWN && services.attendedNs() - deadlineNs > 0) {
                fail(FabricErrno.ETIMEDOUT, "did not answer in time");
                return 1;
            }
            if (state == AWAITING && services.nowNs() - retryNs > 0) {
                link.dial(this);
                return 1;
            }
            return 0;
        }
        if (ended) {
            if (cut) {
                fail(FabricErrno.EIO, CUT);
            } else {
                readToEnd();
            }
            return 1;
        }
        int work = 0;
        try {
            work = reader.poll(limit);
            if (!blocked.isEmpty()) {
                work += retryBlocked();
            }
            if (state == UP) {
                shortNumbers.reclaim(producer, reader);
            }
        } catch (InternalError e) {
            onFault(e);
        }
        if (state != UP) {
            return 1;
        }
        if (written) {
            ringDoorbell();
        }
        return work;
    }

    /** The ring with the peer's messages; null if the connection is not up. */
    LentRing lentRing() {
        return lent;
    }

    /**
     * An application has found the memory truncated. The next step ends the connection, so that this does not happen
     * inside the application's handler.
     */
    void onCut() {
        cut = true;
        ended = true;
        link.wake(this);
    }

    /**
     * Whether only the ring has to be polled: no step is pending, and no doorbell is needed because the peer never
     * sleeps.
     */
    boolean isResident() {
        return state == UP && !ended && blocked.isEmpty() && !peerMayPark;
    }

    /** Whether nothing is to be done until the peer writes a record, or until {@link ShmLink#wake}. */
    boolean mayBeCold() {
        return state == UP && !ended && blocked.isEmpty() && !(peerMayPark && written) && shortNumbers.isSettled();
    }

    boolean mayPeerPark() {
        return peerMayPark;
    }

    /** Whether records of the peer wait. */
    boolean hasMore() {
        return state == UP && reader.hasMore();
    }

    /** Where the peer's next record begins, for a cold one. */
    long nextWordAddress() {
        return reader.nextAddress();
    }

    @Override
    public int pollPlain(int limit) {
        if (state != UP) {
            // the ring is not mapped any more
            return -1;
        }
        try {
            return reader.pollPlain(limit);
        } catch (InternalError e) {
            onFault(e);
            return -1;
        }
    }

    /** This driver may sleep from now on, so that the peer has to ring. */
    void announceParking() {
        if (state != UP) {
            return;
        }
        int length = WORD_LENGTH + ParksEncoder.BLOCK_LENGTH;
        int offset = producer.claim(length);
        if (offset < 0) {
            // keeps the driver from sleeping meanwhile
            later(this::announceParking);
            return;
        }
        new ParksEncoder().wrap(ring, offset + WORD_LENGTH).reserved(0);
        producer.commit(offset, length, ShmFrameReader.PARKS);
        written();
    }

    /**
     * The peer may sleep from now on. It may sleep already, and this side may have written records before it read this
     * one, so that a doorbell may be due.
     */
    void onPeerParks() {
        peerMayPark = true;
        written();
    }

    /** Whether a deadline passes unless the connection is polled. */
    boolean hasTimer() {
        return state != UP && state != DOWN;
    }

    boolean arm() {
        if (isCold && UnsafeApi.getLongAcquire(null, nextWordAddress()) == 0) {
            return true;
        }
        link.wake(this);
        if (state == UP && written) {
            ringDoorbell();
        }
        return state != UP || !ended && blocked.isEmpty() && !reader.hasMore();
    }

    /** The socket is readable: there are doorbells, or it has ended. */
    void onReadable(int fd) {
        if (UnixSocket.drainDoorbell(fd)) {
            services.rearm(fd);
            return;
        }
        if (state == UP) {
            ended = true;
            link.wake(this);
            readToEnd();
        }
    }

    /** Another driver has the peer's name now, so that the peer is dead. */
    void onReplaced() {
        if (state == UP) {
            ended = true;
            link.wake(this);
            readToEnd();
        } else {
            fail(FabricErrno.ECONNRESET, null);
        }
    }

    /**
     * Reads the records that the peer sent before its end, which are at most those that the ring has room for: nothing
     * clears a dead peer's ring, so that one without an end would be read round and round. After a fault of memory that
     * does not belong to the connection, the next step continues, after the progress agent has recovered the current
     * operation.
     */
    private void readToEnd() {
        if (lastEnd == 0) {
            lastEnd = reader.position() + files.peerRingLength();
        }
        try {
            int read;
            do {
                read = reader.poll(Integer.MAX_VALUE);
                FaultPoint.pass();
            } while (state == UP && read > 0 && reader.position() - lastEnd < 0);
        } catch (InternalError e) {
            onFault(e);
        }
        if (state == UP) {
            fail(FabricErrno.ECONNRESET, null);
        }
    }

    /** The peer violates the protocol: logs the reason and ends this connection only. */
    void broken(String what) {
        fail(FabricErrno.EIO, what);
    }

    /**
     * Drops only memory that was truncated: a truncated region of one of the peer's clients must not end the connection
     * of all its clients.
     */
    private void onFault(InternalError error) {
        if (files == null) {
            // the connection ended before the fault was raised
            throw error;
        }
        if (files.isCut(usableLength, reader.reached())) {
            fail(FabricErrno.EIO, CUT);
        } else {
            regions.dropCut();
        }
        // a client of this driver may be the cause too; the progress agent handles that and the current operation
        throw error;
    }

    /** Ends the connection and every channel on it. */
    void fail(int errno, String reason) {
        if (state == DOWN) {
            return;
        }
        // a pending fault is raised here, not in the middle; the next step comes here again
        FaultPoint.pass();
        state = DOWN;
        if (reason != null) {
            services.onError(new FabricException(
                errno, "driver " + peerName + ' ' + reason, "The connection to it was closed; its endpoints can be"
                + " reached again by the next send"));
        }
        link.remove(this);
        InternalError fault = null;
        boolean done = false;
        while (!done) {
            try {
                reportDown(errno);
                done = true;
            } catch (InternalError e) {
                // a fault of one client's memory: the end must be reported to all others too
                fault = e;
            }
        }
        Arrays.fill(channels, null);
        byHandler.clear();
        blocked.clear();
        release();
        if (fault != null) {
            throw fault;
        }
    }

    /** Reports the end to all channels. A second call skips channels that have got it already. */
    private void reportDown(int errno) {
        for (ShmChannel channel : channels.clone()) {
            if (channel != null && channel.state != ShmChannel.CLOSED) {
                channel.state = ShmChannel.CLOSED;
                if (channel.connecting != null) {
                    channel.connecting.failed(errno);
                } else {
                    channel.handler().onDown(errno);
                }
            }
        }
        requests.onDown();
        link.groups().onDown(this, errno);
    }

    /** Releases files and socket without a report. */
    void release() {
        if (regions != null) {
            regions.close();
            regions = null;
        }
        if (lent != null) {
            lent.release(services);
            lent = null;
            files = null;
        }
        if (files != null) {
            files.release(services);
            files = null;
        }
    }

    // ---- channels ----

    ShmChannel channel(int id) {
        int slot = id & SLOT_MASK;
        ShmChannel[] table = channels;
        ShmChannel channel = slot < table.length ? table[slot] : null;
        return channel != null && channel.localId == id && channel.state == ShmChannel.UP ? channel : null;
    }

    /** The channel with a short number if it is up, or null. */
    ShmChannel shortChannel(int number) {
        ShmChannel channel = shortNumbers.find(number);
        return channel != null && channel.state == ShmChannel.UP ? channel : null;
    }

    /** The channel between two endpoints: a new one, or one that the peer has opened. */
    ShmChannel open(LocalEndpoint endpoint, String remoteAddress, ChannelHandler handler) {
        ShmChannel known = byHandler.get(handler);
        if (known != null) {
            return known;
        }
        ShmChannel channel = add(endpoint, remoteAddress, handler);
        if (state == UP) {
            sendOpen(channel);
        }
        return channel;
    }

    private ShmChannel add(LocalEndpoint endpoint, String remoteAddress, ChannelHandler handler) {
        ShmChannel channel = new ShmChannel(link.limits(), handler, this, endpoint, remoteAddress);
        add(channel);
        return channel;
    }

    void add(ShmChannel channel) {
        int slot = 0;
        while (slot < channels.length && channels[slot] != null) {
            slot++;
        }
        if (slot == channels.length) {
            channels = Arrays.copyOf(channels, slot * 2);
        }
        // an id is not reused soon, so that late frames do not reach a successor
        channel.localId = slot | (++uses << SLOT_BITS);
        channels[slot] = channel;
        shortNumbers.add(channel);
        byHandler.put(channel.handler(), channel);
        if (state == UP) {
            channel.ring(producer, ring);
        }
    }

    /** The channel with an id in any state, or null. */
    ShmChannel find(int id) {
        int slot = id & SLOT_MASK;
        ShmChannel channel = slot < channels.length ? channels[slot] : null;
        return channel != null && channel.localId == id ? channel : null;
    }

    void forget(ShmChannel channel) {
        channel.state = ShmChannel.CLOSED;
        take(channel);
    }

    /** The channel of a handler that the peer has not opened yet, or null. */
    ShmChannel waiting(ChannelHandler handler) {
        ShmChannel channel = byHandler.get(handler);
        return channel != null && channel.state == ShmChannel.OPENING && !channel.isConnection ? channel : null;
    }

    /** Opens a channel here that was taken from another connection to the same driver. */
    void adopt(ShmChannel channel) {
        channel.move(this);
        add(channel);
        if (state == UP) {
            announce(channel);
        }
    }

    /** Takes a channel out, in its state. */
    void take(ShmChannel channel) {
        if (find(channel.localId) == channel) {
            channels[channel.localId & SLOT_MASK] = null;
            shortNumbers.remove(channel);
        }
        byHandler.remove(channel.handler(), channel);
    }

    void closeChannel(ShmChannel channel, int errno) {
        boolean isPeerUp = channel.state == ShmChannel.UP && state == UP;
        forget(channel);
        if (isPeerUp) {
            sendClose(channel.remoteId, errno, channel.localShort);
        } else if (channel.connecting != null) {
            channel.connecting.abandon();
        }
    }

    void onOpen(
        int source, int shortSource, int grant, String sourceAddress, String destAddress, byte[] authKey) {
        LocalEndpoint endpoint = link.endpoint(destAddress);
        if (endpoint == null || !peerName.equals(link.driverOf(sourceAddress))) {
            refuseOrRedirect(source, destAddress);
            return;
        }
        if (!endpoint.admits(authKey)) {
            refuse(source, FabricErrno.EKEYREJECTED);
            return;
        }
        ChannelHandler handler = endpoint.handlerFor(sourceAddress);
        ShmChannel channel = byHandler.get(handler);
        if (channel != null && channel.state == ShmChannel.UP) {
            // the remote endpoint was opened again under the same name
            forget(channel);
            handler.onDown(FabricErrno.ECONNRESET);
            channel = null;
        }
        if (channel != null && channel.announced) {
            // both sides have sent OPEN: each takes the other's OPEN as the answer
            begin(channel, source, shortSource, grant);
            return;
        }
        // this side's OPEN, if it was pending, did not fit into the ring yet, or was sent to another thread of the
        // peer: the answer replaces it
        ShmChannel accepted = channel != null ? channel : addOrTake(endpoint, sourceAddress, handler);
        accepted.announced = true;
        accepted.remote(source, shortSource);
        int ourGrant = handler.onOpening();
        accepted.frameHandler().onGrant(grant);
        if (trySendOpenAck(source, ourGrant, accepted)) {
            accepted.state = ShmChannel.UP;
            handler.onUp(accepted);
        } else {
            later(() -> ackAndBegin(accepted, source, ourGrant));
        }
    }

    void onOpenAck(int id, int grant, int source, int shortSource, int errno) {
        ShmChannel channel = find(id);
        boolean known = channel != null && !channel.isConnection;
        if (errno == 0 && !(known && channel.state == ShmChannel.OPENING)) {
            sendClose(source, FabricErrno.ECONNRESET);
            return;
        }
        if (!known) {
            return;
        }
        if (errno == MOVED && channel.state == ShmChannel.OPENING && shortSource != peerThread) {
            link.move(channel, this, shortSource);
            return;
        }
        if (errno != 0) {
            // the channel may be up already: it took the peer's OPEN as the answer, but the peer's endpoint was closed
            // before the peer read this side's OPEN
            forget(channel);
            channel.handler().onDown(positive(errno, FabricErrno.ECONNREFUSED));
            return;
        }
        begin(channel, source, shortSource, grant);
    }

    void onClose(int id, int errno) {
        ShmChannel channel = channel(id);
        if (channel != null) {
            forget(channel);
            shortNumbers.closedByPeer(channel);
            channel.handler().onDown(positive(errno, FabricErrno.ECONNRESET));
        }
    }

    /** Runs a task in the next step. The task calls this again if there is no room in the ring. */
    void later(Runnable step) {
        blocked.add(step);
        link.wake(this);
    }

    /** Claims room for a frame; negative if there is none. */
    int claim(int length) {
        return producer.claim(length);
    }

    UnsafeBuffer ring() {
        return ring;
    }

    void commit(int offset, int length, int type) {
        producer.commit(offset, length, type);
        written();
    }

    private void announce(ShmChannel channel) {
        if (channel.connecting != null) {
            requests.begin(channel);
        } else {
            sendOpen(channel);
        }
    }

    static int positive(int errno, int otherwise) {
        return errno > 0 && errno < 4096 ? errno : otherwise;
    }

    private static void begin(ShmChannel channel, int remoteId, int remoteShort, int grant) {
        channel.remote(remoteId, remoteShort);
        channel.state = ShmChannel.UP;
        channel.frameHandler().onGrant(grant);
        channel.handler().onUp(channel);
    }

    // ---- frames of the connection itself ----

    /** Returns the result for the caller of a failed claim. */
    int notClaimed(int result) {
        if (result != -FabricErrno.EAGAIN) {
            // the reader's position is impossible; the next step ends the connection, not this call of the engine
            blocked.addFirst(() -> broken("published an impossible read position"));
            link.wake(this);
        }
        return -FabricErrno.EAGAIN;
    }

    void written() {
        written = true;
        if (peerMayPark) {
            // a doorbell may be due
            link.wake(this);
        }
    }

    void copied(long lengthBytes) {
        link.copied(lengthBytes);
    }

    private void ringDoorbell() {
        written = false;
        if (!peerMayPark) {
            return;
        }
        // the peer sets its parked word and then polls the ring once more; this side writes the ring and then reads the
        // word
        UnsafeApi.fullFence();
        if (UnsafeApi.getIntVolatile(null, files.peerCnc().address() + CncDescriptor.PARKED_OFFSET) != 0) {
            UnixSocket.ring(files.fd());
        }
    }

    private int retryBlocked() {
        int work = 0;
        for (int i = blocked.size(); i > 0 && state == UP; i--) {
            blocked.removeFirst().run();
            work++;
        }
        return work;
    }

    private void sendOpen(ShmChannel channel) {
        int length = WORD_LENGTH + OpenEncoder.BLOCK_LENGTH + 3 * OpenEncoder.sourceNameHeaderLength()
            + channel.localAddress().length() + channel.remoteAddress().length() + channel.authKey().length;
        int offset = producer.claim(length);
        if (offset < 0) {
            later(() -> {
                if (channel.state == ShmChannel.OPENING && !channel.announced) {
                    sendOpen(channel);
                }
            });
            return;
        }
        int grant = channel.handler().onOpening();
        new OpenEncoder().wrap(ring, offset + WORD_LENGTH)
            .source(channel.localId).grant(grant & 0xFFFF_FFFFL)
            .maxEager(channel.limits().eagerLimitBytes()).shortChannel(channel.localShort).epoch(uses)
            .sourceName(channel.localAddress()).destName(channel.remoteAddress())
            .putAuthKey(channel.authKey(), 0, channel.authKey().length);
        producer.commit(offset, length, ShmFrameReader.OPEN);
        channel.announced = true;
        written();
    }

    private void ackAndBegin(ShmChannel channel, int source, int grant) {
        if (channel.state != ShmChannel.OPENING) {
            return;
        }
        if (trySendOpenAck(source, grant, channel)) {
            channel.state = ShmChannel.UP;
            channel.handler().onUp(channel);
        } else {
            later(() -> ackAndBegin(channel, source, grant));
        }
    }

    private ShmChannel addOrTake(LocalEndpoint endpoint, String sourceAddress, ChannelHandler handler) {
        ShmChannel waiting = link.takeWaiting(handler, this);
        if (waiting == null) {
            return add(endpoint, sourceAddress, handler);
        }
        waiting.move(this);
        add(waiting);
        return waiting;
    }

    private void refuse(int id, int errno) {
        answer(id, ShmShortNumbers.NONE, errno);
    }

    private void refuseOrRedirect(int id, String destAddress) {
        int thread = link.otherThread(destAddress);
        if (thread < 0) {
            refuse(id, FabricErrno.ECONNREFUSED);
        } else {
            answer(id, thread, MOVED);
        }
    }

    private void answer(int id, int shortNumber, int errno) {
        if (!trySendOpenAck(id, 0, 0, shortNumber, errno)) {
            later(() -> answer(id, shortNumber, errno));
        }
    }

    private boolean trySendOpenAck(int id, int grant, ShmChannel channel) {
        return trySendOpenAck(id, grant, channel.localId, channel.localShort, 0);
    }

    private boolean trySendOpenAck(int id, int grant, int source, int shortSource, int errno) {
        int length = WORD_LENGTH + OpenAckEncoder.BLOCK_LENGTH;
        int offset = producer.claim(length);
        if (offset < 0) {
            return false;
        }
        new OpenAckEncoder().wrap(ring, offset + WORD_LENGTH)
            .channel(id).grant(grant & 0xFFFF_FFFFL).source(source).errno(errno)
            .maxEager(link.limits().eagerLimitBytes()).shortChannel(shortSource);
        producer.commit(offset, length, ShmFrameReader.OPEN_ACK);
        written();
        return true;
    }

    /** Closes a channel of the peer that has no counterpart here. */
    void sendClose(int id, int errno) {
        sendClose(id, errno, ShmShortNumbers.NONE);
    }

    private void sendClose(int id, int errno, int localShort) {
        int length = WORD_LENGTH + CloseEncoder.BLOCK_LENGTH;
        int offset = producer.claim(length);
        if (offset < 0) {
            later(() -> sendClose(id, errno, localShort));
            return;
        }
        new CloseEncoder().wrap(ring, offset + WORD_LENGTH).channel(id).errno(errno);
        producer.commit(offset, length, ShmFrameReader.CLOSE);
        shortNumbers.closedByUs(localShort, producer.position());
        link.wake(this);
        written();
    }
}
