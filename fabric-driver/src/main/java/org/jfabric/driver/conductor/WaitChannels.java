package org.jfabric.driver.conductor;

import java.nio.ByteBuffer;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.codec.control.MessageHeaderDecoder;
import org.jfabric.codec.control.MessageHeaderEncoder;
import org.jfabric.codec.control.WaitChannelHelloDecoder;
import org.jfabric.codec.control.WaitChannelWelcomeEncoder;
import org.jfabric.driver.resource.SystemCounter;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.layout.FileHeaderDescriptor;
import org.jfabric.layout.OwnerId;

/**
 * The sockets at which applications wait with system calls of their own: one for each completion queue, counter or wait
 * set that was opened with a wait descriptor.
 *
 * <p>The progress thread writes a byte to the socket if a thread waits; the conductor answers every byte of the client
 * with one, by which a client wakes its own threads. A descriptor is closed only when the progress thread does not use
 * it any more. Owner: conductor.
 */
final class WaitChannels {
    private static final int MAX_REASON = 512;
    private static final int WELCOME_CAPACITY = 1024;

    private final ConductorContext context;
    private final DriverConductor conductor;
    private final ClientSockets sockets;
    private final UnsafeBuffer welcome = new UnsafeBuffer(ByteBuffer.allocateDirect(WELCOME_CAPACITY));
    private int detaching;

    WaitChannels(ConductorContext context, DriverConductor conductor, ClientSockets sockets) {
        this.context = context;
        this.conductor = conductor;
        this.sockets = sockets;
    }

    /**
     * Closes the channel of an object that the progress thread does not use any more.
     *
     * @param wait of the object, or null.
     */
    void close(WaitResource wait) {
        if (wait != null && wait.channel() != null) {
            ClientSocket socket = wait.channel();
            wait.channel(null);
            // only an agent that the application runs, which is a driver's only one, has sleepers
            context.threads().get(0).agent().removeSleeper(wait.points()[0]);
            sockets.close(socket);
        }
    }

    /** Whether no descriptor waits for the progress thread before it can be closed. */
    boolean isQuiet() {
        return detaching == 0;
    }

    /** A connection's first message requests a wait channel. */
    void onHello(ClientSocket socket, DirectBuffer buffer, int length) {
        int bodyOffset = Integer.BYTES + MessageHeaderDecoder.ENCODED_LENGTH;
        String wrong = ClientSockets.wrong(
            "a wait channel", buffer, bodyOffset, length - MessageHeaderDecoder.ENCODED_LENGTH);
        if (wrong != null) {
            refuse(socket, FabricErrno.EINVAL, wrong, FileHeaderDescriptor.REMEDY);
            return;
        }
        if (length != MessageHeaderDecoder.ENCODED_LENGTH + WaitChannelHelloDecoder.BLOCK_LENGTH) {
            refuse(socket, FabricErrno.EINVAL, "a wait channel's hello has " + length + " bytes");
            return;
        }
        WaitChannelHelloDecoder hello = new WaitChannelHelloDecoder().wrap(
            buffer, bodyOffset, WaitChannelHelloDecoder.BLOCK_LENGTH, WaitChannelHelloDecoder.SCHEMA_VERSION);
        WaitResource wait = conductor.waitResource(hello.clientId(), hello.objectId(), socket.uid());
        if (wait == null || wait.token() == WaitResource.NO_CHANNEL || wait.token() != hello.token()) {
            // the same answer for all errors, so that a client cannot probe for objects of others
            refuse(socket, FabricErrno.EACCES, "a wait channel for object " + hello.objectId() + " of client "
                + hello.clientId() + ", which is not open for it");
        } else if (wait.channel() != null) {
            refuse(socket, FabricErrno.EBUSY, "a second wait channel for object " + hello.objectId() + " of client "
                + hello.clientId());
        } else {
            attach(socket, wait, conductor.isEmbedded(hello.clientId()));
        }
    }

    /** Handles bytes or the end of file at an attached channel. */
    void onReadable(ClientSocket socket) {
        if (!socket.drain()) {
            detach(socket);
            return;
        }
        socket.ring();
        sockets.rearm(socket);
    }

    private void attach(ClientSocket socket, WaitResource wait, boolean embedded) {
        wait.channel(socket);
        socket.waitResource(wait);
        context.threads().executeAll(
            thread -> {
                wait.points()[thread].channel(socket.fd());
                if (embedded) {
                    context.threads().get(thread).agent().addSleeper(wait.points()[thread]);
                }
            },
            cause -> onAttached(socket, cause));
    }

    private void onAttached(ClientSocket socket, Throwable cause) {
        if (cause != null) {
            context.log().onError(cause);
            detach(socket);
            return;
        }
        socket.onAnswered();
        if (sendWelcome(socket, 0, "")) {
            sockets.rearm(socket);
        } else {
            detach(socket);
        }
    }

    /** The client has closed the channel, but not the object. */
    private void detach(ClientSocket socket) {
        WaitResource wait = socket.waitResource();
        wait.channel(null);
        sockets.forget(socket);
        detaching++;
        context.threads().executeAll(thread -> {
            context.threads().get(thread).agent().removeSleeper(wait.points()[thread]);
            wait.points()[thread].clearChannel();
        }, cause -> {
            detaching--;
            sockets.close(socket);
            if (cause != null) {
                context.log().onError(cause);
            }
        });
    }

    private void refuse(ClientSocket socket, int errno, String reason) {
        refuse(socket, errno, reason, "Connect with a client of JFabric.");
    }

    private void refuse(ClientSocket socket, int errno, String reason, String remedy) {
        context.counters().add(SystemCounter.CONNECTIONS_REFUSED, 1);
        context.log().onError(new FabricException(errno, reason, remedy));
        sendWelcome(socket, errno, reason);
        sockets.close(socket);
    }

    private boolean sendWelcome(ClientSocket socket, int errno, String reason) {
        OwnerId owner = context.files().owner();
        WaitChannelWelcomeEncoder encoder = new WaitChannelWelcomeEncoder()
            .wrapAndApplyHeader(welcome, Integer.BYTES, new MessageHeaderEncoder())
            .magic(FileHeaderDescriptor.MAGIC).version(FileHeaderDescriptor.VERSION).errno(errno)
            .ownerIdHigh(owner.high()).ownerIdLow(owner.low())
            .reason(reason.length() > MAX_REASON ? reason.substring(0, MAX_REASON) : reason);
        int length = MessageHeaderEncoder.ENCODED_LENGTH + encoder.encodedLength();
        welcome.putInt(0, length);
        int total = Integer.BYTES + length;
        // the socket is new and empty: the kernel refuses the message only if it is out of memory
        return socket.send(welcome.addressOffset(), total);
    }
}
