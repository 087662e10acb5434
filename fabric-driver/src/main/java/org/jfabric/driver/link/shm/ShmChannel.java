package org.jfabric.driver.link.shm;

import static org.jfabric.layout.RecordRingDescriptor.WORD_LENGTH;

import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.client.LentRing;
import org.jfabric.codec.wire.AcknowledgeEncoder;
import org.jfabric.codec.wire.AnnounceEncoder;
import org.jfabric.codec.wire.CreditEncoder;
import org.jfabric.codec.wire.EagerDataEncoder;
import org.jfabric.codec.wire.EagerEncoder;
import org.jfabric.codec.wire.EagerToAcknowledgeEncoder;
import org.jfabric.codec.wire.FinishEncoder;
import org.jfabric.codec.wire.PullEncoder;
import org.jfabric.codec.wire.SegmentEncoder;
import org.jfabric.codec.wire.ShortEncoder;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.driver.link.PieceList;
import org.jfabric.driver.link.RemoteChannel;
import org.jfabric.driver.link.RemotePayload;
import org.jfabric.driver.link.SegmentChannel;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.layout.RecordProducer;
import org.jfabric.layout.RecordRingDescriptor;
import org.jfabric.layout.Words;

/**
 * A channel between endpoints of two drivers. It writes its frames into the ring of the connection.
 *
 * <p>A frame's cache lines are written from the last to the first: the peer polls the first word, and each store to
 * that line while it polls costs a transfer of the line.
 *
 * <p>Owner: progress agent.
 */
final class ShmChannel extends SegmentChannel {
    /** Waits for the connection, or for the peer's answer. */
    static final int OPENING = 0;
    /** Messages can be exchanged. */
    static final int UP = 1;
    /** Closed or lost. */
    static final int CLOSED = 2;

    private static final int TAG = ShortEncoder.tagEncodingOffset();
    private static final int SHORT_HEADER = ShortEncoder.BLOCK_LENGTH;
    /** Unit of the grant in a short record. */
    private static final int GRANT_SHIFT = 6;
    /**
     * Largest increase of the credit in a short record, in units of 64 bytes: less than half the range of its 16 bits.
     */
    private static final int MAX_MORE_LINES = 0x7FFF;
    private static final int EAGER_HEADER = WORD_LENGTH + EagerEncoder.BLOCK_LENGTH;
    private static final int EAGER_DATA_HEADER = WORD_LENGTH + EagerDataEncoder.BLOCK_LENGTH;
    private static final int EAGER_TO_ACKNOWLEDGE_HEADER = WORD_LENGTH + EagerToAcknowledgeEncoder.BLOCK_LENGTH;
    private static final int SEGMENT_HEADER = WORD_LENGTH + SegmentEncoder.BLOCK_LENGTH;
    private static final int LINE = 64;
    private static final long KIND_AND_DATA = Flags.TAGGED | Flags.MSG | Flags.REMOTE_CQ_DATA;
    /** A message with any of these needs a longer header than the plain frame's. */
    private static final long NOT_PLAIN = Flags.REMOTE_CQ_DATA | Flags.DELIVERY_COMPLETE | Flags.MATCH_COMPLETE;

    private ShmConnection connection;
    private final String remoteAddress;
    private final LocalEndpoint endpoint;
    private final EagerEncoder eager = new EagerEncoder();
    private final EagerDataEncoder eagerData = new EagerDataEncoder();
    private final EagerToAcknowledgeEncoder toAcknowledge = new EagerToAcknowledgeEncoder();
    private final AcknowledgeEncoder acknowledge = new AcknowledgeEncoder();
    private final AnnounceEncoder announce = new AnnounceEncoder();
    private final FinishEncoder finish = new FinishEncoder();
    private final PullEncoder pull = new PullEncoder();
    private final SegmentEncoder segment = new SegmentEncoder();
    private final CreditEncoder credit = new CreditEncoder();
    private final ShmVectorFrames vectorFrames = new ShmVectorFrames();
    private ShmRemote remoteMemory;
    private final long[] sourceAddresses = new long[PieceList.MAX_PIECES];
    RecordProducer producer;
    private UnsafeBuffer ring;
    /** Position recorded by {@link #markSent()}. */
    private long mark;
    int state = OPENING;
    /** Whether the peer has been sent the channel's id, in OPEN or in the answer to its own OPEN. */
    boolean announced;
    int localId;
    /** Number by which the peer's short records name the channel, or {@link ShmShortNumbers#NONE}. */
    int localShort;
    int remoteId;
    int remoteShort;
    /** The credit that the peer has, or will have as soon as it has read the records in the ring. */
    private int lastGrant;
    /** Whether it was made by a request of a connection-oriented endpoint. */
    boolean isConnection;
    /**
     * The pending request or acceptance, until the connection is established or abandoned; null for connectionless
     * endpoints.
     */
    ShmConnecting connecting;

