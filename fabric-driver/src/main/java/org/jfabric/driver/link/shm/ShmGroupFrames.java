package org.jfabric.driver.link.shm;

import static org.jfabric.layout.RecordRingDescriptor.WORD_LENGTH;

import java.nio.charset.StandardCharsets;
import java.util.UUID;
import org.agrona.DirectBuffer;
import org.jfabric.client.FieldReader;
import org.jfabric.codec.wire.GroupEndDecoder;
import org.jfabric.codec.wire.GroupEndEncoder;
import org.jfabric.codec.wire.GroupJoinDecoder;
import org.jfabric.codec.wire.GroupJoinEncoder;
import org.jfabric.codec.wire.GroupJoinedDecoder;
import org.jfabric.codec.wire.GroupJoinedEncoder;
import org.jfabric.codec.wire.GroupPositionDecoder;
import org.jfabric.codec.wire.GroupPositionEncoder;
import org.jfabric.driver.stream.GroupAnswer;
import org.jfabric.driver.stream.GroupRequest;
import org.jfabric.driver.stream.Groups;
import org.jfabric.driver.stream.GroupWire;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.LogPosition;
import org.jfabric.layout.OwnerId;

/**
 * The frames of groups on the connection to one other driver, in both directions.
 *
 * <pre>
 *   reader's driver                               writer's driver
 *   GROUP_JOIN(join, endpoint, group) ──────────▶
 *   ◀────── GROUP_JOINED(join, member, ring, offset, position)   or an errno
 *   GROUP_POSITION(member, offset, position) ───▶        each eighth of the ring
 *   GROUP_END(member) ──────────────────────────▶        the endpoint has left
 *   ◀────── GROUP_END(join, errno, offset)             the writer has left, or has removed the reader
 * </pre>
 *
 * <p>Owner: progress agent.
 */
final class ShmGroupFrames extends GroupWire {
    private static final int LOSSY = 1;
    private static final int MAY_OVERRUN = 2;

    private final ShmConnection connection;
    private final Groups groups;
    private final GroupPositionEncoder positionEncoder = new GroupPositionEncoder();
    private final GroupPositionDecoder positionDecoder = new GroupPositionDecoder();

    ShmGroupFrames(ShmConnection connection, Groups groups) {
        this.connection = connection;
        this.groups = groups;
    }

    @Override
    public String peerName() {
        return connection.peerName();
    }

    @Override
    public boolean isUp() {
        return connection.state() == ShmConnection.UP;
    }

    @Override
    public int directoryFd() {
        return connection.files().peerDirectoryFd();
    }

    @Override
    public OwnerId owner() {
        return connection.files().peerOwner();
    }

    @Override
    public void written() {
        connection.written();
    }

    @Override
    public void join(GroupRequest request) {
        int length = WORD_LENGTH + GroupJoinEncoder.BLOCK_LENGTH + 3 * GroupJoinEncoder.sourceNameHeaderLength()
            + request.source().length() + request.group().length() + request.authKey().length;
        int offset = connection.claim(length);
        if (offset < 0) {
            connection.later(() -> join(request));
            return;
        }
        new GroupJoinEncoder().wrap(connection.ring(), offset + WORD_LENGTH).join(request.join())
            .term(request.from() == null ? 0 : request.from().term())
            .position(request.from() == null ? 0 : request.from().position())
            .logIdHigh(request.from() == null ? 0 : request.from().logId().getMostSignificantBits())
            .logIdLow(request.from() == null ? 0 : request.from().logId().getLeastSignificantBits())
            .sourceName(request.source()).groupName(request.group())
            .putAuthKey(request.authKey(), 0, request.authKey().length);
        connection.commit(offset, length, ShmFrameReader.GROUP_JOIN);
    }

    @Override
    public boolean report(int member, long offset, long position) {
        int length = WORD_LENGTH + GroupPositionEncoder.BLOCK_LENGTH;
        int claimed = connection.claim(length);
        if (claimed < 0) {
            return false;
        }
        positionEncoder.wrap(connection.ring(), claimed + WORD_LENGTH).member(member).reserved(0).recordOffset(offset)
            .position(position);
        connection.commit(claimed, length, ShmFrameReader.GROUP_POSITION);
        return true;
    }

    @Override
    public void end(int id, int errno, long offset) {
        if (!isUp()) {
            return;
        }
        int length = WORD_LENGTH + GroupEndEncoder.BLOCK_LENGTH;
        int claimed = connection.claim(length);
        if (claimed < 0) {
            connection.later(() -> end(id, errno, offset));
            return;
        }
        new GroupEndEncoder().wrap(connection.ring(), claimed + WORD_LENGTH).member(id)
            .errno(errno).recordOffset(offset);
        connection.commit(claimed, length, ShmFrameReader.GROUP_END);
    }

