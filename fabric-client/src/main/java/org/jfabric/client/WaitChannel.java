package org.jfabric.client;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.codec.control.MessageHeaderDecoder;
import org.jfabric.codec.control.MessageHeaderEncoder;
import org.jfabric.codec.control.WaitChannelHelloEncoder;
import org.jfabric.codec.control.WaitChannelWelcomeDecoder;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.layout.FileHeaderDescriptor;
import org.jfabric.layout.OwnerId;

/**
 * A socket at which an application waits with system calls of its own. The driver writes a byte there when somebody
 * waits; what the client writes the driver sends back, by which the client wakes itself.
 *
 * <p>Any thread; nothing here allocates after the channel is open.
 */
public final class WaitChannel implements AutoCloseable {
    private static final int MAX_MESSAGE_LENGTH = 1024;
    private static final int DRAIN_LENGTH = 256;

    private final SocketChannel socket;
    private final ByteBuffer drained = ByteBuffer.allocateDirect(DRAIN_LENGTH);
    private final ByteBuffer ring = ByteBuffer.allocateDirect(1);

    private WaitChannel(SocketChannel socket) {
        this.socket = socket;
    }

    /**
     * Opens a channel; blocks until the driver has answered, also if the thread is interrupted, which it stays.
     *
     * @param objectId   completion queue or wait set.
     * @param deadlineNs when the driver must have answered, by {@link System#nanoTime()}.
     * @param cycle      runs the embedded driver, which answers in no other way; null for a driver with threads.
     * @return a channel that is not readable.
     * @throws FabricException {@link FabricErrno#ETIMEDOUT}, {@link FabricErrno#ENODEV} if the driver is gone,
     *     {@link FabricErrno#EMFILE} if there is no descriptor, or why it refuses.
     */
    public static WaitChannel open(
        Attachment attachment, long objectId, long token, long deadlineNs, Runnable cycle) {
        boolean[] interrupted = {Thread.interrupted()};
        try {
            for (;;) {
                try {
                    return open(attachment, objectId, token, deadlineNs, cycle, interrupted);
                } catch (ClosedByInterruptException again) {
                    // of the connect, before the driver has got anything
                    interrupted[0] |= Thread.interrupted();
                }
            }
        } finally {
            if (interrupted[0]) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static WaitChannel open(
        Attachment attachment, long objectId, long token, long deadlineNs, Runnable cycle, boolean[] interrupted)
        throws ClosedByInterruptException {
        SocketChannel socket = null;
        boolean opened = false;
        try {
            socket = SocketChannel.open(StandardProtocolFamily.UNIX);
            socket.connect(
                UnixDomainSocketAddress.of(attachment.directory().resolve(DefaultDirectory.SOCKET_NAME)));
            socket.configureBlocking(false);
            send(socket, attachment.clientId(), objectId, token);
            UnsafeBuffer message = receive(socket, deadlineNs, cycle, interrupted);
            check(attachment, message);
            opened = true;
            return new WaitChannel(socket);
        } catch (ClosedByInterruptException early) {
            throw early;
        } catch (IOException failed) {
            if (isWithoutDescriptors()) {
                throw new FabricException(FabricErrno.EMFILE, "there is no descriptor for a wait channel: " + failed,
                    "Close some files, or raise the limit (ulimit -n).", failed);
            }
            throw new FabricException(FabricErrno.ENODEV, "the driver in " + attachment.directory()
                + " takes no wait channel: " + failed, "If it has ended, connect to another one.", failed);
        } finally {
            if (!opened && socket != null) {
                close(socket);
            }
        }
    }

    /** Whether what {@link #receive} needs besides the socket cannot be had; the exception has only a text. */
    private static boolean isWithoutDescriptors() {
        try {
            Selector.open().close();
            return false;
        } catch (IOException none) {
            return true;
        }
    }

    /** The channel that the application registers with a selector. */
    public SocketChannel socket() {
        return socket;
    }

    /** Takes the bytes that are there. Returns false at the end of file, which stays readable. */
    public boolean drain() {
        synchronized (drained) {
            try {
                int count;
                do {
                    drained.clear();
                    count = socket.read(drained);
                } while (count == DRAIN_LENGTH);
                return count >= 0;
            } catch (IOException broken) {
                return false;
            }
        }
    }

    /** Lets the driver make this channel readable. A full channel needs no byte, a broken one is readable. */
    public void ring() {
        synchronized (ring) {
            try {
                ring.clear();
                socket.write(ring);
            } catch (IOException broken) {
                return;
            }
        }
    }

    /** Closes the socket; a selector that waits for it is woken first. Has no effect if it is already closed. */
    @Override
    public void close() {
        try {
            // a selector keeps the descriptor until its next selection, and must come to that
            socket.shutdownInput();
        } catch (IOException broken) {
            // closed already, or readable because the driver is gone
            close(socket);
            return;
        }
        close(socket);
    }

    private static void send(SocketChannel socket, long clientId, long objectId, long token) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(MAX_MESSAGE_LENGTH);
        UnsafeBuffer buffer = new UnsafeBuffer(bytes);
        WaitChannelHelloEncoder hello = new WaitChannelHelloEncoder()
            .wrapAndApplyHeader(buffer, Integer.BYTES, new MessageHeaderEncoder())
            .magic(FileHeaderDescriptor.MAGIC).version(FileHeaderDescriptor.VERSION).reserved(0)
            .clientId(clientId).objectId(objectId).token(token);
        int length = MessageHeaderEncoder.ENCODED_LENGTH + hello.encodedLength();
        buffer.putInt(0, length, ByteOrder.LITTLE_ENDIAN);
        bytes.limit(Integer.BYTES + length);
        // a fresh socket has room for far more than this
        if (socket.write(bytes) != bytes.limit()) {
            throw new IOException("it took " + bytes.position() + " of " + bytes.limit() + " bytes of the hello");
        }
    }

    private static UnsafeBuffer receive(
        SocketChannel socket, long deadlineNs, Runnable cycle, boolean[] interrupted) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(MAX_MESSAGE_LENGTH).order(ByteOrder.LITTLE_ENDIAN);
        try (Selector selector = Selector.open()) {
            socket.register(selector, SelectionKey.OP_READ);
            // not a byte more than the message: what follows are wake-ups
            int wanted = Integer.BYTES;
            bytes.limit(wanted);
            while (bytes.hasRemaining() || wanted == Integer.BYTES) {
                if (!bytes.hasRemaining()) {
                    int length = bytes.getInt(0);
                    if (length < MessageHeaderDecoder.ENCODED_LENGTH || length > MAX_MESSAGE_LENGTH - Integer.BYTES) {
                        throw new IOException("it answered a message of " + length + " bytes");
                    }
                    wanted += length;
                    bytes.limit(wanted);
                }
                int count = socket.read(bytes);
                if (count < 0) {
                    throw new IOException("it closed the connection during the hello");
                }
                if (count == 0) {
                    // else the next wait would be none
                    interrupted[0] |= Thread.interrupted();
                    select(selector, deadlineNs, cycle);
                }
            }
        }
        return new UnsafeBuffer(bytes.array(), Integer.BYTES, bytes.position() - Integer.BYTES);
    }