    ShmChannel(
        ChannelLimits limits,
        ChannelHandler handler,
        ShmConnection connection,
        LocalEndpoint endpoint,
        String remoteAddress) {
        super(limits, handler);
        this.connection = connection;
        this.endpoint = endpoint;
        this.remoteAddress = remoteAddress;
        this.remoteMemory = new ShmRemote(this, connection);
    }

    String localAddress() {
        return endpoint.address();
    }

    byte[] authKey() {
        return endpoint.authKey();
    }

    String remoteAddress() {
        return remoteAddress;
    }

    /** Sets the ids by which the peer names the channel. */
    void remote(int id, int shortNumber) {
        remoteId = id;
        remoteShort = shortNumber;
    }

    /** Leaves a connection before it was opened there, for one to another progress thread of the peer. */
    void move(ShmConnection newConnection) {
        connection = newConnection;
        remoteMemory = new ShmRemote(this, newConnection);
        announced = false;
        if (connecting != null) {
            connecting = connecting.on(newConnection.requests());
        }
    }

    /** Sets the ring to write to, once the connection is up. */
    void ring(RecordProducer newProducer, UnsafeBuffer newRing) {
        producer = newProducer;
        ring = newRing;
    }

    /** As {@link #remoteMemory()}. */
    ShmRemote remote() {
        return remoteMemory;
    }

    @Override
    public RemoteChannel remoteMemory() {
        return remoteMemory;
    }

    @Override
    public byte[] regionDirectory() {
        return connection.files().peerDirectory();
    }

    @Override
    public LentRing lentRing() {
        return connection.lentRing();
    }

    @Override
    public int send(TransmitOperation operation, int grant) {
        if ((operation.flags & NOT_PLAIN) != 0) {
            return operation.isAcknowledged() ? sendToAcknowledge(operation, grant) : sendWithData(operation, grant);
        }
        boolean tagged = (operation.flags & Flags.TAGGED) != 0;
        int payload = (int) operation.length;
        if (operation.pieces == null) {
            return sendShort(
                tagged ? Flags.TAGGED : Flags.MSG, operation.tag, operation.address, payload, grant);
        }
        int length = EAGER_HEADER + payload;
        int offset = producer.claim(length);
        if (offset < 0) {
            return connection.notClaimed(offset);
        }
        gatherLastLinesFirst(operation, producer.ringAddress() + offset + EAGER_HEADER, payload, EAGER_HEADER);
        commitEager(offset, length, tagged, operation.tag, grant);
        return DONE;
    }

    @Override
    public int sendShort(long kind, long tag, long address, int payload, int grant) {
        if (remoteShort == ShmShortNumbers.NONE || grant - lastGrant >>> GRANT_SHIFT > MAX_MORE_LINES) {
            return sendEager(kind, tag, address, payload, grant);
        }
        RecordProducer records = producer;
        int length = SHORT_HEADER + payload;
        int offset = records.claim(length);
        if (offset < 0) {
            return connection.notClaimed(offset);
        }
        lastGrant = grant;
        long record = records.ringAddress() + offset;
        copyLastLinesFirst(address, record + SHORT_HEADER, payload, SHORT_HEADER);
        UnsafeApi.putLong(record + TAG, tag);
        records.commitWord(offset, length, RecordRingDescriptor.shortWord(
            length, kind == Flags.TAGGED ? ShmFrameReader.SHORT_TAGGED : ShmFrameReader.SHORT_MSG,
            remoteShort | grant >>> GRANT_SHIFT << Short.SIZE));
        connection.written();
        return DONE;
    }

    /** Whether both sides have short numbers of the channel. */
    boolean hasShortNumbers() {
        return remoteShort != ShmShortNumbers.NONE && localShort != ShmShortNumbers.NONE;
    }

    /** A frame with all 32 bits of the grant was written. */
    void granted(int grant) {
        lastGrant = grant;
    }

    /** Claims room for a short record; {@code -FI_EOPNOTSUPP} if the channel or the credit needs a longer one. */
    int claimShort(int length, int grant) {
        if (remoteShort == ShmShortNumbers.NONE || grant - lastGrant >>> GRANT_SHIFT > MAX_MORE_LINES) {
            return -FabricErrno.EOPNOTSUPP;
        }
        int offset = producer.claim(length);
        return offset < 0 ? connection.notClaimed(offset) : offset;
    }

    /** Commits what {@link #claimShort} has claimed. */
    void commitShort(int offset, int length, int type, int grant) {
        lastGrant = grant;
        producer.commitWord(offset, length, RecordRingDescriptor.shortWord(
            length, type, remoteShort | grant >>> GRANT_SHIFT << Short.SIZE));
        connection.written();
    }

