package org.jfabric.driver.link.shm;

import static org.jfabric.layout.RecordRingDescriptor.MAX_LENGTH;
import static org.jfabric.layout.RecordRingDescriptor.RECORD_ALIGNMENT;
import static org.jfabric.layout.RecordRingDescriptor.SHORT_TYPE_SHIFT;
import static org.jfabric.layout.RecordRingDescriptor.WORD_LENGTH;

import org.agrona.DirectBuffer;
import org.agrona.UnsafeApi;
import org.jfabric.codec.wire.AcknowledgeDecoder;
import org.jfabric.codec.wire.AnnounceDecoder;
import org.jfabric.codec.wire.AnnounceVectorDecoder;
import org.jfabric.codec.wire.CloseDecoder;
import org.jfabric.codec.wire.ConnectAnswerDecoder;
import org.jfabric.codec.wire.ConnectDecoder;
import org.jfabric.codec.wire.CreditDecoder;
import org.jfabric.codec.wire.EagerDataDecoder;
import org.jfabric.codec.wire.EagerDecoder;
import org.jfabric.codec.wire.EagerToAcknowledgeDecoder;
import org.jfabric.codec.wire.FinishDecoder;
import org.jfabric.codec.wire.GroupEndDecoder;
import org.jfabric.codec.wire.GroupJoinDecoder;
import org.jfabric.codec.wire.GroupJoinedDecoder;
import org.jfabric.codec.wire.GroupPositionDecoder;
import org.jfabric.codec.wire.OpenAckDecoder;
import org.jfabric.codec.wire.OpenDecoder;
import org.jfabric.codec.wire.ParksDecoder;
import org.jfabric.codec.wire.PullDecoder;
import org.jfabric.codec.wire.RemoteAnnounceDecoder;
import org.jfabric.codec.wire.RemoteAtomicDecoder;
import org.jfabric.codec.wire.RemoteGrantDecoder;
import org.jfabric.codec.wire.RemoteReadDecoder;
import org.jfabric.codec.wire.RemoteReplyDecoder;
import org.jfabric.codec.wire.RemoteWriteDecoder;
import org.jfabric.codec.wire.SegmentDecoder;
import org.jfabric.codec.wire.ShortDecoder;
import org.jfabric.codec.wire.TimeStampDecoder;
import org.jfabric.codec.wire.WithdrawDecoder;
import org.jfabric.driver.link.FrameHandler;
import org.jfabric.driver.link.RemotePayload;
import org.jfabric.driver.resource.Stage;
import org.jfabric.driver.resource.StageTimes;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.layout.RecordConsumer;
import org.jfabric.layout.RecordRingDescriptor;

/**
 * Decodes the peer's records and passes them to the channels. Every record may be invalid: types and lengths are
 * checked, each field is read once, and channels are found by id.
 *
 * <p>Owner: progress agent.
 */
