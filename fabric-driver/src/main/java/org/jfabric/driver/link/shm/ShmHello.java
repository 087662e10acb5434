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
 * @param ringNumber  number of the {@code .ring} file that it writes, 0 if it refuses.
 * @param wantsStamps whether it wants time stamps in the ring of the other one, because it measures stages.
 * @param threads     numbers of the progress threads of both drivers.
 * @param errno       0, or the errno with which the connection is refused.
 */
record ShmHello(
    OwnerId owner, String driverName, long ringNumber, int ringLength, boolean wantsStamps, int threads, int errno,
    String reason) {
    /** Setting: wants time stamps in the ring. */
    private static final long WANTS_STAMPS = 1;
    /** Bytes up to the version, which are the same in all versions. */
    private static final int VERSION_END =
        MessageHeaderDecoder.ENCODED_LENGTH + HelloDecoder.versionEncodingOffset() + Integer.BYTES;
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
        return new ShmHello(owner, driverName, 0, 0, false, 0, errno, reason);
    }

    static ShmHello of(
        OwnerId owner, String driverName, long ringNumber, long ringLength, int threads, boolean wantsStamps) {
        return new ShmHello(owner, driverName, ringNumber, (int) ringLength, wantsStamps, threads, 0, "");
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
                .version(FileHeaderDescriptor.VERSION)
                .cipherId(0).keyId(0).settings(wantsStamps ? WANTS_STAMPS : 0)
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
        if (length < VERSION_END) {
            throw new FabricException(FabricErrno.EIO, "a peer driver's hello has only " + length + " bytes");
        }
        header.wrap(buffer, 0);
        if (header.schemaId() != HelloDecoder.SCHEMA_ID || header.templateId() != HelloDecoder.TEMPLATE_ID) {
            throw new FabricException(FabricErrno.EIO, "a peer driver's first message is not a hello (schema "
                + header.schemaId() + ", template " + header.templateId() + ')');
        }
        HelloDecoder hello = new HelloDecoder().wrap(
            buffer, MessageHeaderDecoder.ENCODED_LENGTH, HelloDecoder.BLOCK_LENGTH, HelloDecoder.SCHEMA_VERSION);
        if (hello.magic() != FileHeaderDescriptor.MAGIC) {
            throw new FabricException(
                FabricErrno.EIO, "a peer driver's magic is 0x" + Long.toHexString(hello.magic()));
        }
        // before anything that another version may have elsewhere
        if (hello.version() != FileHeaderDescriptor.VERSION) {
            throw new FabricException(
                FabricErrno.EIO, "a peer driver uses version " + hello.version() + " of the wire, this one "
                + FileHeaderDescriptor.VERSION, FileHeaderDescriptor.REMEDY);
        }
        int fixed = MessageHeaderDecoder.ENCODED_LENGTH + HelloDecoder.BLOCK_LENGTH;
        if (header.blockLength() != HelloDecoder.BLOCK_LENGTH
            || length < fixed + 2 * HelloDecoder.driverNameHeaderLength()) {
            throw new FabricException(FabricErrno.EIO, "a peer driver's hello has only " + length + " bytes, "
                + header.blockLength() + " of them fields");
        }
        if (hello.cipherId() != 0) {
            throw new FabricException(
                FabricErrno.EIO, "a peer driver requests cipher " + hello.cipherId() + ", which is not supported here");
        }
        OwnerId owner = new OwnerId(hello.ownerIdHigh(), hello.ownerIdLow());
        long ring = hello.ringNumber();
        long ringLength = hello.ringLength();
        boolean wantsStamps = (hello.settings() & WANTS_STAMPS) != 0;
        int threads = hello.threads();
        int errno = hello.errno();
        String name = text(buffer, hello.limit(), length);
        String reason = text(buffer, hello.limit() + HelloDecoder.driverNameHeaderLength() + name.length(), length);
        return new ShmHello(
            owner, name, ring, (int) Math.min(ringLength, Integer.MAX_VALUE), wantsStamps, threads, errno, reason);
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
