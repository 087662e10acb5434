package org.jfabric.driver.link.shm;

import static org.jfabric.layout.RecordRingDescriptor.WORD_LENGTH;

import org.agrona.DirectBuffer;
import org.agrona.UnsafeApi;
import org.jfabric.codec.wire.RemoteAnnounceDecoder;
import org.jfabric.codec.wire.RemoteAtomicDecoder;
import org.jfabric.codec.wire.RemoteGrantDecoder;
import org.jfabric.codec.wire.RemoteReadDecoder;
import org.jfabric.codec.wire.RemoteReplyDecoder;
import org.jfabric.codec.wire.RemoteWriteDecoder;
import org.jfabric.driver.link.RemoteAccess;
import org.jfabric.driver.link.RemoteHandler;
import org.jfabric.driver.link.RemotePayload;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;

/**
 * Takes a peer's frames of remote memory access apart and hands them to the channels. As for all frames only the length
 * of the record is checked here; the engine checks what is asked for.
 *
 * <p>Owner: progress agent.
 */
final class ShmRemoteReader {
    private static final int WRITE_HEADER = WORD_LENGTH + RemoteWriteDecoder.BLOCK_LENGTH;
    private static final int READ_LENGTH = WORD_LENGTH + RemoteReadDecoder.BLOCK_LENGTH;
    private static final int ANNOUNCE_HEADER = WORD_LENGTH + RemoteAnnounceDecoder.BLOCK_LENGTH
        + RemoteAnnounceDecoder.PiecesDecoder.sbeHeaderSize();
    private static final int GRANT_LENGTH = WORD_LENGTH + RemoteGrantDecoder.BLOCK_LENGTH;
    private static final int ATOMIC_HEADER = WORD_LENGTH + RemoteAtomicDecoder.BLOCK_LENGTH;
    private static final int REPLY_HEADER = WORD_LENGTH + RemoteReplyDecoder.BLOCK_LENGTH;

    private final ShmConnection connection;
    private final ShmChannels channels;
    private final DirectBuffer ring;
    private final RemoteWriteDecoder write = new RemoteWriteDecoder();
    private final RemoteReadDecoder read = new RemoteReadDecoder();
    private final RemoteAtomicDecoder atomic = new RemoteAtomicDecoder();
    private final RemoteReplyDecoder reply = new RemoteReplyDecoder();
    private final RemoteAnnounceDecoder announce = new RemoteAnnounceDecoder();
    private final RemoteGrantDecoder grant = new RemoteGrantDecoder();
    private final RemoteAccess access = new RemoteAccess();
    private final RemotePayload payload = new RemotePayload();

    ShmRemoteReader(ShmConnection connection, ShmChannels channels, DirectBuffer ring) {
        this.channels = channels;
        this.connection = connection;
        this.ring = ring;
    }

    /**
     * Takes one of the frames.
     *
     * @param length bytes of the record, its word included; it lies in the ring as a whole.
     * @param record native address of its word.
     * @return false if the peer is broken and the connection was ended.
     */
    boolean onFrame(int type, int offset, int length, long record) {
        return switch (type) {
            case ShmFrameReader.REMOTE_WRITE -> onWrite(offset, length, record);
            case ShmFrameReader.REMOTE_READ -> onRead(offset, length);
            case ShmFrameReader.REMOTE_ATOMIC -> onAtomic(offset, length, record);
            case ShmFrameReader.REMOTE_ANNOUNCE -> onAnnounce(offset, length);
            case ShmFrameReader.REMOTE_GRANT -> onGrant(offset, length);
            default -> onReply(offset, length, record);
        };
    }

    private boolean onWrite(int offset, int length, long record) {
        if (length < WRITE_HEADER) {
            return tooShort("REMOTE_WRITE", length);
        }
        write.wrap(ring, offset + WORD_LENGTH, RemoteWriteDecoder.BLOCK_LENGTH, RemoteWriteDecoder.SCHEMA_VERSION);
        ShmChannel channel = channels.up(write.channel());
        if (channel == null) {
            return true;
        }
        RemoteHandler handler = channel.handler().remoteHandler();
        if (handler == null) {
            return notTaken();
        }
        long flags = write.flags() & (Flags.REMOTE_CQ_DATA | Flags.COMMIT_COMPLETE);
        access.set(
            write.operation(), flags, write.key(), write.address(), write.length(),
            (flags & Flags.REMOTE_CQ_DATA) == 0 ? 0 : write.data());
        long msgOffset = write.msgOffset();
        channel.frameHandler().onGrant((int) write.grant());
        handler.onWrite(access, msgOffset, record + WRITE_HEADER, length - WRITE_HEADER);
        return true;
    }

    /**
     * Takes a short record of remote memory access.
     *
     * @param type   of the record: {@link ShmFrameReader#SHORT_WRITE} or {@link ShmFrameReader#PLACED}.
     * @param record native address of its word.
     * @return false if the peer is broken and the connection was ended.
     */
    boolean onShort(int type, int info, int length, long record) {
        boolean isWrite = type == ShmFrameReader.SHORT_WRITE;
        if (length < (isWrite ? ShmRemote.SHORT_WRITE_HEADER : ShmRemote.PLACED_LENGTH)) {
            return tooShort(isWrite ? "SHORT_WRITE" : "PLACED", length);
        }
        ShmChannel channel = connection.shortChannel(info & ShmFrameReader.SHORT_NUMBER_MASK);
        if (channel == null) {
            return true;
        }
        RemoteHandler handler = channel.handler().remoteHandler();
        if (handler == null) {
            return notTaken();
        }
        channel.frameHandler().onGrantLines(info >>> Short.SIZE);
        if (isWrite) {
            access.set(
                UnsafeApi.getLong(record + ShmRemote.SHORT_OPERATION), 0,
                UnsafeApi.getLong(record + ShmRemote.SHORT_KEY), UnsafeApi.getLong(record + ShmRemote.SHORT_ADDRESS),
                length - ShmRemote.SHORT_WRITE_HEADER, 0).counted();
            handler.onShortWrite(access, record + ShmRemote.SHORT_WRITE_HEADER);
        } else {
            handler.onPlaced(UnsafeApi.getLong(record + ShmRemote.PLACED_COUNT));
        }
        return true;
    }