final class ShmFrameReader {
    /** An untagged {@code Eager}; the tagged one has the message's own id. */
    static final int EAGER_MSG = 2;
    static final int EAGER_TAGGED = EagerDecoder.TEMPLATE_ID;
    static final int EAGER_DATA = EagerDataDecoder.TEMPLATE_ID;
    static final int ANNOUNCE = AnnounceDecoder.TEMPLATE_ID;
    static final int PULL = PullDecoder.TEMPLATE_ID;
    static final int SEGMENT = SegmentDecoder.TEMPLATE_ID;
    static final int FINISH = FinishDecoder.TEMPLATE_ID;
    static final int CREDIT = CreditDecoder.TEMPLATE_ID;
    static final int OPEN = OpenDecoder.TEMPLATE_ID;
    static final int OPEN_ACK = OpenAckDecoder.TEMPLATE_ID;
    static final int CLOSE = CloseDecoder.TEMPLATE_ID;
    static final int EAGER_TO_ACKNOWLEDGE = EagerToAcknowledgeDecoder.TEMPLATE_ID;
    static final int ACKNOWLEDGE = AcknowledgeDecoder.TEMPLATE_ID;
    static final int ANNOUNCE_VECTOR = AnnounceVectorDecoder.TEMPLATE_ID;
    static final int CONNECT = ConnectDecoder.TEMPLATE_ID;
    static final int CONNECT_ANSWER = ConnectAnswerDecoder.TEMPLATE_ID;
    static final int WITHDRAW = WithdrawDecoder.TEMPLATE_ID;
    static final int REMOTE_WRITE = RemoteWriteDecoder.TEMPLATE_ID;
    static final int REMOTE_READ = RemoteReadDecoder.TEMPLATE_ID;
    static final int REMOTE_REPLY = RemoteReplyDecoder.TEMPLATE_ID;
    static final int REMOTE_ATOMIC = RemoteAtomicDecoder.TEMPLATE_ID;
    static final int REMOTE_ANNOUNCE = RemoteAnnounceDecoder.TEMPLATE_ID;
    static final int REMOTE_GRANT = RemoteGrantDecoder.TEMPLATE_ID;
    static final int GROUP_JOIN = GroupJoinDecoder.TEMPLATE_ID;
    static final int GROUP_JOINED = GroupJoinedDecoder.TEMPLATE_ID;
    static final int GROUP_POSITION = GroupPositionDecoder.TEMPLATE_ID;
    static final int GROUP_END = GroupEndDecoder.TEMPLATE_ID;
    static final int PARKS = ParksDecoder.TEMPLATE_ID;
    static final int STAMP = TimeStampDecoder.TEMPLATE_ID;
    static final int MAX_TYPE = STAMP;
    /** Types of short records. */
    static final int SHORT_MSG = 1;
    static final int SHORT_TAGGED = 2;
    /** Types of short records of remote memory access. */
    static final int SHORT_WRITE = 3;
    static final int PLACED = 4;
    static final int MAX_SHORT_TYPE = PLACED;
    static final int SHORT_NUMBER_MASK = 0xFFFF;

    private static final int TAG = ShortDecoder.tagEncodingOffset();
    private static final int SHORT_HEADER = ShortDecoder.BLOCK_LENGTH;
    private static final int EAGER_HEADER = WORD_LENGTH + EagerDecoder.BLOCK_LENGTH;
    private static final int EAGER_DATA_HEADER = WORD_LENGTH + EagerDataDecoder.BLOCK_LENGTH;
    private static final int EAGER_TO_ACKNOWLEDGE_HEADER = WORD_LENGTH + EagerToAcknowledgeDecoder.BLOCK_LENGTH;
    private static final int SEGMENT_HEADER = WORD_LENGTH + SegmentDecoder.BLOCK_LENGTH;
    private static final int KIND = (int) (Flags.TAGGED | Flags.MSG);
    private static final long LEVELS = Flags.DELIVERY_COMPLETE | Flags.MATCH_COMPLETE | Flags.FENCE;

    private final ShmConnection connection;
    private final RecordConsumer consumer;
    /** The channel of the last plain message. */
    private ShmChannel lastChannel;
    private final DirectBuffer ring;
    private final EagerDecoder eager = new EagerDecoder();
    private final EagerDataDecoder eagerData = new EagerDataDecoder();
    private final AnnounceDecoder announce = new AnnounceDecoder();
    private final PullDecoder pull = new PullDecoder();
    private final SegmentDecoder segment = new SegmentDecoder();
    private final FinishDecoder finish = new FinishDecoder();
    private final CreditDecoder credit = new CreditDecoder();
    private final OpenDecoder open = new OpenDecoder();
    private final OpenAckDecoder openAck = new OpenAckDecoder();
    private final CloseDecoder close = new CloseDecoder();
    private final EagerToAcknowledgeDecoder toAcknowledge = new EagerToAcknowledgeDecoder();
    private final AcknowledgeDecoder acknowledge = new AcknowledgeDecoder();
    private final ShmVectorFrames vectorFrames = new ShmVectorFrames();
    private final ShmRemoteReader remoteReader;
    private final RemotePayload payload = new RemotePayload();
    private final StageTimes stages;
    private final ShmChannels channels;

    ShmFrameReader(
        ShmConnection connection, ShmChannels channels, RecordConsumer consumer, StageTimes stages,
        DirectBuffer ring) {
        this.channels = channels;
        this.stages = stages;
        this.connection = connection;
        this.consumer = consumer;
        this.ring = ring;
        this.remoteReader = new ShmRemoteReader(connection, channels, ring);
    }

