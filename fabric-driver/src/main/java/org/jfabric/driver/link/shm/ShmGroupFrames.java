package org.jfabric.driver.link.shm;

import static org.jfabric.layout.RecordRingDescriptor.WORD_LENGTH;

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
import org.jfabric.driver.link.support.FabricName;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * The frames of groups on the connection to one other driver, in both directions.
 *
 * <pre>
 *   reader's driver                               writer's driver
 *   GROUP_JOIN(join, endpoint, group) ──────────▶
 *   ◀────── GROUP_JOINED(join, member, ring, position)   or an errno
 *   GROUP_POSITION(member, position) ───────────▶        each eighth of the ring
 *   GROUP_END(member) ──────────────────────────▶        the endpoint has left
 *   ◀────── GROUP_END(join, errno, position)             the writer has left, or has removed the reader
 * </pre>
 *
 * <p>Owner: progress agent.
 */
final class ShmGroupFrames {
    private static final int LOSSY = 1;
    private static final int MAY_OVERRUN = 2;

    private final ShmConnection connection;
    private final ShmGroups groups;
    private final GroupPositionEncoder positionEncoder = new GroupPositionEncoder();
    private final GroupPositionDecoder positionDecoder = new GroupPositionDecoder();

    ShmGroupFrames(ShmConnection connection, ShmGroups groups) {
        this.connection = connection;
        this.groups = groups;
    }

    // ---- reader's driver ----

    void join(ShmGroupJoin join) {
        if (join.isOver()) {
            return;
        }
        byte[] key = join.endpoint().authKey();
        String source = join.endpoint().address();
        int length = WORD_LENGTH + GroupJoinEncoder.BLOCK_LENGTH + 3 * GroupJoinEncoder.sourceNameHeaderLength()
            + source.length() + join.group().length() + key.length;
        int offset = connection.claim(length);
        if (offset < 0) {
            connection.later(() -> join(join));
            return;
        }
        new GroupJoinEncoder().wrap(connection.ring(), offset + WORD_LENGTH).join(join.id()).reserved(0)
            .sourceName(source).groupName(join.group()).putAuthKey(key, 0, key.length);
        connection.commit(offset, length, ShmFrameReader.GROUP_JOIN);
    }

    /** Reports a member's position to the writer; false if there is no room. */
    boolean report(ShmGroupMember member) {
        int length = WORD_LENGTH + GroupPositionEncoder.BLOCK_LENGTH;
        int offset = connection.claim(length);
        if (offset < 0) {
            return false;
        }
        positionEncoder.wrap(connection.ring(), offset + WORD_LENGTH).member(member.remoteId()).reserved(0)
            .position(member.position());
        connection.commit(offset, length, ShmFrameReader.GROUP_POSITION);
        return true;
    }

    /** A member of this driver has left. */
    void leave(int remoteId) {
        end(remoteId, 0, 0);
    }

    // ---- writer's driver ----

    /** The membership of a reader ends, once it has read everything up to that position. */
    void end(ShmGroupReader reader, int errno, long position) {
        groups.forget(reader);
        end(reader.remoteId(), errno, position);
    }

    private void end(int id, int errno, long position) {
        if (connection.state() != ShmConnection.UP) {
            return;
        }
        int length = WORD_LENGTH + GroupEndEncoder.BLOCK_LENGTH;
        int offset = connection.claim(length);
        if (offset < 0) {
            connection.later(() -> end(id, errno, position));
            return;
        }
        new GroupEndEncoder().wrap(connection.ring(), offset + WORD_LENGTH).member(id).errno(errno).position(position);
        connection.commit(offset, length, ShmFrameReader.GROUP_END);
    }

    private void answer(int join, String source, String name, byte[] key) {
        ShmGroup group = groups.find(name);
        int errno = groups.refusal(group, connection, source, key);
        String writer = errno == 0 ? group.writer().address() : "";
        int length = WORD_LENGTH + GroupJoinedEncoder.BLOCK_LENGTH + GroupJoinedEncoder.writerNameHeaderLength()
            + writer.length();
        int offset = connection.claim(length);
        if (offset < 0) {
            connection.later(() -> answer(join, source, name, key));
            return;
        }
        GroupJoinedEncoder encoder = new GroupJoinedEncoder().wrap(connection.ring(), offset + WORD_LENGTH)
            .join(join).errno(errno);
        if (errno != 0) {
            encoder.member(0).flags(0).ringNumber(0).ringLength(0).position(0).sequence(0);
        } else {
            ShmGroupReader reader = groups.add(group, source, connection, join);
            encoder.member(reader.id())
                .flags((group.isLossy() ? LOSSY : 0) | (group.mayOverrun() ? MAY_OVERRUN : 0))
                .ringNumber(group.ring().number()).ringLength(group.ring().capacity())
                .position(group.position()).sequence(group.sequence());
        }
        encoder.writerName(writer);
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
                    return onPosition(positionDecoder.member(), positionDecoder.position());
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
        int join = new GroupJoinDecoder().wrap(
            ring, block, GroupJoinDecoder.BLOCK_LENGTH, GroupJoinDecoder.SCHEMA_VERSION).join();
        FieldReader texts = new FieldReader(ring, block + GroupJoinDecoder.BLOCK_LENGTH, end);
        String source = texts.ascii();
        String name = texts.ascii();
        answer(join, source, name, texts.bytes());
    }

    private void takeJoined(DirectBuffer ring, int block, int end) {
        GroupJoinedDecoder joined = new GroupJoinedDecoder().wrap(
            ring, block, GroupJoinedDecoder.BLOCK_LENGTH, GroupJoinedDecoder.SCHEMA_VERSION);
        int join = joined.join();
        int errno = joined.errno();
        int member = joined.member();
        long flags = joined.flags();
        long ringNumber = joined.ringNumber();
        long ringLength = joined.ringLength();
        long position = joined.position();
        long sequence = joined.sequence();
        String writer = new FieldReader(ring, block + GroupJoinedDecoder.BLOCK_LENGTH, end).ascii();
        ShmGroupJoin pending = groups.pending(join, connection);
        if (pending == null || pending.isAnswered()) {
            if (errno == 0) {
                // the endpoint was closed before the answer arrived
                leave(member);
            }
        } else if (errno == 0 && !connection.peerName().equals(FabricName.driverOf(writer))) {
            throw new FabricException(FabricErrno.EIO, "the writer of the group is " + writer);
        } else if (errno != 0) {
            groups.refused(pending, ShmConnection.positive(errno, FabricErrno.ECONNREFUSED));
        } else {
            pending.answered(member, writer, (flags & LOSSY) != 0, (flags & (LOSSY | MAY_OVERRUN)) != 0, position,
                sequence);
            groups.map(pending, ringNumber, ringLength);
        }
    }

    private void takeEnd(DirectBuffer ring, int block) {
        GroupEndDecoder end = new GroupEndDecoder().wrap(
            ring, block, GroupEndDecoder.BLOCK_LENGTH, GroupEndDecoder.SCHEMA_VERSION);
        groups.onEnd(connection, end.member(), ShmConnection.positive(end.errno(), 0), end.position());
    }

    private boolean onPosition(int member, long position) {
        ShmGroupReader reader = groups.reader(member, connection);
        if (reader != null && !reader.group().onPosition(reader, position)) {
            connection.broken("reported position " + position + " of a group's ring, which is impossible");
            return false;
        }
        return true;
    }
}
