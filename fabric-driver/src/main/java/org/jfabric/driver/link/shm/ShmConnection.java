package org.jfabric.driver.link.shm;

import static org.jfabric.layout.RecordRingDescriptor.WORD_LENGTH;

import java.util.ArrayDeque;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.client.LentRing;
import org.jfabric.codec.wire.ParksEncoder;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.PlainMessages;
import org.jfabric.driver.resource.FaultPoint;
import org.jfabric.driver.resource.PeerFile;
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
 * The connection between this driver and another one: a socket, two rings, and the channels of their endpoints, which
 * {@link ShmChannels} holds and {@link ShmOpening} opens and closes.
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

    private final ShmLink link;
    private final LinkServices services;
    private final String peerName;
    private final int peerThread;
    private final ArrayDeque<Runnable> blocked = new ArrayDeque<>();
    private final ShmRequests requests;
    private final ShmGroupFrames groups;
    private final ShmShortNumbers shortNumbers = new ShmShortNumbers();
    private final ShmChannels channels = new ShmChannels(shortNumbers);
    private final ShmOpening opening;
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
        this.opening = new ShmOpening(this, link, channels, shortNumbers);
    }

    /** The frames of groups, of both drivers. */
    ShmGroupFrames groups() {
        return groups;
    }

    /** The connection requests between connection-oriented endpoints of both drivers. */
    ShmRequests requests() {
        return requests;
    }

    /** The channels of both drivers' endpoints. */
    ShmChannels channels() {
        return channels;
    }

    /** Opens and closes them. */
    ShmOpening opening() {
        return opening;
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
            this, channels, consumer, services.stages(),
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
        for (ShmChannel channel : channels.all()) {
            if (channel != null) {
                channel.ring(producer, ring);
                opening.announce(channel);
            }
        }
        link.groups().onUp(groups);
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
                PeerFile.errnoOf(cause), "cannot be sent a message of that length: " + cause.getMessage()));
        } else {
            services.onError(new FabricException(PeerFile.errnoOf(cause), "the ring to driver " + peerName
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
        channels.clear();
        blocked.clear();
        release();
        if (fault != null) {
            throw fault;
        }
    }

    /** Reports the end to all channels. A second call skips channels that have got it already. */
    private void reportDown(int errno) {
        for (ShmChannel channel : channels.all().clone()) {
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
        link.groups().onDown(groups, errno);
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

    /** The channel with a short number if it is up, or null. */
    ShmChannel shortChannel(int number) {
        ShmChannel channel = shortNumbers.find(number);
        return channel != null && channel.state == ShmChannel.UP ? channel : null;
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

    /** Where the next record begins that is committed. */
    long position() {
        return producer.position();
    }

    /** Lets a channel send by this connection, if it is up; otherwise {@link #up} will. */
    void serve(ShmChannel channel) {
        if (state == UP) {
            channel.ring(producer, ring);
        }
    }

    void commit(int offset, int length, int type) {
        producer.commit(offset, length, type);
        written();
    }

    static int positive(int errno, int otherwise) {
        return errno > 0 && errno < 4096 ? errno : otherwise;
    }

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
}
