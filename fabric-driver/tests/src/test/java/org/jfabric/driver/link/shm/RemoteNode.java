package org.jfabric.driver.link.shm;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.agrona.UnsafeApi;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ShmConfig;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.FrameHandler;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.driver.link.PieceList;
import org.jfabric.driver.link.RemoteAccess;
import org.jfabric.driver.link.RemoteHandler;
import org.jfabric.driver.link.RemotePayload;
import org.jfabric.driver.link.RemoteRanges;
import org.jfabric.driver.link.support.FabricName;
import org.jfabric.info.FabricErrno;
import org.jfabric.test.Deadline;

/** A shm link with one endpoint, whose handler writes down every event instead of an engine. */
final class RemoteNode implements AutoCloseable {
    static final int RING = 64 << 10;
    static final int SEGMENT = 8 << 10;
    static final int FIRST_GRANT = 0x7000_0000;

    final TestLinkServices services;
    final ShmLink link;
    final Handler handler = new Handler();
    final Local endpoint;
    /** What the handler was called with, oldest first. */
    final List<String> events = new ArrayList<>();
    /** Bytes that came with the events of remote access. */
    final List<byte[]> payloads = new ArrayList<>();
    Channel channel;
    /** False: of a driver whose engine has no remote memory access. */
    boolean takesRemoteAccess = true;

    RemoteNode(Path base, String name) {
        services = new TestLinkServices(base, name);
        DriverConfig config = DriverConfig.builder().directory(base.resolve(name))
            .set(ShmConfig.RING_LENGTH_BYTES, RING).set(ShmConfig.SEGMENT_LENGTH_BYTES, SEGMENT).build();
        link = (ShmLink) new ShmLinkProvider().open(services, config);
        endpoint = new Local(FabricName.of(name, "ep"));
        link.attach(endpoint);
    }

    void connect(RemoteNode peer) {
        link.connect(endpoint, peer.endpoint.address, handler);
    }

    void step() {
        services.step(link);
    }

    /** The connection to a peer, whose ring gets all of its memory now: no frame has to wait for it. */
    ShmConnection growRing(String address) {
        ShmConnection connection = link.connection(address);
        connection.extend(RING, false);
        Deadline.usual().until("the ring", () -> connection.usableLength() == RING, this::step, () -> services.errors);
        return connection;
    }

    /** The events since the last call. */
    List<String> take() {
        List<String> taken = List.copyOf(events);
        events.clear();
        return taken;
    }

    @Override
    public void close() {
        link.close();
        services.close();
    }

    private void note(String event, Object... values) {
        StringBuilder text = new StringBuilder(event);
        for (Object value : values) {
            text.append(' ').append(value instanceof Number number ? Long.toHexString(number.longValue()) : value);
        }
        events.add(text.toString());
    }

    private void notePayload(long address, long length) {
        byte[] bytes = new byte[(int) length];
        for (int i = 0; i < length; i++) {
            bytes[i] = UnsafeApi.getByte(address + i);
        }
        payloads.add(bytes);
    }

    /** Its name and its handler are all that the link asks for. */
    final class Local extends LocalEndpoint {
        final String address;

        Local(String address) {
            this.address = address;
        }

        @Override
        public String name() {
            return "ep";
        }

        @Override
        public int trafficClass() {
            return 0;
        }

        @Override
        public String address() {
            return address;
        }

        @Override
        public byte[] authKey() {
            return new byte[0];
        }

        @Override
        public BoundAddress bound() {
            return null;
        }

        @Override
        public int postedReceives() {
            return 0;
        }

        @Override
        public boolean knows(String remoteAddress) {
            return true;
        }

        @Override
        public ChannelHandler handlerFor(String remoteAddress) {
            return handler;
        }
    }

    /** Of the one channel. */
    final class Handler extends ChannelHandler {
        private final FrameHandler frames = new Frames();
        private final RemoteHandler remote = new Remote();

        @Override
        public FrameHandler frameHandler() {
            return frames;
        }

        @Override
        public RemoteHandler remoteHandler() {
            return takesRemoteAccess ? remote : null;
        }