    private boolean onAnnounce(int offset, int length) {
        if (length < ANNOUNCE_HEADER) {
            return tooShort("REMOTE_ANNOUNCE", length);
        }
        announce.wrap(
            ring, offset + WORD_LENGTH, RemoteAnnounceDecoder.BLOCK_LENGTH, RemoteAnnounceDecoder.SCHEMA_VERSION);
        ShmChannel channel = channels.up(announce.channel());
        if (channel == null) {
            return true;
        }
        RemoteHandler handler = channel.handler().remoteHandler();
        if (handler == null) {
            return notTaken();
        }
        long bytes = announce.length();
        payload.begin(announce.operation());
        if (!ShmVectorFrames.readPieces(ring, announce.limit(), offset + length, bytes, payload)) {
            connection.broken("announced a write of " + Long.toUnsignedString(bytes)
                + " bytes whose pieces do not fit it, in a record of " + length);
            return false;
        }
        long flags = announce.flags() & Flags.REMOTE_CQ_DATA;
        access.set(announce.operation(), flags, announce.key(), announce.address(), bytes,
            flags == 0 ? 0 : announce.data());
        channel.frameHandler().onGrant((int) announce.grant());
        handler.onAnnouncedWrite(access, payload);
        return true;
    }

    private boolean onGrant(int offset, int length) {
        if (length < GRANT_LENGTH) {
            return tooShort("REMOTE_GRANT", length);
        }
        grant.wrap(ring, offset + WORD_LENGTH, RemoteGrantDecoder.BLOCK_LENGTH, RemoteGrantDecoder.SCHEMA_VERSION);
        ShmChannel channel = channels.up(grant.channel());
        if (channel != null) {
            channel.frameHandler().onGrant((int) grant.grant());
            channel.remote().onGrant(grant.key(), grant.regionNumber(), grant.regionGeneration(), grant.length());
        }
        return true;
    }

    private boolean onRead(int offset, int length) {
        if (length < READ_LENGTH) {
            return tooShort("REMOTE_READ", length);
        }
        read.wrap(ring, offset + WORD_LENGTH, RemoteReadDecoder.BLOCK_LENGTH, RemoteReadDecoder.SCHEMA_VERSION);
        ShmChannel channel = channels.up(read.channel());
        if (channel == null) {
            return true;
        }
        RemoteHandler handler = channel.handler().remoteHandler();
        if (handler == null) {
            return notTaken();
        }
        access.set(read.operation(), 0, read.key(), read.address(), read.length(), 0)
            .asksForGrant((read.flags() & ShmRemote.ASKS_FOR_GRANT) != 0);
        channel.frameHandler().onGrant((int) read.grant());
        handler.onRead(access);
        return true;
    }

    private boolean onAtomic(int offset, int length, long record) {
        if (length < ATOMIC_HEADER) {
            return tooShort("REMOTE_ATOMIC", length);
        }
        atomic.wrap(ring, offset + WORD_LENGTH, RemoteAtomicDecoder.BLOCK_LENGTH, RemoteAtomicDecoder.SCHEMA_VERSION);
        ShmChannel channel = channels.up(atomic.channel());
        if (channel == null) {
            return true;
        }
        RemoteHandler handler = channel.handler().remoteHandler();
        if (handler == null) {
            return notTaken();
        }
        access.atomic(atomic.operation(), atomic.form(), atomic.datatype(), atomic.atomicOperation())
            .add(atomic.key(), atomic.address(), atomic.count());
        channel.frameHandler().onGrant((int) atomic.grant());
        handler.onAtomic(access, record + ATOMIC_HEADER, length - ATOMIC_HEADER);
        return true;
    }

    private boolean onReply(int offset, int length, long record) {
        if (length < REPLY_HEADER) {
            return tooShort("REMOTE_REPLY", length);
        }
        reply.wrap(ring, offset + WORD_LENGTH, RemoteReplyDecoder.BLOCK_LENGTH, RemoteReplyDecoder.SCHEMA_VERSION);
        ShmChannel channel = channels.up(reply.channel());
        if (channel == null) {
            return true;
        }
        RemoteHandler handler = channel.handler().remoteHandler();
        if (handler == null) {
            return notTaken();
        }
        int errno = reply.errno();
        channel.frameHandler().onGrant((int) reply.grant());
        handler.onReply(
            reply.operation(),
            errno == 0 ? 0 : ShmConnection.positive(errno, FabricErrno.EIO),
            (reply.flags() & ShmRemote.REPORTS) != 0,
            reply.msgOffset(),
            record + REPLY_HEADER,
            length - REPLY_HEADER);
        return true;
    }

    private boolean tooShort(String type, int length) {
        connection.broken("sent a record of type " + type + " with only " + length + " bytes");
        return false;
    }

    private boolean notTaken() {
        connection.broken("sent a frame of remote memory access on a channel that has none");
        return false;
    }
}