    /** As {@link #sendShort}, with the channel's long id. */
    private int sendEager(long kind, long tag, long address, int payload, int grant) {
        int length = EAGER_HEADER + payload;
        int offset = producer.claim(length);
        if (offset < 0) {
            return connection.notClaimed(offset);
        }
        copyLastLinesFirst(address, producer.ringAddress() + offset + EAGER_HEADER, payload, EAGER_HEADER);
        commitEager(offset, length, kind == Flags.TAGGED, tag, grant);
        return DONE;
    }

    private void commitEager(int offset, int length, boolean tagged, long tag, int grant) {
        lastGrant = grant;
        eager.wrap(ring, offset + WORD_LENGTH).channel(remoteId).grant(grant & 0xFFFF_FFFFL).tag(tag);
        producer.commit(offset, length, tagged ? ShmFrameReader.EAGER_TAGGED : ShmFrameReader.EAGER_MSG);
        connection.written();
    }

    @Override
    public void markSent() {
        mark = producer.position();
    }

    @Override
    public boolean isMarkTaken() {
        return producer.isTaken(mark);
    }

    private int sendWithData(TransmitOperation operation, int grant) {
        int payload = (int) operation.length;
        int length = EAGER_DATA_HEADER + payload;
        int offset = producer.claim(length);
        if (offset < 0) {
            return connection.notClaimed(offset);
        }
        write(operation, producer.ringAddress() + offset + EAGER_DATA_HEADER, payload, EAGER_DATA_HEADER);
        eagerData.wrap(ring, offset + WORD_LENGTH).channel(remoteId).grant(grant & 0xFFFF_FFFFL)
            .tag(operation.tag).data(operation.data).flags(operation.flags & KIND_AND_DATA);
        producer.commit(offset, length, ShmFrameReader.EAGER_DATA);
        connection.written();
        return DONE;
    }

    private int sendToAcknowledge(TransmitOperation operation, int grant) {
        int payload = (int) operation.length;
        int length = EAGER_TO_ACKNOWLEDGE_HEADER + payload;
        int offset = producer.claim(length);
        if (offset < 0) {
            return connection.notClaimed(offset);
        }
        write(
            operation, producer.ringAddress() + offset + EAGER_TO_ACKNOWLEDGE_HEADER, payload,
            EAGER_TO_ACKNOWLEDGE_HEADER);
        toAcknowledge.wrap(ring, offset + WORD_LENGTH).channel(remoteId).grant(grant & 0xFFFF_FFFFL)
            .tag(operation.tag).data(operation.data)
            .flags(operation.flags & KIND_AND_DATA | operation.awaitedOfPeer()).operation(operation.id());
        producer.commit(offset, length, ShmFrameReader.EAGER_TO_ACKNOWLEDGE);
        connection.written();
        return DONE;
    }

    @Override
    public int announce(TransmitOperation operation, int grant) {
        if (operation.pieces != null && ShmVectorFrames.isReachable(operation)) {
            return announceVector(operation, grant);
        }
        int length = WORD_LENGTH + AnnounceEncoder.BLOCK_LENGTH;
        int offset = producer.claim(length);
        if (offset < 0) {
            return connection.notClaimed(offset);
        }
        RegisteredRegion region = operation.region;
        boolean reachable = region != null && region.number() != 0;
        boolean hasData = (operation.flags & Flags.REMOTE_CQ_DATA) != 0;
        announce.wrap(ring, offset + WORD_LENGTH).channel(remoteId).grant(grant & 0xFFFF_FFFFL)
            .tag(operation.tag).data(hasData ? operation.data : 0)
            .flags(operation.flags & (KIND_AND_DATA | Flags.LENT) | operation.awaitedOfPeer())
            .length(operation.length).operation(operation.id())
            .regionNumber(reachable ? region.number() : RemotePayload.NO_REGION)
            .regionGeneration(reachable ? region.generation() : 0)
            .regionOffset(reachable ? operation.address - region.address() : 0)
            .reserved(0);
        producer.commit(offset, length, ShmFrameReader.ANNOUNCE);
        connection.written();
        return DONE;
    }

    private int announceVector(TransmitOperation operation, int grant) {
        int length = ShmVectorFrames.length(operation);
        int offset = producer.claim(length);
        if (offset < 0) {
            return connection.notClaimed(offset);
        }
        vectorFrames.write(
            ring, offset + WORD_LENGTH, remoteId, grant, operation.flags & KIND_AND_DATA | operation.awaitedOfPeer(),
            operation);
        producer.commit(offset, length, ShmFrameReader.ANNOUNCE_VECTOR);
        connection.written();
        return DONE;
    }

