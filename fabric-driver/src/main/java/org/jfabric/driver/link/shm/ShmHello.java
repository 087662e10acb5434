package org.jfabric.driver.link.shm;

import org.agrona.DirectBuffer;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.codec.wire.HelloDecoder;
import org.jfabric.codec.wire.HelloEncoder;
import org.jfabric.codec.wire.MessageHeaderDecoder;
import org.jfabric.codec.wire.MessageHeaderEncoder;
import org.jfabric.ffi.UnixSocket;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.layout.FileHeaderDescriptor;
import org.jfabric.layout.OwnerId;

/**
 * The first message between two drivers: it names the sender and the ring that the sender writes.
 *
 * <pre>
 *  +-----------------+----------------+-------------------------------------------+
 *  | int32 length    | message header | Hello: magic, version, cipher, owner, ring |
 *  +-----------------+----------------+-------------------------------------------+
 * </pre>
 *
 * @param owner      random id of the driver.
 * @param driverName name of the driver.
 * @param ringNumber number of the {@code .ring} file that it writes, 0 if it refuses.
 * @param ringLength bytes of that ring.
 * @param features   features beyond the first version of the wire that it supports.
 * @param threads    numbers of the progress threads of both drivers.
 * @param errno      0, or the errno with which the connection is refused.
 * @param reason     text of the refusal.
 */
