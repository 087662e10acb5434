package org.jfabric.perf.compare;

import java.lang.foreign.MemorySegment;
import org.agrona.BitUtil;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.AddressVector;
import org.jfabric.Completion;
import org.jfabric.CompletionHandler;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.Fabric;
import org.jfabric.MemoryRegion;
import org.jfabric.MessageHandler;
import org.jfabric.RecvContext;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.QueueConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.EndpointOption;
import org.jfabric.info.EndpointType;
import org.jfabric.info.FabricErrno;
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
final class ZeroCopySide implements Side, Port, MessageHandler, CompletionHandler {
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
    private final FabricDriver driver;
    private final Fabric fabric;
    private final CompletionQueue queue;
    private final AddressVector addresses;
    private final MemoryRegion region;
    private final UnsafeBuffer payload;
    private final Endpoint endpoint;
    private final boolean injected;
    private final boolean comparing;
    private final byte[] compared;
    private final PortLoops loops = new PortLoops(this);
    private long peer;
    private long received;
    private int underWay;
    /** Never read. Without it the compiler would remove the access to the message. */
    private long seen;

    /** Starts the driver. */
    ZeroCopySide(SideSettings settings) {
        this.settings = settings;
        comparing = settings.pass() == Pass.VERIFY_STREAM;
        compared = new byte[settings.sizeBytes()];
        int cellBytes = BitUtil.align(Math.max(1, settings.sizeBytes()), LINE);
        driver = FabricDriver.launchEmbedded(DriverConfig.builder()
            .directory(settings.ownDirectory())
            .threadingMode(ThreadingMode.INVOKER)
            .set(QueueConfig.CQ_DRIVER_SHARE, DRIVER_SHARE)
            .set(QueueConfig.BUFFERED_LIMIT_BYTES, (long) cellBytes)
            // no longer than needed: cells that are used in turn should stay in the cache
            .set(QueueConfig.SLAB_LENGTH_BYTES,
                (long) BitUtil.findNextPositivePowerOfTwo(Math.max(LEAST_SLAB_BYTES, CELLS * cellBytes)))
            .build());
        fabric = driver.fabric();
        Info hints = new Info().caps(Flags.MSG | Flags.SEND | Flags.RECV).mode(Mode.BUFFERED_RECV).linkName(LINK);
        hints.epAttr().type(EndpointType.RDM);
        hints.txAttr().size(QUEUE_SIZE);
        hints.rxAttr().size(QUEUE_SIZE);
        Domain domain = fabric.domain(fabric.info(hints).best());
        queue = domain.openCompletionQueue(new CompletionQueueAttr().size(2 * QUEUE_SIZE));
        addresses = domain.openAddressVector(new AddressVectorAttr());
        region = domain.allocate(cellBytes);
        payload = region.buffer();
        endpoint = domain.openEndpoint(domain.info());
        endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
        endpoint.bind(addresses);
        endpoint.setopt(EndpointOption.BUFFERED_LIMIT, cellBytes);
        endpoint.enable();
        endpoint.publish(settings.role().text());
        injected = settings.sizeBytes() <= endpoint.injectSize();
    }

    @Override
    public void connect() {
        peer = addresses.insertService(settings.other().text(), settings.other().text());
    }

    @Override
    public void cycle() {
        poll();
    }

    @Override
    public long run(Pass pass, long count) {
        boolean begins = settings.role() == SideRole.PING;
        return switch (pass) {
            case STREAM -> {
                if (begins) {
                    yield loops.streamPing(count);
                }
                loops.streamPong(count);
                yield 0;
            }
            case VERIFY_STREAM -> begins ? sendFilled(count) : awaitCompared(count);
            default -> throw new IllegalArgumentException(pass.name());
        };
    }

    @Override
    public boolean trySend() {
        if (underWay == SideSettings.WINDOW) {
            return false;
        }
        int result = injected ? endpoint.inject(payload, 0, settings.sizeBytes(), peer)
            : endpoint.send(region.address(), settings.sizeBytes(), peer, SEND);
        if (result == 0) {
            underWay += injected ? 0 : 1;
            return true;
        }
        if (result != -FabricErrno.EAGAIN) {
            throw Refusal.of(queue, result);
        }
        return false;
    }

    @Override
    public void poll() {
        int result = queue.pollMessages(this, this, POLL_LIMIT);
        if (result < 0 && result != -FabricErrno.EAGAIN) {
            throw Refusal.of(queue, result);
        }
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

    private long sendFilled(long count) {
        for (long i = 0; i < count; i++) {
            PingPongContents.fill(region.segment(), settings.sizeBytes(), i);
            while (!trySend()) {
                poll();
            }
            while (underWay > 0) {
                poll();
            }
        }
        return count;
    }

    private long awaitCompared(long count) {
        while (received < count) {
            poll();
        }
        return received;
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
        try {
            fabric.close();
        } finally {
            driver.close();
        }
    }
}
