package org.jfabric.perf.compare;

import java.lang.foreign.MemorySegment;
import org.agrona.BitUtil;
import org.agrona.DirectBuffer;
import org.jfabric.Completion;
import org.jfabric.CompletionHandler;
import org.jfabric.CompletionQueue;
import org.jfabric.Endpoint;
import org.jfabric.MemoryRegion;
import org.jfabric.RecvContext;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.info.EndpointType;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Mode;
import org.jfabric.tool.PingPongContents;
import org.jfabric.tool.ToolException;

/**
 * One of two processes with a driver each in mode INVOKER, over the link shm, that lend each other their messages: the
 * receiver reads them in the sender's memory and gives them back with its next read.
 */
final class LentPort implements Port, CompletionHandler {
    private static final String LINK = "shm";
    private static final int POLL_LIMIT = 16;
    private static final int QUEUE_SIZE = 64;
    /** Slices of the region in turn: an answer may be there before the last message is given back. */
    private static final int SLICES = 4;
    private static final int LINE = 64;

    private final SideSettings settings;
    private final boolean reading;
    private final InvokedEndpoint own;
    private final CompletionQueue queue;
    private final MemoryRegion region;
    private final Endpoint endpoint;
    private final long sliceBytes;
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
    LentPort(SideSettings settings, boolean reading) {
        this.settings = settings;
        this.reading = reading;
        Info hints = new Info().caps(Flags.MSG | Flags.SEND | Flags.RECV).mode(Mode.BUFFERED_RECV).linkName(LINK);
        hints.epAttr().type(EndpointType.RDM);
        own = new InvokedEndpoint(DriverConfig.builder().directory(settings.ownDirectory()), hints, QUEUE_SIZE);
        queue = own.queue;
        sliceBytes = BitUtil.align(Math.max(1, settings.sizeBytes()), LINE);
        region = own.domain.allocate(SLICES * sliceBytes);
        compared = new byte[settings.sizeBytes()];
        endpoint = own.endpoint;
        endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
        own.enable(settings.role().text());
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
        comparing = pass == Pass.VERIFY;
    }

    /** The other side's last message is given back with a read, and ours comes back with one of its reads. */
    @Override
    public void end() {
        while (givenBack < sent) {
            poll();
        }
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
        int result = endpoint.messages().sendLent(region.address(offset), settings.sizeBytes(), peer, sent);
        if (result == 0) {
            sent++;
            return true;
        }
        Refusal.unlessAgain(queue, result);
        return false;
    }

    @Override
    public void poll() {
        Refusal.unlessAgain(queue, queue.poll(this, POLL_LIMIT));
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
        own.close();
    }
}