record ShmHello(
    OwnerId owner, String driverName, long ringNumber, int ringLength, long features, int threads, int errno,
    String reason) {
    /** Supports messages that request an acknowledgement. */
    static final long FEATURE_ACKNOWLEDGES = 1;
    /** Supports announcements of several pieces. */
    static final long FEATURE_VECTORS = 2;
    /** Supports connection-oriented endpoints. */
    static final long FEATURE_CONNECTS = 4;
    /** Takes requests for remote memory access, and answers them. */
    static final long FEATURE_REMOTE_ACCESS = 8;
    /** Copies the bytes of announced writes. */
    static final long FEATURE_REMOTE_ANNOUNCE = 16;
    /** Reads granted regions itself. */
    static final long FEATURE_REMOTE_GRANT = 32;
    /** Takes short writes, and answers several at once. */
    static final long FEATURE_SHORT_WRITES = 64;
    /** Answers remote writes with FI_COMMIT_COMPLETE when they are on stable storage. */
    static final long FEATURE_COMMITS = 128;
    /** Has groups. */
    static final long FEATURE_GROUPS = 256;
    /** Takes the frame of a driver that has never slept and may do so from now on. */
    static final long FEATURE_PARKS = 512;
    /** The driver may have several progress threads, and knows that of the peer by the numbers of both. */
    static final long FEATURE_THREADS = 1024;
    /** Wants time stamps in the ring. */
    static final long FEATURE_STAMPS = 2048;

    private static final int MAX_LENGTH = 4096;
    private static final int LENGTH_PREFIX = 4;

    /** The numbers of two progress threads in one field. */
    static int threads(int sender, int receiver) {
        return receiver << Short.SIZE | sender;
    }

    /** The sender's progress thread. */
    int sender() {
        return threads & 0xFFFF;
    }

    /** The progress thread of the receiving driver for which the connection is. */
    int receiver() {
        return threads >>> Short.SIZE;
    }

    static ShmHello refusal(OwnerId owner, String driverName, int errno, String reason) {
        return new ShmHello(owner, driverName, 0, 0, 0, 0, errno, reason);
    }

    /** The hello of a driver of this version, which wants time stamps if it measures stages. */
    static ShmHello of(
        OwnerId owner, String driverName, long ringNumber, long ringLength, int threads, boolean wantsStamps) {
        return new ShmHello(
            owner, driverName, ringNumber, (int) ringLength,
            FEATURE_ACKNOWLEDGES | FEATURE_VECTORS | FEATURE_CONNECTS | FEATURE_REMOTE_ACCESS
                | FEATURE_REMOTE_ANNOUNCE | FEATURE_REMOTE_GRANT | FEATURE_SHORT_WRITES | FEATURE_COMMITS
                | FEATURE_GROUPS | FEATURE_PARKS | FEATURE_THREADS | (wantsStamps ? FEATURE_STAMPS : 0),
            threads, 0, "");
    }

    /** Sends the message. It is so short that a socket which does not accept all of it is broken. */
    void send(int fd) {
        int result = trySend(fd);
        if (result < 0) {
            throw new FabricException(
                FabricErrno.ECONNRESET, "the hello to a peer driver could not be sent (result " + result + ')');
        }
    }

    /** Sends the message if the peer still exists; 0 or a negative errno. */
    int trySend(int fd) {
        long memory = UnsafeApi.allocateMemory(MAX_LENGTH);
        try {
            UnsafeBuffer buffer = new UnsafeBuffer(memory, MAX_LENGTH);
            buffer.setMemory(0, MAX_LENGTH, (byte) 0);
            HelloEncoder encoder = new HelloEncoder()
                .wrapAndApplyHeader(buffer, LENGTH_PREFIX, new MessageHeaderEncoder());
            encoder.magic(FileHeaderDescriptor.MAGIC)
                .majorVersion(FileHeaderDescriptor.MAJOR_VERSION)
                .minorVersion(FileHeaderDescriptor.MINOR_VERSION)
                .cipherId(0).keyId(0).features(features)
                .ownerIdHigh(owner.high()).ownerIdLow(owner.low())
                .ringNumber(ringNumber).ringLength(ringLength).errno(errno).threads(threads)
                .driverName(driverName).reason(reason);
            int length = MessageHeaderEncoder.ENCODED_LENGTH + encoder.encodedLength();
            buffer.putInt(0, length);
            int sent = UnixSocket.send(fd, memory, LENGTH_PREFIX + length, UnixSocket.MSG_DONTWAIT);
            return sent == LENGTH_PREFIX + length ? 0 : Math.min(sent, -1);
        } finally {
            UnsafeApi.freeMemory(memory);
        }
    }

    /**
     * Receives a message after its descriptor has become readable.
     *
     * @return the message, or null if nothing has arrived yet.
     * @throws FabricException if the peer has closed the connection or sends something else.
     */
    static ShmHello receive(int fd) {
        long memory = UnsafeApi.allocateMemory(MAX_LENGTH);
        try {
            int received = UnixSocket.recv(fd, memory, MAX_LENGTH, UnixSocket.MSG_DONTWAIT);
            if (received == -FabricErrno.EAGAIN) {
                return null;
            }
            UnsafeBuffer buffer = new UnsafeBuffer(memory, MAX_LENGTH);
            int length = received <= LENGTH_PREFIX ? 0 : buffer.getInt(0);
            // doorbells may follow: a peer that answers is up, and may have written records and rung before the answer
            // is read. They are not missed, because the ring is polled once it is mapped
            if (length <= 0 || length > received - LENGTH_PREFIX) {
                throw new FabricException(
                    FabricErrno.ECONNRESET, "a peer driver closed the connection or sent no hello (" + received
                    + " bytes)");
            }
            return decode(new UnsafeBuffer(memory + LENGTH_PREFIX, length), length);
        } finally {
            UnsafeApi.freeMemory(memory);
        }
    }

    /**
     * Decodes a message, of which every byte may be wrong.
     *
     * @throws FabricException if the message is invalid; its text names the error.
     */
    static ShmHello decode(DirectBuffer buffer, int length) {
        MessageHeaderDecoder header = new MessageHeaderDecoder();
        int fixed = MessageHeaderDecoder.ENCODED_LENGTH + HelloDecoder.BLOCK_LENGTH;
        if (length < fixed + 2 * HelloDecoder.driverNameHeaderLength()) {
            throw new FabricException(FabricErrno.EIO, "a peer driver's hello has only " + length + " bytes");
        }
        header.wrap(buffer, 0);
        if (header.schemaId() != HelloDecoder.SCHEMA_ID || header.templateId() != HelloDecoder.TEMPLATE_ID
            || header.blockLength() < HelloDecoder.BLOCK_LENGTH) {
            throw new FabricException(FabricErrno.EIO, "a peer driver's first message is not a hello (schema "
                + header.schemaId() + ", template " + header.templateId() + ')');
        }
        HelloDecoder hello = new HelloDecoder().wrap(
            buffer, MessageHeaderDecoder.ENCODED_LENGTH, header.blockLength(), header.version());
        if (hello.magic() != FileHeaderDescriptor.MAGIC
            || hello.majorVersion() != FileHeaderDescriptor.MAJOR_VERSION) {
            throw new FabricException(
                FabricErrno.EIO,
                "a peer driver uses version " + hello.majorVersion() + '.' + hello.minorVersion()
                    + " of the wire, this one " + FileHeaderDescriptor.MAJOR_VERSION + '.'
                    + FileHeaderDescriptor.MINOR_VERSION,
                "Use the same major version of JFabric on both sides");
        }
        if (hello.cipherId() != 0) {
            throw new FabricException(
                FabricErrno.EIO, "a peer driver requests cipher " + hello.cipherId() + ", which is not supported here");
        }
        OwnerId owner = new OwnerId(hello.ownerIdHigh(), hello.ownerIdLow());
        long ring = hello.ringNumber();
        long ringLength = hello.ringLength();
        long features = hello.features();
        int threads = hello.threads();
        int errno = hello.errno();
        String name = text(buffer, hello.limit(), length);
        String reason = text(buffer, hello.limit() + HelloDecoder.driverNameHeaderLength() + name.length(), length);
        return new ShmHello(owner, name, ring, (int) Math.min(ringLength, Integer.MAX_VALUE), features, threads, errno,
            reason);
    }

    private static String text(DirectBuffer buffer, int offset, int end) {
        int start = offset + HelloDecoder.driverNameHeaderLength();
        if (start > end) {
            throw new FabricException(FabricErrno.EIO, "a peer driver's hello is cut off");
        }
        int length = buffer.getInt(offset);
        if (length < 0 || length > end - start) {
            throw new FabricException(FabricErrno.EIO, "a peer driver's hello holds a text of " + length + " bytes");
        }
        return buffer.getStringWithoutLengthAscii(start, length);
    }
}