    /**
     * Processes records.
     *
     * @param limit largest number of records.
     * @return number of records processed, or -1 if the peer has violated the protocol and the connection was ended.
     */
    int poll(int limit) {
        int count = 0;
        RecordConsumer records = consumer;
        int batch = records.batch(limit);
        while (count < batch) {
            int result = records.poll();
            if (result != RecordConsumer.RECORD) {
                if (result == RecordConsumer.CORRUPT) {
                    connection.broken(records.describe());
                    return -1;
                }
                break;
            }
            if (!take(records)) {
                return -1;
            }
            records.releaseFar();
            count++;
        }
        records.batchTaken(count);
        // also without a record: padding, or a record before a fault, may have been consumed
        records.release();
        return count;
    }

    /**
     * Processes plain messages with as few steps as possible: the fields are read at the offsets of the codec. Records
     * of remote memory access and of announced messages between them are processed as well.
     *
     * @param limit largest number of records.
     * @return number of records processed, n; or {@code -1 - n} if the next record is of another kind, or invalid.
     */
    int pollPlain(int limit) {
        long word = consumer.word();
        if (word == 0) {
            consumer.batchTaken(0);
            return 0;
        }
        // a method of its own: most polls of a spinning thread find nothing, and the compiler inlines no calls that are
        // rare where they stand
        return takePlain(word, limit);
    }

    private int takePlain(long first, int limit) {
        RecordConsumer records = consumer;
        int batch = records.batch(limit);
        int count = 0;
        long word = first;
        do {
            int type = (int) word >>> SHORT_TYPE_SHIFT;
            int length = (int) word & MAX_LENGTH;
            if (type == 0 || type > SHORT_TAGGED || length < SHORT_HEADER || length > records.toEnd()) {
                if (isPadding(word)) {
                    if (records.poll() == RecordConsumer.CORRUPT) {
                        return leavePlain(count);
                    }
                    // of a ring that is empty in the eyes of its producer only if this is published
                    records.release();
                    word = records.word();
                    continue;
                }
                if (!isBeside(word) || records.poll() != RecordConsumer.RECORD) {
                    return leavePlain(count);
                }
                if (!takeBeside(records)) {
                    return -1 - count;
                }
                count++;
                word = count < batch ? records.word() : 0;
                continue;
            }
            long record = records.address();
            if (length > RECORD_ALIGNMENT) {
                records.fetchSecondLine(record);
            }
            int number = (int) (word >>> 32) & SHORT_NUMBER_MASK;
            ShmChannel channel = lastChannel;
            if (channel == null || channel.localShort != number || channel.state != ShmChannel.UP) {
                channel = connection.shortChannel(number);
                if (channel == null) {
                    return leavePlain(count);
                }
                lastChannel = channel;
            }
            // before it is executed: if that ends with a memory fault the record must not be executed once more
            records.pass(length);
            channel.frameHandler().onShort(
                type == SHORT_TAGGED ? Flags.TAGGED : Flags.MSG, UnsafeApi.getLong(record + TAG), record + SHORT_HEADER,
                length - SHORT_HEADER, (int) (word >>> 48));
            records.releaseFar();
            count++;
            word = count < batch ? records.word() : 0;
        } while (word != 0);
        records.batchTaken(count);
        if (count != 0) {
            records.release();
        }
        return count;
    }

    private boolean take(RecordConsumer records) {
        int offset = records.offset();
        // before it is executed: if that ends with a memory fault the record must not be executed once more
        records.step();
        return records.shortType() != 0
            ? onShort(offset, records.length()) : dispatch(records.type(), offset, records.length());
    }

    private static boolean isPadding(long word) {
        return (int) (word >>> 32) == RecordRingDescriptor.PADDING_TYPE && (int) word >>> SHORT_TYPE_SHIFT == 0;
    }

    /** Whether a record that is no plain message is processed by {@link #pollPlain} too. */
    private static boolean isBeside(long word) {
        int shortType = (int) word >>> SHORT_TYPE_SHIFT;
        int type = (int) (word >>> 32);
        return shortType == 0 ? type >= REMOTE_WRITE && type <= REMOTE_GRANT || type == ANNOUNCE || type == FINISH
            || type == STAMP || type == CREDIT
            : shortType == SHORT_WRITE || shortType == PLACED;
    }

