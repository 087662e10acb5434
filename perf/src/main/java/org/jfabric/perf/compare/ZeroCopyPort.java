package org.jfabric.perf.compare;

import java.lang.foreign.MemorySegment;
import org.agrona.BitUtil;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Completion;
import org.jfabric.CompletionHandler;
import org.jfabric.CompletionQueue;
import org.jfabric.Endpoint;
import org.jfabric.MemoryRegion;
import org.jfabric.MessageHandler;
import org.jfabric.RecvContext;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.QueueConfig;
import org.jfabric.info.EndpointOption;
import org.jfabric.info.EndpointType;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Mode;
import org.jfabric.tool.PingPongContents;
import org.jfabric.tool.ToolException;

/**
 * One of two processes with a driver each in mode INVOKER, over the link shm. The receiver reads messages where they
 * arrived, in the ring of the sender: buffered receives of untagged messages, lent to a handler. A message that may be
 * injected is injected, so that its memory belongs to the sender again at once and no entry follows, as with Aeron's
 * {@code offer}. A longer one has an entry, and a window as all streams have.
 */
final class ZeroCopyPort implements Port, MessageHandler, CompletionHandler {
    /** Longest message that is read as a whole. */
    static final int MOST_BYTES = 4096;

    private static final String LINK = "shm";
    private static final int POLL_LIMIT = 16;
    private static final int QUEUE_SIZE = 64;
    /** Entries of messages that wait to be read: as much as a cycle brings that no read has limited, and more. */
    private static final int DRIVER_SHARE = 256;
    private static final int CELLS = 256;
    private static final int LEAST_SLAB_BYTES = 64 << 10;
    private static final int LINE = 64;
    private static final long SEND = 1;

    private final SideSettings settings;
    private final InvokedEndpoint own;
    private final CompletionQueue queue;
    private final MemoryRegion region;
    private final UnsafeBuffer payload;
    private final Endpoint endpoint;
    private final boolean injected;
    private final boolean comparing;
    private final byte[] compared;
    private long peer;
    private long received;
    /** Only counted in a pass that verifies. */
    private long sent;
    private int underWay;
    /** Never read. Without it the compiler would remove the access to the message. */
    private long seen;

    /** Starts the driver. */
    ZeroCopyPort(SideSettings settings) {
        this.settings = settings;
        comparing = settings.pass() == Pass.VERIFY_STREAM;
        compared = new byte[settings.sizeBytes()];
        int cellBytes = BitUtil.align(Math.max(1, settings.sizeBytes()), LINE);
        DriverConfig.Builder config = DriverConfig.builder()
            .directory(settings.ownDirectory())
            .set(QueueConfig.CQ_DRIVER_SHARE, DRIVER_SHARE)
            .set(QueueConfig.BUFFERED_LIMIT_BYTES, cellBytes)
            // no longer than needed: cells that are used in turn should stay in the cache
            .set(QueueConfig.SLAB_LENGTH_BYTES,
                BitUtil.findNextPositivePowerOfTwo(Math.max(LEAST_SLAB_BYTES, CELLS * cellBytes)));
        Info hints = new Info().caps(Flags.MSG | Flags.SEND | Flags.RECV).mode(Mode.BUFFERED_RECV).linkName(LINK);
        hints.epAttr().type(EndpointType.RDM);
        own = new InvokedEndpoint(config, hints, QUEUE_SIZE);
        queue = own.queue;
        region = own.domain.allocate(cellBytes);
        payload = region.buffer();
        endpoint = own.endpoint;
        endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
        endpoint.setopt(EndpointOption.BUFFERED_LIMIT, cellBytes);
        own.enable(settings.role().text());
        injected = settings.sizeBytes() <= endpoint.injectSize();
    }

    @Override
    public void connect() {
        peer = own.peer(settings.other().text(), settings.other().text());
    }

    @Override
    public void cycle() {
        poll();
    }

    @Override
    public void begin(Pass pass) {
        // contents are compared in a cell of its own
    }

    @Override
    public boolean trySend() {
        if (underWay == SideSettings.WINDOW || comparing && !fill()) {
            return false;
        }
        int result = injected ? endpoint.inject(payload, 0, settings.sizeBytes(), peer)
            : endpoint.send(region.address(), settings.sizeBytes(), peer, SEND);
        if (result == 0) {
            underWay += injected ? 0 : 1;
            sent += comparing ? 1 : 0;
            return true;
        }
        Refusal.unlessAgain(queue, result);
        return false;
    }

    @Override
    public void poll() {
        Refusal.unlessAgain(queue, queue.pollMessages(this, this, POLL_LIMIT));
    }

    @Override
    public long received() {
        return received;
    }

    /** A send has ended. */
    @Override
    public void onCompletion(Completion completion) {
        underWay--;
    }

    @Override
    public void onMessage(RecvContext message) {
        DirectBuffer buffer = message.buffer();
        if (comparing) {
            compare(buffer);
        }
        seen += buffer.getByte(0);
        received++;
    }

    /** Makes the contents of the next message; false while the memory still belongs to the message before. */
    private boolean fill() {
        if (underWay > 0) {
            return false;
        }
        PingPongContents.fill(region.segment(), settings.sizeBytes(), sent);
        return true;
    }

    private void compare(DirectBuffer buffer) {
        long position = -1;
        if (buffer.capacity() == settings.sizeBytes()) {
            buffer.getBytes(0, compared);
            position = PingPongContents.mismatch(MemorySegment.ofArray(compared), settings.sizeBytes(), received);
        }
        if (buffer.capacity() != settings.sizeBytes() || position >= 0) {
            throw new ToolException("Message " + received + " differs from what was sent, where the driver shows it ("
                + buffer.capacity() + " bytes, first difference at " + position
                + "); this is a defect of JFabric, please report it.");
        }
    }

    @Override
    public void close() {
        own.close();
    }
}
