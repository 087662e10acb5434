package org.jfabric.driver.conductor;

import java.nio.ByteBuffer;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.codec.control.FileHelloDecoder;
import org.jfabric.codec.control.FileWelcomeEncoder;
import org.jfabric.codec.control.MessageHeaderDecoder;
import org.jfabric.codec.control.MessageHeaderEncoder;
import org.jfabric.driver.resource.ResourceTask;
import org.jfabric.driver.resource.SharedFile;
import org.jfabric.driver.resource.SystemCounter;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.NativeCallException;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.layout.FileHeaderDescriptor;
import org.jfabric.layout.FileType;

/**
 * Passes files of the driver to clients that cannot open them by their names, because they are of another user. Each
 * connection gets one file: its first message names it, the answer carries the descriptor, and the driver closes the
 * connection.
 *
 * <p>A user gets the files of clients of that user, with the rights that the client needs, and for reading the {@code
 * cnc}, the {@code record} and the rings that such a client reads in place. A descriptor that is open for reading only
 * cannot be opened anew for writing: the file is the driver's. Owner: conductor.
 */
final class FileRequests {
    private static final FileType[] DRIVERS_OWN = {FileType.CNC, FileType.RECORD};
    private static final int MAX_REASON = 512;
    private static final int WELCOME_CAPACITY = 1024;

    private final ConductorContext context;
    private final DriverConductor conductor;
    private final ClientSockets sockets;
    private final UnsafeBuffer welcome = new UnsafeBuffer(ByteBuffer.allocateDirect(WELCOME_CAPACITY));

    FileRequests(ConductorContext context, DriverConductor conductor, ClientSockets sockets) {
        this.context = context;
        this.conductor = conductor;
        this.sockets = sockets;
    }

    /** A connection's first message requests a file. */
    void onHello(ClientSocket socket, DirectBuffer buffer, int length) {
        int bodyOffset = Integer.BYTES + MessageHeaderDecoder.ENCODED_LENGTH;
        String wrong = ClientSockets.wrong(
            "a file request", buffer, bodyOffset, length - MessageHeaderDecoder.ENCODED_LENGTH);
        if (wrong != null) {
            refuse(socket, new FabricException(FabricErrno.EINVAL, wrong, FileHeaderDescriptor.REMEDY));
            return;
        }
        if (length != MessageHeaderDecoder.ENCODED_LENGTH + FileHelloDecoder.BLOCK_LENGTH) {
            refuse(socket, new FabricException(FabricErrno.EINVAL, "a request for a file has " + length + " bytes"));
            return;
        }
        FileHelloDecoder hello = new FileHelloDecoder().wrap(
            buffer, bodyOffset, FileHelloDecoder.BLOCK_LENGTH, FileHelloDecoder.SCHEMA_VERSION);
        for (FileType type : DRIVERS_OWN) {
            if (hello.fileType() == type.code()) {
                pass(socket, new Opening(socket, null, type.fileName(0)));
                return;
            }
        }
        if (hello.fileType() == FileType.GROUP.code()
            && conductor.readsRing(hello.clientId(), hello.fileNumber(), socket.uid())) {
            pass(socket, new Opening(socket, null, FileType.GROUP.fileName(hello.fileNumber())));
            return;
        }
        SharedFile file = conductor.fileOf(hello.clientId(), hello.fileNumber(), socket.uid());
        if (file == null || file.type().code() != hello.fileType()) {
            // the same answer for all errors, so that a user cannot probe for files of others
            refuse(socket, new FabricException(FabricErrno.EACCES, "file " + hello.fileNumber() + " of client "
                + hello.clientId() + " is not one of user " + socket.uid()));
            return;
        }
        pass(socket, new Opening(socket, file, null));
    }

    private void pass(ClientSocket socket, Opening opening) {
        socket.onAnswered();
        context.resource().submit(opening, context.inbox());
    }

    private void refuse(ClientSocket socket, FabricException reason) {
        context.counters().add(SystemCounter.CONNECTIONS_REFUSED, 1);
        context.log().onError(reason);
        sendWelcome(socket, reason.errno(), reason.getMessage());
        sockets.close(socket);
    }

    private boolean sendWelcome(ClientSocket socket, int errno, String reason) {
        FileWelcomeEncoder encoder = new FileWelcomeEncoder()
            .wrapAndApplyHeader(welcome, Integer.BYTES, new MessageHeaderEncoder())
            .magic(FileHeaderDescriptor.MAGIC).version(FileHeaderDescriptor.VERSION).errno(errno)
            .reason(reason.length() > MAX_REASON ? reason.substring(0, MAX_REASON) : reason);
        int length = MessageHeaderEncoder.ENCODED_LENGTH + encoder.encodedLength();
        welcome.putInt(0, length);
        // the socket is new and empty: the kernel refuses the message only if it is out of memory
        return socket.send(welcome.addressOffset(), Integer.BYTES + length);
    }

    /** Opens a file on a resource thread. */
    private final class Opening extends ResourceTask {
        private final ClientSocket socket;
        private final SharedFile file;
        private final String name;
        private int fd;

        /**
         * A file to be passed.
         *
         * @param file   of a client, or null.
         * @param name   of another file of the driver, which the client only reads.
         */
        Opening(ClientSocket socket, SharedFile file, String name) {
            this.socket = socket;
            this.file = file;
            this.name = name;
        }

        @Override
        protected void execute() {
            fd = file == null ? context.files().openReadOnly(name) : file.open();
        }

        @Override
        protected void onDone() {
            if (sendWelcome(socket, 0, "")) {
                socket.pass(fd);
            }
            Libc.close(fd);
            sockets.close(socket);
        }

        @Override
        protected void onFailed(Throwable cause) {
            refuse(socket, cause instanceof NativeCallException call
                ? new FabricException(call.errno(), cause.getMessage(), null, cause)
                : new FabricException(FabricErrno.EIO, "a file cannot be passed: " + cause, null, cause));
        }
    }
}