    /** Executes a record that {@link #isBeside} accepts; false if the connection has ended. */
    private boolean takeBeside(RecordConsumer records) {
        int offset = records.offset();
        int length = records.length();
        // as in poll()
        records.step();
        boolean taken = records.shortType() != 0
            ? remoteReader.onShort(records.shortType(), records.shortInfo(), length, records.address(offset))
            : records.type() == STAMP ? onStamp(offset, length)
            : records.type() == ANNOUNCE ? onAnnounce(offset, length)
            : records.type() == FINISH ? onFinish(offset, length)
            : records.type() == CREDIT ? onCredit(offset, length)
            : remoteReader.onFrame(records.type(), offset, length, records.address(offset));
        if (taken && connection.state() == ShmConnection.UP) {
            records.releaseFar();
            return true;
        }
        return false;
    }

    private int leavePlain(int count) {
        consumer.release();
        return -1 - count;
    }

    /** How many bytes of records were read, padding included. */
    long position() {
        return consumer.position();
    }

    /** How many bytes of the ring the peer has certainly written. */
    int reached() {
        return consumer.reached();
    }

    /** Where the next record begins. */
    long nextAddress() {
        return consumer.address();
    }

    /** Whether records are waiting. */
    boolean hasMore() {
        return consumer.poll() != RecordConsumer.EMPTY;
    }

    private boolean dispatch(int type, int offset, int length) {
        if (type == EAGER_TAGGED || type == EAGER_MSG) {
            return onEager(type == EAGER_TAGGED ? Flags.TAGGED : Flags.MSG, offset, length);
        }
        return switch (type) {
            case EAGER_DATA -> onEagerData(offset, length);
            case ANNOUNCE -> onAnnounce(offset, length);
            case PULL -> onPull(offset, length);
            case SEGMENT -> onSegment(offset, length);
            case FINISH -> onFinish(offset, length);
            case CREDIT -> onCredit(offset, length);
            case OPEN -> onOpen(offset, length);
            case OPEN_ACK -> onOpenAck(offset, length);
            case EAGER_TO_ACKNOWLEDGE -> onEagerToAcknowledge(offset, length);
            case ACKNOWLEDGE -> onAcknowledge(offset, length);
            case ANNOUNCE_VECTOR -> onAnnounceVector(offset, length);
            case CONNECT, CONNECT_ANSWER, WITHDRAW -> connection.requests().onFrame(ring, type, offset, length);
            case REMOTE_WRITE, REMOTE_READ, REMOTE_REPLY, REMOTE_ATOMIC, REMOTE_ANNOUNCE, REMOTE_GRANT ->
                remoteReader.onFrame(type, offset, length, consumer.address(offset));
            case GROUP_JOIN, GROUP_JOINED, GROUP_POSITION, GROUP_END ->
                connection.groups().onFrame(ring, type, offset, length);
            case CLOSE -> onClose(offset, length);
            case PARKS -> onParks(length);
            case STAMP -> onStamp(offset, length);
            default -> unknown(type);
        };
    }

    /**
     * A time stamp, and the record behind it in the same step, so that the sample waits no longer than it would have
     * done without the stamp.
     */
    private boolean onStamp(int offset, int length) {
        if (length != RecordRingDescriptor.STAMP_LENGTH) {
            return tooShort("TIME_STAMP", length);
        }
        long nowNs = System.nanoTime();
        stages.record(Stage.WIRE_TO_MATCH, nowNs - UnsafeApi.getLong(consumer.address(offset) + WORD_LENGTH));
        if (consumer.poll() != RecordConsumer.RECORD || consumer.type() == STAMP) {
            // what is invalid is found by the next poll
            return true;
        }
        ShmChannel channel = consumer.shortType() == SHORT_TAGGED || consumer.shortType() == SHORT_MSG
            ? connection.shortChannel(consumer.shortInfo() & SHORT_NUMBER_MASK) : null;
        if (channel == null) {
            return take(consumer);
        }
        FrameHandler handler = channel.frameHandler();
        long ended = handler.endedReceives();
        boolean taken = take(consumer);
        if (handler.endedReceives() != ended) {
            stages.record(Stage.MATCH_TO_ENTRY, System.nanoTime() - nowNs);
        }
        return taken;
    }

    /** The id of a message that is no ordinary record. */
    private boolean unknown(int type) {
        connection.broken("sent a record of type " + type + ", which is no record's");
        return false;
    }

