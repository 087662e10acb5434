package org.jfabric.perf.compare;

import java.lang.foreign.MemorySegment;
import org.agrona.BitUtil;
import org.agrona.DirectBuffer;
import org.jfabric.AddressVector;
import org.jfabric.Completion;
import org.jfabric.CompletionHandler;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.Fabric;
import org.jfabric.MemoryRegion;
import org.jfabric.RecvContext;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.EndpointType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Mode;
import org.jfabric.tool.PingPongContents;
import org.jfabric.tool.ToolException;

/**
 * One of two processes with a driver each in mode INVOKER, over the link shm, that lend each other their messages: the
 * receiver reads them in the sender's memory and gives them back with its next read.
 */
final class LentSide implements Side, Port, CompletionHandler {
    private static final String LINK = "shm";
    private static final int POLL_LIMIT = 16;
    private static final int QUEUE_SIZE = 64;
    /** Slices of the region in turn: an answer may be there before the last message is given back. */
    private static final int SLICES = 4;
    private static final int LINE = 64;

    private final SideSettings settings;
    private final boolean reading;
    private final FabricDriver driver;
    private final Fabric fabric;
    private final CompletionQueue queue;
    private final AddressVector addresses;
    private final MemoryRegion region;
    private final Endpoint endpoint;
    private final long sliceBytes;
    private final PortLoops loops = new PortLoops(this);
    private final byte[] compared;
    private long peer;
    private long received;
    private long sent;
    private long givenBack;
    private boolean comparing;
    /** Never read. Without it the compiler would remove the access to the message. */
    private long seen;

    /**
     * Starts the driver.
     *
     * @param reading  whether the receiver reads every byte, and not only the first one.
     */
    LentSide(SideSettings settings, boolean reading) {
        this.settings = settings;
        this.reading = reading;
        driver = FabricDriver.launchEmbedded(DriverConfig.builder()
            .directory(settings.ownDirectory())
            .threadingMode(ThreadingMode.INVOKER)
            .build());
        fabric = driver.fabric();
        Info hints = new Info().caps(Flags.MSG | Flags.SEND | Flags.RECV).mode(Mode.BUFFERED_RECV).linkName(LINK);
        hints.epAttr().type(EndpointType.RDM);
        hints.txAttr().size(QUEUE_SIZE);
        hints.rxAttr().size(QUEUE_SIZE);
        Domain domain = fabric.domain(fabric.info(hints).best());
        queue = domain.openCompletionQueue(new CompletionQueueAttr().size(2 * QUEUE_SIZE));
        addresses = domain.openAddressVector(new AddressVectorAttr());
        sliceBytes = BitUtil.align(Math.max(1, settings.sizeBytes()), LINE);
        region = domain.allocate(SLICES * sliceBytes);
        compared = new byte[settings.sizeBytes()];
        endpoint = domain.openEndpoint(domain.info());
        endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
        endpoint.bind(addresses);
        endpoint.enable();
        endpoint.publish(settings.role().text());
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
        comparing = pass == Pass.VERIFY;
        if (pass != Pass.VERIFY && pass != Pass.EXCHANGE) {
            throw new IllegalArgumentException(pass.name());
        }
        long result = count;
        if (begins) {
            result = loops.exchangePing(count);
        } else {
            loops.exchangePong(count);
        }
        // the other side's last message is given back with a read, and ours comes back with one of its reads
        while (givenBack < sent) {
            poll();
        }
        return comparing ? count : result;
    }

    @Override
    public boolean trySend() {
        if (sent - givenBack == SLICES) {
            return false;
        }
        long offset = sent % SLICES * sliceBytes;
        if (comparing) {
            PingPongContents.fill(region.segment().asSlice(offset), settings.sizeBytes(), sent);
        }
        int result = endpoint.sendLent(region.address(offset), settings.sizeBytes(), peer, sent);
        if (result == 0) {
            sent++;
            return true;
        }
        if (result != -FabricErrno.EAGAIN) {
            throw Refusal.of(queue, result);
        }
        return false;
    }

    @Override
    public void poll() {
        int result = queue.poll(this, POLL_LIMIT);
        if (result < 0 && result != -FabricErrno.EAGAIN) {
            throw Refusal.of(queue, result);
        }
    }

    @Override
    public long received() {
        return received;
    }

    /** A message, or a slice that is free again. */
    @Override
    public void onCompletion(Completion completion) {
        RecvContext message = queue.recvContext(completion);
        if (message == null) {
            givenBack++;
            return;
        }
        DirectBuffer buffer = message.buffer();
        if (comparing || !message.isLent()) {
            compare(message, buffer);
        }
        if (reading) {
            readAll(buffer);
        } else {
            seen += buffer.getByte(0);
        }
        received++;
    }

    private void readAll(DirectBuffer buffer) {
        long sum = 0;
        int longs = buffer.capacity() & -Long.BYTES;
        for (int i = 0; i < longs; i += Long.BYTES) {
            sum += buffer.getLong(i);
        }
        for (int i = longs; i < buffer.capacity(); i++) {
            sum += buffer.getByte(i);
        }
        seen += sum;
    }

    private void compare(RecvContext message, DirectBuffer buffer) {
        long position = -1;
        if (message.isLent() && buffer.capacity() == settings.sizeBytes()) {
            buffer.getBytes(0, compared);
            position = PingPongContents.mismatch(MemorySegment.ofArray(compared), settings.sizeBytes(), received);
        }
        if (!message.isLent() || buffer.capacity() != settings.sizeBytes() || position >= 0) {
            throw new ToolException("Message " + received + " differs from what was lent (" + message
                + ", first difference at " + position + "); this is a defect of JFabric, please report it.");
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