        @Override
        public int onOpening() {
            return FIRST_GRANT;
        }

        @Override
        public void onUp(Channel newChannel) {
            channel = newChannel;
            note("up");
        }

        @Override
        public void onDown(int errno) {
            channel = null;
            note("down");
        }

        @Override
        public void onWritable() {
            note("writable");
        }

        @Override
        public void onMessage(long flags, long tag, long data, long address, int length) {
            note("message", tag);
        }

        @Override
        public void onSent(long operation, int errno) {
            note("sent");
        }
    }

    private final class Remote extends RemoteHandler {
        @Override
        public void onWrite(RemoteAccess access, long offset, long source, long length) {
            note("write", access.operation(), access.hasData(), access.key(), access.address(), access.lengthBytes(),
                access.data(), offset, length);
            notePayload(source, length);
        }

        @Override
        public void onShortWrite(RemoteAccess access, long source) {
            note("short", access.operation(), access.key(), access.address(), access.lengthBytes());
            notePayload(source, access.lengthBytes());
        }

        @Override
        public void onPlaced(long count) {
            note("placed", count);
        }

        @Override
        public void onAnnouncedWrite(RemoteAccess access, RemotePayload payload) {
            note("announced", access.operation(), access.hasData(), access.key(), access.address(),
                access.lengthBytes(), access.data(), payload.count(), payload.regionNumber(0),
                payload.regionGeneration(0), payload.regionOffset(0), payload.length(0));
        }

        @Override
        public void onRead(RemoteAccess access) {
            note("read", access.operation(), access.hasData(), access.key(), access.address(), access.lengthBytes(),
                access.data());
        }

        @Override
        public void onAtomic(RemoteAccess access, long operands, long length) {
            note("atomic", access.operation(), access.key(), access.address(), access.form(), access.datatype(),
                access.atomicOperation(), access.ranges().lengthBytes(0), length);
            notePayload(operands, length);
        }

        @Override
        public void onReply(
            long operation, int errno, boolean reports, long offset, long source, long length) {
            note("reply", operation, errno, reports, offset, length);
            notePayload(source, length);
        }

        @Override
        public void onEnded(long operation, int errno) {
            note("ended", operation, errno);
        }

        @Override
        public int find(RemoteRanges ranges, long right, PieceList pieces) {
            note("find", ranges.count());
            return FabricErrno.EKEYREJECTED;
        }

        @Override
        public boolean begin(long right, boolean hasData) {
            note("begin");
            return true;
        }

        @Override
        public void end(RemoteRanges ranges, long right, boolean hasData, long data) {
            note("end", ranges.totalBytes());
        }

        @Override
        public int commitRefusal(RemoteRanges ranges) {
            throw new AssertionError("asked of links that move the bytes");
        }

        @Override
        public void commit(RemoteRanges ranges, boolean hasData, long data, long operation) {
            throw new AssertionError("asked of links that move the bytes");
        }
    }

    private final class Frames extends FrameHandler {
        @Override
        public void onGrantLines(int grantLines) {
            // short records of other kinds
        }

        @Override
        public void onGrant(int grant) {
            note("grant", grant & 0xFFFF_FFFFL);
        }

        @Override
        public void onShort(long kind, long tag, long address, int length, int grantLines) {
            note("short", tag);
        }

        @Override
        public void onMessageToAcknowledge(
            long operation, long flags, long tag, long data, long address, int length) {
            note("to acknowledge", tag);
        }

        @Override
        public void onAcknowledged(long operation, long levels, int errno) {
            note("acknowledged", operation);
        }

        @Override
        public void onSegmentsRequested(long operation, long sink, long length) {
            note("segments requested", operation);
        }

        @Override
        public void onSegment(long sink, long offset, long address, int length) {
            note("segment", sink);
        }

        @Override
        public void onFinished(long operation, int errno) {
            note("finished", operation);
        }

        @Override
        public void onAnnounce(long flags, long tag, long data, RemotePayload source) {
            note("announce", tag);
        }

        @Override
        public void onPulled(long operation, int errno) {
            note("pulled", operation);
        }
    }
}