    private boolean onShort(int offset, int length) {
        if (consumer.shortType() > SHORT_TAGGED) {
            return remoteReader.onShort(consumer.shortType(), consumer.shortInfo(), length, consumer.address(offset));
        }
        if (length < SHORT_HEADER) {
            return tooShort("SHORT", length);
        }
        int info = consumer.shortInfo();
        ShmChannel channel = connection.shortChannel(info & SHORT_NUMBER_MASK);
        if (channel != null) {
            long record = consumer.address(offset);
            channel.frameHandler().onShort(
                consumer.shortType() == SHORT_TAGGED ? Flags.TAGGED : Flags.MSG, UnsafeApi.getLong(record + TAG),
                record + SHORT_HEADER, length - SHORT_HEADER, info >>> 16);
        }
        return true;
    }

    private boolean onEager(long flags, int offset, int length) {
        if (length < EAGER_HEADER) {
            return tooShort("EAGER", length);
        }
        eager.wrap(ring, offset + WORD_LENGTH, EagerDecoder.BLOCK_LENGTH, EagerDecoder.SCHEMA_VERSION);
        ShmChannel channel = channels.up(eager.channel());
        if (channel != null) {
            channel.frameHandler().onGrant((int) eager.grant());
            channel.handler().onMessage(
                flags, eager.tag(), 0, consumer.address(offset) + EAGER_HEADER, length - EAGER_HEADER);
        }
        return true;
    }

    private boolean onEagerData(int offset, int length) {
        if (length < EAGER_DATA_HEADER) {
            return tooShort("EAGER_DATA", length);
        }
        eagerData.wrap(ring, offset + WORD_LENGTH, EagerDataDecoder.BLOCK_LENGTH, EagerDataDecoder.SCHEMA_VERSION);
        ShmChannel channel = channels.up(eagerData.channel());
        if (channel != null) {
            channel.frameHandler().onGrant((int) eagerData.grant());
            channel.handler().onMessage(
                flags(eagerData.flags()) | Flags.REMOTE_CQ_DATA,
                eagerData.tag(),
                eagerData.data(),
                consumer.address(offset) + EAGER_DATA_HEADER,
                length - EAGER_DATA_HEADER);
        }
        return true;
    }

    private boolean onEagerToAcknowledge(int offset, int length) {
        if (length < EAGER_TO_ACKNOWLEDGE_HEADER) {
            return tooShort("EAGER_TO_ACKNOWLEDGE", length);
        }
        toAcknowledge.wrap(ring, offset + WORD_LENGTH, EagerToAcknowledgeDecoder.BLOCK_LENGTH,
            EagerToAcknowledgeDecoder.SCHEMA_VERSION);
        ShmChannel channel = channels.up(toAcknowledge.channel());
        if (channel != null) {
            long flags = toAcknowledge.flags();
            long levels = flags & LEVELS;
            if (levels != Flags.DELIVERY_COMPLETE && (levels & ~Flags.FENCE) != Flags.MATCH_COMPLETE) {
                connection.broken("requested acknowledgement of the levels 0x" + Long.toHexString(levels));
                return false;
            }
            boolean hasData = (flags & Flags.REMOTE_CQ_DATA) != 0;
            channel.frameHandler().onGrant((int) toAcknowledge.grant());
            channel.frameHandler().onMessageToAcknowledge(
                toAcknowledge.operation(),
                flags(flags) | (flags & Flags.REMOTE_CQ_DATA) | levels,
                toAcknowledge.tag(),
                hasData ? toAcknowledge.data() : 0,
                consumer.address(offset) + EAGER_TO_ACKNOWLEDGE_HEADER,
                length - EAGER_TO_ACKNOWLEDGE_HEADER);
        }
        return true;
    }

    private boolean onAcknowledge(int offset, int length) {
        if (length < WORD_LENGTH + AcknowledgeDecoder.BLOCK_LENGTH) {
            return tooShort("ACKNOWLEDGE", length);
        }
        acknowledge.wrap(
            ring, offset + WORD_LENGTH, AcknowledgeDecoder.BLOCK_LENGTH, AcknowledgeDecoder.SCHEMA_VERSION);
        ShmChannel channel = channels.up(acknowledge.channel());
        if (channel != null) {
            int errno = acknowledge.errno();
            channel.frameHandler().onGrant((int) acknowledge.grant());
            channel.frameHandler().onAcknowledged(
                acknowledge.operation(),
                acknowledge.levels(),
                errno == 0 ? 0 : ShmConnection.positive(errno, FabricErrno.EIO));
        }
        return true;
    }

