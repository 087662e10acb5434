package org.jfabric.driver.link.tcp.tls;

import java.nio.ByteBuffer;
import java.nio.channels.SelectableChannel;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.Status;
import javax.net.ssl.SSLException;
import org.agrona.UnsafeApi;
import org.jfabric.driver.link.tcp.SecurePort;
import org.jfabric.driver.link.tcp.TcpPort;
import org.jfabric.driver.resource.FaultPoint;
import org.jfabric.driver.tls.TlsFailure;
import org.jfabric.driver.tls.TlsIdentity;
import org.jfabric.ffi.IoVector;
import org.jfabric.ffi.SocketClass;
import org.jfabric.ffi.TcpSocket;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.SocketName;

/**
 * A socket whose bytes are records of TLS 1.3, by the JDK's {@link SSLEngine}.
 *
 * <p>A call that sends seals bytes and writes the records. If the system does not accept all records, the bytes of the
 * last ones are not reported as sent yet: the caller repeats them, as after any incomplete write, and they are reported
 * when their records are written. They are not sealed again.
 *
 * <p>Owner: as {@link TcpPort}; {@link #runTask()} by a resource thread, while no other method but {@link #close()} is
 * called.
 */
final class TlsPort extends SecurePort {
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);
    private static final long ARRAY = UnsafeApi.arrayBaseOffset(byte[].class);
    /** First byte of each record: change of cipher, alert, handshake, data. */
    private static final int FIRST_TYPE = 20;
    private static final int LAST_TYPE = 23;
    private static final int PROGRESS = -4;

    private final TcpPort socket;
    private final TlsResources resources;
    private final boolean isClient;
    private SSLEngine engine;
    private TlsBuffers buffers;
    /** Bytes of the caller that are sealed in {@link TlsBuffers#out} and not reported as sent yet. */
    private long sealed;
    private boolean isTasking;
    /** A memory fault has interrupted a copy of bytes to be sent. */
    private boolean isGathering;
    /** A memory fault has interrupted a copy of received bytes. */
    private boolean isScattering;
    private boolean hasEnded;
    private boolean isClosed;
    private boolean hasClosedInOrder;
    /** The peer has sent a record. */
    private boolean isTls;
    private int violationErrno;
    private String violation;

    /** A socket that is or becomes connected. */
    TlsPort(TcpPort socket, TlsResources resources, boolean isClient) {
        this.socket = socket;
        this.resources = resources;
        this.isClient = isClient;
    }

    // ---- handshake ----

    @Override
    protected boolean isTasking() {
        return isTasking;
    }

    @Override
    protected int secure() {
        if (engine == null) {
            isTasking = true;
            return TASK;
        }
        if (buffers == null) {
            buffers = resources.take();
        }
        int result = PROGRESS;
        try {
            while (result == PROGRESS) {
                result = step();
            }
        } catch (SSLException failed) {
            violated(failed);
            return violationErrno;
        }
        return result;
    }

    private int step() throws SSLException {
        switch (engine.getHandshakeStatus()) {
            case NEED_TASK -> {
                isTasking = true;
                return TASK;
            }
            case NEED_WRAP -> {
                if (buffers.out.capacity() - buffers.out.limit() < TlsBuffers.RECORD_BYTES && !flush()) {
                    return BLOCKED;
                }
                seal(NOTHING);
                return PROGRESS;
            }
            case NEED_UNWRAP, NEED_UNWRAP_AGAIN -> {
                if (!flush()) {
                    return BLOCKED;
                }
                return unwrapHandshake();
            }
            default -> {
                TlsIdentity.requireProved(engine);
                return flush() ? SECURED : BLOCKED;
            }
        }
    }

    private int unwrapHandshake() throws SSLException {
        if (buffers.in.hasRemaining()) {
            if (!isRecord(buffers.in.get(buffers.in.position()))) {
                return violationErrno;
            }
            SSLEngineResult result = open();
            if (result.getStatus() != Status.BUFFER_UNDERFLOW) {
                return result.getStatus() == Status.CLOSED ? endedEarly() : PROGRESS;
            }
        }
        if (fill()) {
            return PROGRESS;
        }
        return hasEnded ? endedEarly() : WAITS;
    }

    private boolean isRecord(byte first) {
        isTls |= first >= FIRST_TYPE && first <= LAST_TYPE;
        if (isTls) {
            return true;
        }
        violationErrno = FabricErrno.ECONNREFUSED;
        violation = first == FIRST_PLAIN_BYTE ? "speaks plain, and TLS is required here" : "does not speak TLS";
        return false;
    }

    private int endedEarly() {
        violationErrno = FabricErrno.ECONNREFUSED;
        violation = "ended the connection in its TLS handshake: it speaks plain, or does not admit this driver";
        return violationErrno;
    }

    @Override
    protected void runTask() throws SSLException {
        SSLEngine made = engine;
        if (made == null) {
            made = resources.engine(isClient);
            made.beginHandshake();
            engine = made;
            return;
        }
        for (Runnable task = made.getDelegatedTask(); task != null; task = made.getDelegatedTask()) {
            task.run();
        }
    }

    @Override
    protected void onTaskDone() {
        isTasking = false;
    }

    @Override
    protected String peerKey() {
        return TlsIdentity.peerKey(engine);
    }

    private void violated(SSLException failed) {
        hasEnded = true;
        TlsFailure failure = TlsFailure.of(failed);
        violationErrno = failure.errno();
        violation = failure.text();
    }

    @Override
    protected int violationErrno() {
        return violationErrno;
    }

    @Override
    protected String violation() {
        return violation;
    }

    // ---- records ----

    /** Seals bytes behind those that wait to be written; there must be room for a record. */
    private SSLEngineResult seal(ByteBuffer text) throws SSLException {
        ByteBuffer out = buffers.out;
        int begin = out.position();
        out.position(out.limit()).limit(out.capacity());
        try {
            return engine.wrap(text, out);
        } finally {
            out.limit(out.position()).position(begin);
        }
    }

    /** Opens the next record; the last one's bytes must have been taken. */
    private SSLEngineResult open() throws SSLException {
        buffers.plain.clear();
        try {
            return engine.unwrap(buffers.in, buffers.plain);
        } finally {
            buffers.plain.flip();
        }
    }

    /** Writes the records that wait; false if some still wait. */
    private boolean flush() {
        ByteBuffer out = buffers.out;
        int waiting = out.remaining();
        if (waiting > 0) {
            UnsafeApi.copyMemory(out.array(), ARRAY + out.position(), null, resources.scratch(), waiting);
            long written = socket.send(resources.scratch(), waiting);
            out.position(out.position() + (int) Math.max(0, written));
        }
        if (out.hasRemaining()) {
            return false;
        }
        out.position(0).limit(0);
        return true;
    }

    /** Reads what has arrived; false if that is nothing. */
    private boolean fill() {
        ByteBuffer in = buffers.in;
        in.compact();
        long got = socket.receive(resources.scratch(), in.remaining());
        if (got > 0) {
            UnsafeApi.copyMemory(null, resources.scratch(), in.array(), ARRAY + in.position(), got);
            in.position(in.position() + (int) got);
        }
        in.flip();
        hasEnded |= got == 0;
        return got > 0;
    }

    // ---- bytes of the caller ----

    @Override
    public long send(long address, long length) {
        return write(address, null, length);
    }

    @Override
    public long sendVector(IoVector vector) {
        return write(0, vector, vector.lengthBytes());
    }

    private long write(long address, IoVector vector, long length) {
        if (isGathering) {
            return -FabricErrno.EFAULT;
        }
        if (buffers == null) {
            buffers = resources.take();
        }
        if (hasEnded && violation != null || !flush()) {
            return 0;
        }
        long sent = Math.min(sealed, length);
        sealed = 0;
        try {
            while (sent < length) {
                long batch = sealBatch(address, vector, length, sent);
                if (!flush()) {
                    sealed = batch;
                    return sent;
                }
                sent += batch;
            }
        } catch (SSLException failed) {
            violated(failed);
        }
        return sent;
    }

    /** Seals as many bytes as there is room for; returns how many. */
    private long sealBatch(long address, IoVector vector, long length, long begin) throws SSLException {
        ByteBuffer text = buffers.text;
        long offset = begin;
        while (offset < length && buffers.out.capacity() - buffers.out.limit() >= TlsBuffers.RECORD_BYTES) {
            int bytes = (int) Math.min(text.capacity(), length - offset);
            if (vector == null) {
                UnsafeApi.copyMemory(null, address + offset, text.array(), ARRAY, bytes);
            } else {
                gather(vector, offset, bytes);
            }
            text.position(0).limit(bytes);
            // one record may have less than all of them, or be the change of keys that the engine sends of its own
            SSLEngineResult result = seal(text);
            if (result.getStatus() != Status.OK || result.bytesProduced() == 0) {
                throw new SSLException("the connection takes no bytes: " + result.getStatus());
            }
            offset += result.bytesConsumed();
        }
        return offset - begin;
    }

    private void gather(IoVector vector, long offset, int bytes) {
        isGathering = true;
        long skip = offset;
        int done = 0;
        for (int i = 0; done < bytes; i++) {
            long here = Math.min(vector.lengthBytes(i) - skip, bytes - done);
            if (here > 0) {
                UnsafeApi.copyMemory(
                    null, vector.address(i) + skip, buffers.text.array(), ARRAY + done, here);
                done += (int) here;
            }
            skip = Math.max(0, skip - vector.lengthBytes(i));
        }
        // memory whose file was truncated
        FaultPoint.pass();
        isGathering = false;
    }

    @Override
    public long receive(long address, long length) {
        long got = 0;
        boolean hasRead = false;
        while (got < length) {
            ByteBuffer plain = buffers == null ? NOTHING : buffers.plain;
            if (plain.hasRemaining()) {
                int bytes = (int) Math.min(plain.remaining(), length - got);
                UnsafeApi.copyMemory(plain.array(), ARRAY + plain.position(), null, address + got, bytes);
                plain.position(plain.position() + bytes);
                got += bytes;
            } else if (!nextRecord(hasRead)) {
                break;
            } else {
                hasRead = true;
            }
        }
        return result(got);
    }

    @Override
    public long receiveVector(IoVector vector) {
        if (isScattering) {
            return FAILED;
        }
        long got = 0;
        boolean hasRead = false;
        while (got < vector.lengthBytes()) {
            if (buffers != null && buffers.plain.hasRemaining()) {
                got += scatter(vector, got);
            } else if (!nextRecord(hasRead)) {
                break;
            } else {
                hasRead = true;
            }
        }
        return result(got);
    }

    private int scatter(IoVector vector, long offset) {
        ByteBuffer plain = buffers.plain;
        isScattering = true;
        long skip = offset;
        int done = 0;
        for (int i = 0; i < vector.count() && done < plain.remaining(); i++) {
            long here = Math.min(vector.lengthBytes(i) - skip, plain.remaining() - done);
            if (here > 0) {
                UnsafeApi.copyMemory(plain.array(), ARRAY + plain.position() + done, null,
                    vector.address(i) + skip, here);
                done += (int) here;
            }
            skip = Math.max(0, skip - vector.lengthBytes(i));
        }
        // memory whose file was truncated; the bytes are still there for another destination
        FaultPoint.pass();
        isScattering = false;
        plain.position(plain.position() + done);
        return done;
    }

    @Override
    public long receiveError(IoVector vector) {
        if (isScattering) {
            isScattering = false;
            return -FabricErrno.EFAULT;
        }
        long got = receiveVector(vector);
        return got == FAILED ? -FabricErrno.EAGAIN : got;
    }

    private long result(long got) {
        return got > 0 ? got : hasEnded ? 0 : FAILED;
    }

    /**
     * Opens the next record that has bytes.
     *
     * @param hasRead whether the socket must not be read again in this call, which would otherwise last as long as
     *     the peer sends.
     * @return false if there is none now.
     */
    private boolean nextRecord(boolean hasRead) {
        if (hasEnded && (buffers == null || !buffers.in.hasRemaining())) {
            return false;
        }
        if (buffers == null) {
            buffers = resources.take();
        }
        boolean mayRead = !hasRead;
        try {
            while (violation == null) {
                if (buffers.in.hasRemaining()) {
                    SSLEngineResult result = open();
                    if (result.getStatus() == Status.CLOSED) {
                        hasEnded = true;
                        hasClosedInOrder = true;
                        return false;
                    }
                    if (buffers.plain.hasRemaining()) {
                        return true;
                    }
                    if (result.getStatus() == Status.OK) {
                        continue;
                    }
                }
                if (!mayRead || !fill()) {
                    return false;
                }
                mayRead = false;
            }
        } catch (SSLException failed) {
            violated(failed);
        }
        return false;
    }

    @Override
    protected boolean hasUnread() {
        return buffers != null && buffers.plain.hasRemaining();
    }

    @Override
    protected void relax() {
        if (buffers != null && sealed == 0 && buffers.isEmpty()) {
            resources.give(buffers);
            buffers = null;
        }
    }

    // ---- the socket ----

    @Override
    public int fd() {
        return socket.fd();
    }

    @Override
    public SelectableChannel channel() {
        return socket.channel();
    }

    @Override
    public int connectError() {
        return socket.connectError();
    }

    /** An end without the record that announces it may have been made by others than the peer. */
    @Override
    public boolean isReset() {
        return !hasClosedInOrder || socket.isReset();
    }

    @Override
    public SocketName localName() {
        return socket.localName();
    }

    @Override
    public TcpSocket.Health health() {
        return socket.health();
    }

    @Override
    public void keepAlive(int idleSeconds, int intervalSeconds, int probes) {
        socket.keepAlive(idleSeconds, intervalSeconds, probes);
    }

    @Override
    public void userTimeout(int milliseconds) {
        socket.userTimeout(milliseconds);
    }

    @Override
    public void mark(SocketClass marks) {
        socket.mark(marks);
    }

    @Override
    public void close() {
        if (engine != null && !isTasking && !isClosed && isTls) {
            sayEnd();
        }
        isClosed = true;
        if (buffers != null) {
            resources.give(buffers);
            buffers = null;
        }
        socket.close();
    }

    /** Sends the record that ends the stream, or an alert, if the system accepts it now. */
    private void sayEnd() {
        if (buffers == null) {
            buffers = resources.take();
        }
        try {
            engine.closeOutbound();
            if (!flush()) {
                return;
            }
            while (!engine.isOutboundDone()
                && engine.getHandshakeStatus() == SSLEngineResult.HandshakeStatus.NEED_WRAP && flush()) {
                seal(NOTHING);
            }
            flush();
        } catch (SSLException ex) {
            // the peer takes the end for an abort then
            hasClosedInOrder = false;
        }
    }
}