    private static void select(Selector selector, long deadlineNs, Runnable cycle) throws IOException {
        long leftNs = deadlineNs - System.nanoTime();
        if (leftNs <= 0) {
            throw new FabricException(FabricErrno.ETIMEDOUT, "the driver did not answer the hello of a wait channel",
                "Check whether the driver is stopped or overloaded, or allow more time by commandTimeoutNs.");
        }
        if (cycle != null) {
            cycle.run();
            return;
        }
        selector.select(TimeUnit.NANOSECONDS.toMillis(leftNs) + 1);
        selector.selectedKeys().clear();
    }

    private static void check(Attachment attachment, UnsafeBuffer message) throws IOException {
        MessageHeaderDecoder header = new MessageHeaderDecoder().wrap(message, 0);
        int block = MessageHeaderDecoder.ENCODED_LENGTH;
        if (header.schemaId() != WaitChannelWelcomeDecoder.SCHEMA_ID
            || header.templateId() != WaitChannelWelcomeDecoder.TEMPLATE_ID
            || header.blockLength() != WaitChannelWelcomeDecoder.BLOCK_LENGTH
            || header.blockLength() > message.capacity() - block) {
            throw new IOException("it answered template " + header.templateId() + " of schema " + header.schemaId());
        }
        WaitChannelWelcomeDecoder welcome = new WaitChannelWelcomeDecoder()
            .wrap(message, block, WaitChannelWelcomeDecoder.BLOCK_LENGTH, WaitChannelWelcomeDecoder.SCHEMA_VERSION);
        String reason = new FieldReader(message, block + header.blockLength(), message.capacity()).utf8();
        if (welcome.errno() != 0) {
            throw new FabricException(welcome.errno(), "the driver refuses a wait channel: " + reason);
        }
        OwnerId owner = new OwnerId(welcome.ownerIdHigh(), welcome.ownerIdLow());
        if (welcome.magic() != FileHeaderDescriptor.MAGIC || !owner.equals(attachment.driverOwner())) {
            throw new IOException("there is driver " + owner + " now, connected is " + attachment.driverOwner());
        }
    }

    private static void close(SocketChannel socket) {
        try {
            socket.close();
        } catch (IOException failed) {
            throw new FabricException(FabricErrno.EIO, "a wait channel could not be closed: " + failed, "", failed);
        }
    }
}