    private boolean onAnnounce(int offset, int length) {
        if (length < WORD_LENGTH + AnnounceDecoder.BLOCK_LENGTH) {
            return tooShort("ANNOUNCE", length);
        }
        announce.wrap(ring, offset + WORD_LENGTH, AnnounceDecoder.BLOCK_LENGTH, AnnounceDecoder.SCHEMA_VERSION);
        ShmChannel channel = channels.up(announce.channel());
        if (channel != null) {
            long flags = announce.flags();
            long messageLength = announce.length();
            if (messageLength < 0 || messageLength > channel.limits().maxMessageBytes()) {
                connection.broken("announced a message of " + Long.toUnsignedString(messageLength) + " bytes");
                return false;
            }
            payload.set(
                announce.operation(),
                messageLength,
                announce.regionNumber(),
                announce.regionGeneration(),
                announce.regionOffset());
            channel.frameHandler().onGrant((int) announce.grant());
            channel.frameHandler().onAnnounce(
                flags(flags) | (flags & (Flags.REMOTE_CQ_DATA | Flags.FENCE | Flags.LENT)),
                announce.tag(),
                announce.data(),
                payload);
        }
        return true;
    }

    private boolean onAnnounceVector(int offset, int length) {
        AnnounceVectorDecoder frame = vectorFrames.read(ring, offset, length);
        if (frame == null) {
            return tooShort("ANNOUNCE_VECTOR", length);
        }
        ShmChannel channel = channels.up(frame.channel());
        if (channel != null) {
            long flags = frame.flags();
            long messageLength = frame.length();
            payload.begin(frame.operation());
            if (messageLength < 0 || messageLength > channel.limits().maxMessageBytes()
                || !ShmVectorFrames.readPieces(
                    ring, frame.limit(), offset + length, messageLength, payload)) {
                connection.broken("announced a message of " + Long.toUnsignedString(messageLength)
                    + " bytes whose pieces do not fit it, in a record of " + length);
                return false;
            }
            channel.frameHandler().onGrant((int) frame.grant());
            channel.frameHandler().onAnnounce(
                flags(flags) | (flags & (Flags.REMOTE_CQ_DATA | Flags.FENCE)), frame.tag(), frame.data(), payload);
        }
        return true;
    }

    private boolean onPull(int offset, int length) {
        if (length < WORD_LENGTH + PullDecoder.BLOCK_LENGTH) {
            return tooShort("PULL", length);
        }
        pull.wrap(ring, offset + WORD_LENGTH, PullDecoder.BLOCK_LENGTH, PullDecoder.SCHEMA_VERSION);
        ShmChannel channel = channels.up(pull.channel());
        if (channel != null) {
            channel.frameHandler().onGrant((int) pull.grant());
            channel.frameHandler().onSegmentsRequested(pull.operation(), pull.sink(), pull.length());
        }
        return true;
    }

    private boolean onSegment(int offset, int length) {
        if (length < SEGMENT_HEADER) {
            return tooShort("SEGMENT", length);
        }
        segment.wrap(ring, offset + WORD_LENGTH, SegmentDecoder.BLOCK_LENGTH, SegmentDecoder.SCHEMA_VERSION);
        ShmChannel channel = channels.up(segment.channel());
        if (channel != null) {
            channel.frameHandler().onGrant((int) segment.grant());
            channel.frameHandler().onSegment(
                segment.sink(),
                segment.msgOffset(),
                consumer.address(offset) + SEGMENT_HEADER,
                length - SEGMENT_HEADER);
        }
        return true;
    }

    private boolean onFinish(int offset, int length) {
        if (length < WORD_LENGTH + FinishDecoder.BLOCK_LENGTH) {
            return tooShort("FINISH", length);
        }
        finish.wrap(ring, offset + WORD_LENGTH, FinishDecoder.BLOCK_LENGTH, FinishDecoder.SCHEMA_VERSION);
        ShmChannel channel = channels.up(finish.channel());
        if (channel != null) {
            channel.frameHandler().onGrant((int) finish.grant());
            channel.frameHandler().onFinished(finish.operation(), ShmConnection.positive(finish.errno(), 0));
        }
        return true;
    }