    @Override
    public int pull(
        RemotePayload source, RegisteredRegion destRegion, long destAddress, PieceList destPieces, long length) {
        if (!connection.regions().find(source, length, sourceAddresses)) {
            return -FabricErrno.EOPNOTSUPP;
        }
        connection.copied(length);
        long done = 0;
        for (int i = 0; done < length; i++) {
            long bytes = Math.min(source.length(i), length - done);
            copyPulled(sourceAddresses[i], done, bytes, destAddress, destPieces);
            done += bytes;
        }
        return DONE;
    }

    @Override
    public int requestSegments(long operation, long sink, long length, int grant) {
        int recordLength = WORD_LENGTH + PullEncoder.BLOCK_LENGTH;
        int offset = producer.claim(recordLength);
        if (offset < 0) {
            return connection.notClaimed(offset);
        }
        pull.wrap(ring, offset + WORD_LENGTH).channel(remoteId).grant(grant & 0xFFFF_FFFFL)
            .operation(operation).sink(sink).msgOffset(0).length(length);
        producer.commit(offset, recordLength, ShmFrameReader.PULL);
        connection.written();
        return DONE;
    }

    @Override
    public int sendSegment(TransmitOperation operation, int payload, int grant) {
        int length = SEGMENT_HEADER + payload;
        int offset = producer.claim(length);
        if (offset < 0) {
            return connection.notClaimed(offset);
        }
        operation.copyTo(operation.sent, producer.ringAddress() + offset + SEGMENT_HEADER, payload);
        segment.wrap(ring, offset + WORD_LENGTH).channel(remoteId).grant(grant & 0xFFFF_FFFFL)
            .sink(operation.sink()).msgOffset(operation.sent);
        producer.commit(offset, length, ShmFrameReader.SEGMENT);
        connection.written();
        return DONE;
    }

    @Override
    public int finish(long operation, int errno, int grant) {
        int length = WORD_LENGTH + FinishEncoder.BLOCK_LENGTH;
        int offset = producer.claim(length);
        if (offset < 0) {
            return connection.notClaimed(offset);
        }
        finish.wrap(ring, offset + WORD_LENGTH).channel(remoteId).grant(grant & 0xFFFF_FFFFL)
            .operation(operation).errno(errno).reserved(0);
        producer.commit(offset, length, ShmFrameReader.FINISH);
        connection.written();
        return DONE;
    }

    @Override
    public int acknowledge(long operation, long levels, int errno, int grant) {
        int length = WORD_LENGTH + AcknowledgeEncoder.BLOCK_LENGTH;
        int offset = producer.claim(length);
        if (offset < 0) {
            return connection.notClaimed(offset);
        }
        acknowledge.wrap(ring, offset + WORD_LENGTH).channel(remoteId).grant(grant & 0xFFFF_FFFFL)
            .operation(operation).levels(levels).errno(errno).reserved(0);
        producer.commit(offset, length, ShmFrameReader.ACKNOWLEDGE);
        connection.written();
        return DONE;
    }

    @Override
    public boolean hasMore() {
        return connection.hasMore();
    }

    @Override
    public int sendGrant(int grant) {
        int length = WORD_LENGTH + CreditEncoder.BLOCK_LENGTH;
        int offset = producer.claim(length);
        if (offset < 0) {
            return connection.notClaimed(offset);
        }
        lastGrant = grant;
        credit.wrap(ring, offset + WORD_LENGTH).channel(remoteId).grant(grant & 0xFFFF_FFFFL);
        producer.commit(offset, length, ShmFrameReader.CREDIT);
        connection.written();
        return DONE;
    }

    @Override
    public void close(int errno) {
        if (state != CLOSED) {
            connection.opening().close(this, errno);
        }
    }

    /** Copies the payload of a frame whose header is shorter than a cache line. */
    static void write(TransmitOperation operation, long dest, int length, int header) {
        if (operation.pieces == null) {
            copyLastLinesFirst(operation.address, dest, length, header);
        } else {
            gatherLastLinesFirst(operation, dest, length, header);
        }
    }

    private static void gatherLastLinesFirst(TransmitOperation operation, long dest, int length, int header) {
        int inFirstLine = Math.min(LINE - header, length);
        operation.copyTo(inFirstLine, dest + inFirstLine, length - inFirstLine);
        UnsafeApi.storeFence();
        operation.copyTo(0, dest, inFirstLine);
    }

    /** Copies the payload of a frame whose header is shorter than a cache line. */
    static void copyLastLinesFirst(long source, long dest, int length, int header) {
        int inFirstLine = LINE - header;
        if (length > inFirstLine) {
            Words.copy(source + inFirstLine, dest + inFirstLine, length - inFirstLine);
            UnsafeApi.storeFence();
            Words.copyShort(source, dest, inFirstLine);
        } else {
            Words.copyShort(source, dest, length);
        }
    }
}