    private void answer(int join, GroupAnswer answer) {
        byte[] log = answer.log().getBytes(StandardCharsets.UTF_8);
        int length = WORD_LENGTH + GroupJoinedEncoder.BLOCK_LENGTH + GroupJoinedEncoder.writerNameHeaderLength()
            + answer.writer().length() + GroupJoinedEncoder.logHeaderLength() + log.length;
        int offset = connection.claim(length);
        if (offset < 0) {
            connection.later(() -> answer(join, answer));
            return;
        }
        LogPosition start = answer.start();
        new GroupJoinedEncoder().wrap(connection.ring(), offset + WORD_LENGTH)
            .join(join).errno(answer.errno()).member(answer.member())
            .flags((answer.isLossy() ? LOSSY : 0) | (answer.mayOverrun() ? MAY_OVERRUN : 0))
            .ringNumber(answer.ringNumber()).ringLength(answer.ringLength())
            .recordOffset(answer.offset()).position(start == null ? 0 : start.position()).end(answer.end())
            .logIdHigh(start == null ? 0 : start.logId().getMostSignificantBits())
            .logIdLow(start == null ? 0 : start.logId().getLeastSignificantBits())
            .term(start == null ? 0 : start.term()).reserved(0).writerName(answer.writer()).putLog(log, 0, log.length);
        connection.commit(offset, length, ShmFrameReader.GROUP_JOINED);
    }

    // ---- frames ----

    /** Processes one of the four frames; false if the peer has violated the protocol and the connection was ended. */
    boolean onFrame(DirectBuffer ring, int type, int offset, int length) {
        int block = offset + WORD_LENGTH;
        int blockLength = switch (type) {
            case ShmFrameReader.GROUP_JOIN -> GroupJoinDecoder.BLOCK_LENGTH;
            case ShmFrameReader.GROUP_JOINED -> GroupJoinedDecoder.BLOCK_LENGTH;
            case ShmFrameReader.GROUP_POSITION -> GroupPositionDecoder.BLOCK_LENGTH;
            default -> GroupEndDecoder.BLOCK_LENGTH;
        };
        if (length < WORD_LENGTH + blockLength) {
            connection.broken("sent a record of type " + type + " that does not fit into its " + length + " bytes");
            return false;
        }
        try {
            switch (type) {
                case ShmFrameReader.GROUP_JOIN -> takeJoin(ring, block, offset + length);
                case ShmFrameReader.GROUP_JOINED -> takeJoined(ring, block, offset + length);
                case ShmFrameReader.GROUP_POSITION -> {
                    positionDecoder.wrap(
                        ring, block, GroupPositionDecoder.BLOCK_LENGTH, GroupPositionDecoder.SCHEMA_VERSION);
                    return onPosition(
                        positionDecoder.member(), positionDecoder.recordOffset(), positionDecoder.position());
                }
                default -> takeEnd(ring, block);
            }
        } catch (FabricException e) {
            connection.broken("sent a record of type " + type + " with impossible contents: " + e.getMessage());
            return false;
        }
        return true;
    }

    private void takeJoin(DirectBuffer ring, int block, int end) {
        GroupJoinDecoder asked = new GroupJoinDecoder().wrap(
            ring, block, GroupJoinDecoder.BLOCK_LENGTH, GroupJoinDecoder.SCHEMA_VERSION);
        int join = asked.join();
        int term = asked.term();
        LogPosition from = term == 0 ? null
            : new LogPosition(new UUID(asked.logIdHigh(), asked.logIdLow()), term, asked.position());
        FieldReader texts = new FieldReader(ring, block + GroupJoinDecoder.BLOCK_LENGTH, end);
        GroupRequest request = new GroupRequest(join, texts.ascii(), texts.ascii(), texts.bytes(), from);
        answer(join, groups.onRequest(this, request));
    }

    private void takeJoined(DirectBuffer ring, int block, int end) {
        GroupJoinedDecoder joined = new GroupJoinedDecoder().wrap(
            ring, block, GroupJoinedDecoder.BLOCK_LENGTH, GroupJoinedDecoder.SCHEMA_VERSION);
        int errno = joined.errno();
        long flags = joined.flags();
        int term = joined.term();
        if (errno == 0 && term == 0) {
            throw new FabricException(FabricErrno.EIO, "a group without a log");
        }
        LogPosition start = term == 0 ? null
            : new LogPosition(new UUID(joined.logIdHigh(), joined.logIdLow()), term, joined.position());
        FieldReader texts = new FieldReader(ring, block + GroupJoinedDecoder.BLOCK_LENGTH, end);
        groups.onAnswer(this, joined.join(), new GroupAnswer(
            errno == 0 ? 0 : ShmConnection.positive(errno, FabricErrno.ECONNREFUSED), joined.member(),
            (flags & LOSSY) != 0, (flags & (LOSSY | MAY_OVERRUN)) != 0, joined.ringNumber(), joined.ringLength(),
            joined.recordOffset(), start, joined.end(), texts.ascii(),
            new String(texts.bytes(), StandardCharsets.UTF_8)));
    }

    private void takeEnd(DirectBuffer ring, int block) {
        GroupEndDecoder end = new GroupEndDecoder().wrap(
            ring, block, GroupEndDecoder.BLOCK_LENGTH, GroupEndDecoder.SCHEMA_VERSION);
        groups.onEnd(this, end.member(), ShmConnection.positive(end.errno(), 0), end.recordOffset());
    }

    private boolean onPosition(int member, long offset, long position) {
        boolean isPossible = groups.onPosition(this, member, offset, position);
        if (!isPossible) {
            connection.broken("reported offset " + offset + " and position " + position
                + " of a group's ring, which is impossible");
        }
        return isPossible;
    }
}