    private boolean onParks(int length) {
        if (length < WORD_LENGTH + ParksDecoder.BLOCK_LENGTH) {
            return tooShort("PARKS", length);
        }
        connection.onPeerParks();
        return true;
    }

    private boolean onCredit(int offset, int length) {
        if (length < WORD_LENGTH + CreditDecoder.BLOCK_LENGTH) {
            return tooShort("CREDIT", length);
        }
        credit.wrap(ring, offset + WORD_LENGTH, CreditDecoder.BLOCK_LENGTH, CreditDecoder.SCHEMA_VERSION);
        ShmChannel channel = channels.up(credit.channel());
        if (channel != null) {
            channel.frameHandler().onGrant((int) credit.grant());
        }
        return true;
    }

    private boolean onOpen(int offset, int length) {
        int texts = WORD_LENGTH + OpenDecoder.BLOCK_LENGTH;
        if (length < texts) {
            return tooShort("OPEN", length);
        }
        open.wrap(ring, offset + WORD_LENGTH, OpenDecoder.BLOCK_LENGTH, OpenDecoder.SCHEMA_VERSION);
        int source = open.source();
        int shortSource = shortNumber(open.shortChannel());
        int grant = (int) open.grant();
        String sourceName = text(offset + texts, offset + length);
        int dest = offset + texts + OpenDecoder.sourceNameHeaderLength() + lengthOf(sourceName);
        String destName = sourceName == null ? null : text(dest, offset + length);
        int key = dest + OpenDecoder.destNameHeaderLength() + lengthOf(destName);
        byte[] authKey = destName == null ? null : authKey(key, offset + length);
        if (authKey == null) {
            connection.broken("sent an OPEN whose texts do not fit its length of " + length);
            return false;
        }
        connection.opening().onOpen(source, shortSource, grant, sourceName, destName, authKey);
        return true;
    }

    private boolean onOpenAck(int offset, int length) {
        if (length < WORD_LENGTH + OpenAckDecoder.BLOCK_LENGTH) {
            return tooShort("OPEN_ACK", length);
        }
        openAck.wrap(ring, offset + WORD_LENGTH, OpenAckDecoder.BLOCK_LENGTH, OpenAckDecoder.SCHEMA_VERSION);
        connection.opening().onOpenAck(
            openAck.channel(), (int) openAck.grant(), openAck.source(), shortNumber(openAck.shortChannel()),
            openAck.errno());
        return true;
    }

    private boolean onClose(int offset, int length) {
        if (length < WORD_LENGTH + CloseDecoder.BLOCK_LENGTH) {
            return tooShort("CLOSE", length);
        }
        close.wrap(ring, offset + WORD_LENGTH, CloseDecoder.BLOCK_LENGTH, CloseDecoder.SCHEMA_VERSION);
        connection.opening().onClose(close.channel(), close.errno());
        return true;
    }

    private String text(int offset, int end) {
        int start = offset + OpenDecoder.sourceNameHeaderLength();
        if (start > end) {
            return null;
        }
        int length = ring.getInt(offset);
        return length < 0 || length > end - start ? null : ring.getStringWithoutLengthAscii(start, length);
    }

    private static int lengthOf(String text) {
        return text == null ? 0 : text.length();
    }

    private byte[] authKey(int offset, int end) {
        int start = offset + OpenDecoder.authKeyHeaderLength();
        if (start > end) {
            return null;
        }
        int length = ring.getInt(offset);
        if (length < 0 || length > end - start) {
            return null;
        }
        byte[] key = new byte[length];
        ring.getBytes(start, key);
        return key;
    }

    /** The peer's short number of its channel; an invalid number counts as none. */
    static int shortNumber(long sent) {
        return sent <= SHORT_NUMBER_MASK ? (int) sent : ShmShortNumbers.NONE;
    }

    private boolean tooShort(String type, int length) {
        connection.broken("sent a record of type " + type + " with only " + length + " bytes");
        return false;
    }

    private static long flags(long flags) {
        return (flags & KIND) == Flags.TAGGED ? Flags.TAGGED : Flags.MSG;
    }
}
