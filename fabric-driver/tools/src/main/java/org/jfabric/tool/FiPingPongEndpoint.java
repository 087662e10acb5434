package org.jfabric.tool;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.AddressVector;
import org.jfabric.Completion;
import org.jfabric.CompletionError;
import org.jfabric.CompletionHandler;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.Fabric;
import org.jfabric.MemoryRegion;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.EndpointType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.PeerPath;
import org.jfabric.info.Protocol;

/**
 * The data path of a run: an embedded driver in mode INVOKER, an endpoint and its memory. Apart from the driver it uses
 * the public interface only. Owner: one thread.
 */
final class FiPingPongEndpoint implements AutoCloseable, CompletionHandler {
    private static final long RECEIVE = 1;
    private static final long SEND = 2;
    private static final int POLL_LIMIT = 4;
    private static final int QUEUE_SIZE = 64;
    private static final int LEAST_BYTES = 64;
    /**
     * Number of polls of a wait between two reads of the clock. The thread also yields its core then, which the other
     * side may need. This is rare, since a system call takes longer than a message.
     */
    private static final int PAUSE_POLLS = 1024;
    /**
     * One receive more than is awaited, so that none has to be posted between a message and its answer. They share one
     * buffer: the other side sends the next message when it has the answer, and the answer is sent when the buffer has
     * been read.
     */
    private static final int RECEIVES = 2;
    /** Time without a first message after which the driver's error log is searched for the reason. */
    private static final long FIRST_NS = TimeUnit.SECONDS.toNanos(1);
    private static final byte[] LAST = {'f', 'i', 'n', 0};

    private final boolean tagged;
    private final long timeoutNs;
    private final FabricDriver driver;
    private final CompletionQueue queue;
    private final Domain domain;
    private final Info info;
    private final MemoryRegion receiveRegion;
    private final MemoryRegion sendRegion;
    private final UnsafeBuffer sendBuffer;
    /** Null for connected endpoints. */
    private final AddressVector addresses;
    /** Null for connectionless endpoints. */
    private final FiPingPongConnection connection;
    /** A connected endpoint is opened later. */
    private Endpoint endpoint;
    private long peer;
    private long receivesPosted;
    private long receivesDone;
    private long receivesAwaited;
    private long sendsDone;
    private long sendsPosted;
    private long lastLength;
    /** True once the last message of the other side has arrived. */
    private boolean isEnding;

    private FiPingPongEndpoint(
        FiPingPongPlan plan, FabricDriver driver, Info hints, boolean isServer, long timeoutNs) {
        this.tagged = plan.tagged();
        this.timeoutNs = timeoutNs;
        this.driver = driver;
        Fabric fabric = driver.fabric();
        info = fabric.info(hints).best();
        domain = fabric.domain(info);
        long longest = Math.min(info.epAttr().maxMsgSize(), plan.sizes().stream().mapToLong(s -> s).max().orElse(0));
        receiveRegion = domain.allocate(Math.max(LEAST_BYTES, longest));
        sendRegion = domain.allocate(Math.max(LEAST_BYTES, longest));
        sendBuffer = sendRegion.buffer();
        queue = domain.openCompletionQueue(new CompletionQueueAttr().size(2 * QUEUE_SIZE));
        if (plan.type() == EndpointType.MSG) {
            addresses = null;
            connection = new FiPingPongConnection(fabric, info, isServer, timeoutNs);
            return;
        }
        connection = null;
        addresses = domain.openAddressVector(new AddressVectorAttr());
        endpoint = domain.openEndpoint(info);
        endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
        endpoint.bind(addresses);
        endpoint.enable();
        postReceives();
    }

    /**
     * Opens a driver and an endpoint.
     *
     * @param source    host that the endpoint shall be bound to, or null.
     * @param remote    address of the other side, or null of a server, which does not know it yet.
     * @param timeoutNs longest wait for a message, in nanoseconds.
     */
    static FiPingPongEndpoint open(
        FiPingPongPlan plan, Path directory, String source, String remote, long timeoutNs) {
        FabricDriver driver = FabricDriver.launchEmbedded(DriverConfig.builder().directory(directory)
            .threadingMode(ThreadingMode.INVOKER).set("jfabric.link.enabled", plan.link()).build());
        boolean open = false;
        try {
            Info hints = plan.hints().srcAddr(source).destAddr(remote);
            hints.txAttr().size(QUEUE_SIZE);
            hints.rxAttr().size(QUEUE_SIZE);
            FiPingPongEndpoint result = new FiPingPongEndpoint(plan, driver, hints, remote == null, timeoutNs);
            open = true;
            return result;
        } finally {
            if (!open) {
                driver.close();
            }
        }
    }

    /** Address that the other side inserts or connects to. */
    String name() {
        return connection != null ? connection.name() : endpoint.name();
    }

    /** Sets the destination of messages. */
    void peer(String name) {
        peer = addresses.insert(name);
    }

    /** Waits for the client's connection. */
    void accept() {
        connection.accept(domain, queue, this::armed);
    }

    void connect(String name) {
        connection.connect(domain, info, name, queue, this::armed);
    }

    private void armed(Endpoint enabled) {
        endpoint = enabled;
        postReceives();
    }

    /** Returns the link and the address that the messages go to. */
    PeerPath path() {
        return endpoint.path(peer);
    }

    long longestMessage() {
        return endpoint.maxMsgSize();
    }

    /** Runs a duty cycle of the driver. */
    void cycle() {
        int polled = queue.poll(this, POLL_LIMIT);
        if (polled == -FabricErrno.EAGAIN) {
            // another thread on this core, or on its sibling hyperthread, can run for a moment
            Thread.onSpinWait();
        } else if (polled < 0) {
            onFailure(polled);
        }
    }

    /** Sends the next message, posts the receive that the last one has used, and waits until the memory is free. */
    void send(long sizeBytes, FiPingPongContents contents) {
        if (contents != null) {
            contents.fill(sendRegion.segment(), sizeBytes);
        }
        boolean injects = sizeBytes < endpoint.injectSize();
        int result;
        do {
            result = injects ? postInject((int) sizeBytes) : postSend(sizeBytes);
        } while (isToBeRepeated(result));
        postReceives();
        if (!injects) {
            sendsPosted++;
            await(false);
        }
    }

    private int postInject(int sizeBytes) {
        return tagged ? endpoint.tinject(sendBuffer, 0, sizeBytes, peer, FiPingPongPlan.TAG)
            : endpoint.inject(sendBuffer, 0, sizeBytes, peer);
    }

    private int postSend(long sizeBytes) {
        return tagged ? endpoint.tsend(sendRegion.address(), sizeBytes, peer, FiPingPongPlan.TAG, SEND)
            : endpoint.send(sendRegion.address(), sizeBytes, peer, SEND);
    }

    /** Waits for the next message. */
    void receive(long sizeBytes, FiPingPongContents contents) {
        receivesAwaited++;
        await(true);
        if (lastLength != sizeBytes) {
            throw new ToolException("A message of " + lastLength + " bytes came where one of " + sizeBytes
                + " was expected; give both sides the same options.");
        }
        long wrong = contents == null ? -1 : contents.mismatch(receiveRegion.segment(), sizeBytes);
        if (wrong >= 0) {
            throw new ToolException("Byte " + wrong + " of message " + receivesDone + " (" + sizeBytes
                + " bytes) is not what the other side had to send; give both sides -c, or neither.");
        }
    }

    /** Signals the end to the other side and waits for its signal. */
    void finish() {
        for (int i = 0; i < LAST.length; i++) {
            sendBuffer.putByte(i, LAST[i]);
        }
        // over rxm a sender does not learn whether its peer has a message
        long level = info.epAttr().protocol() == Protocol.RXM ? Flags.INJECT_COMPLETE : Flags.TRANSMIT_COMPLETE;
        long flags = level | Flags.COMPLETION;
        int result;
        do {
            result = tagged
                ? endpoint.messages().tsendmsg(
                    sendRegion.address(), LAST.length, 0, peer, FiPingPongPlan.TAG, SEND, flags)
                : endpoint.messages().sendmsg(sendRegion.address(), LAST.length, 0, peer, SEND, flags);
        } while (isToBeRepeated(result));
        sendsPosted++;
        receivesAwaited++;
        await(true);
        isEnding = true;
        await(false);
        if (lastLength != LAST.length) {
            throw new ToolException("The last message has " + lastLength + " bytes instead of " + LAST.length
                + "; give both sides the same sizes.");
        }
    }

    @Override
    public void onCompletion(Completion completion) {
        if (completion.opContext() == RECEIVE) {
            lastLength = completion.len();
            receivesDone++;
        } else if (completion.opContext() == SEND) {
            sendsDone++;
        }
    }

    @Override
    public void close() {
        driver.close();
    }

    @Override
    public String toString() {
        return String.valueOf(endpoint);
    }

    private void postReceives() {
        while (receivesPosted - receivesDone < RECEIVES) {
            int result = tagged ? endpoint.trecv(receiveRegion.address(), receiveRegion.lengthBytes(),
                FiPingPongPlan.anySource(), FiPingPongPlan.TAG, 0, RECEIVE)
                : endpoint.recv(receiveRegion.address(), receiveRegion.lengthBytes(), FiPingPongPlan.anySource(),
                    RECEIVE);
            if (!isToBeRepeated(result)) {
                receivesPosted++;
            }
        }
    }

    /** Returns true if a call found no room; the driver has made room meanwhile or will soon. */
    private boolean isToBeRepeated(int result) {
        if (result == -FabricErrno.EAGAIN) {
            cycle();
            return true;
        }
        if (result < 0) {
            throw new ToolException("A message could not be posted: " + FabricErrno.name(-result) + '.');
        }
        return false;
    }

    private void await(boolean receive) {
        long begin = 0;
        for (int polls = 0; receive ? receivesDone < receivesAwaited : sendsDone < sendsPosted; polls++) {
            cycle();
            if (polls % PAUSE_POLLS == PAUSE_POLLS - 1) {
                long now = System.nanoTime();
                begin = begin == 0 ? now : begin;
                if (receivesDone == 0 && now - begin > FIRST_NS) {
                    failIfRefused();
                }
                if (now - begin > timeoutNs) {
                    throw new ToolException((receive ? "No message came" : "A message did not leave") + " for "
                        + TimeUnit.NANOSECONDS.toSeconds(timeoutNs) + " s after " + receivesDone
                        + " messages; datagrams may be lost on their way, and both sides need the same options.");
                }
                Thread.yield();
            }
        }
    }

    /** Fails if the driver had to refuse the other side, which then sends nothing: the error log has the reason. */
    private void failIfRefused() {
        try (CncView view = CncView.open(driver.directory())) {
            List<String> errors = new ArrayList<>();
            view.readErrors((count, first, last, text) -> errors.add(text.lines().findFirst().orElse("")));
            if (!errors.isEmpty()) {
                // the first is the reason, others are the peer's further attempts
                throw new ToolException("No message came within " + TimeUnit.NANOSECONDS.toSeconds(FIRST_NS)
                    + " s, and the driver reports: " + errors.getFirst().replaceFirst("^[\\w.$]+: ", ""));
            }
        }
    }

    private void onFailure(int polled) {
        if (polled != -FabricErrno.EAVAIL) {
            throw new ToolException("The completion queue cannot be read: " + FabricErrno.name(-polled) + '.');
        }
        CompletionError error = new CompletionError();
        int result = queue.readErr(error, 0);
        if (result != 1) {
            throw new ToolException("A transfer failed, and its error entry cannot be read ("
                + FabricErrno.name(-result) + ").");
        }
        if (isEnding && error.opContext() == RECEIVE) {
            // the other side has closed the connection, and nothing was to come to this receive
            return;
        }
        throw new ToolException("A transfer failed with " + FabricErrno.name(error.err()) + " ("
            + queue.strerror(error.provErrno()) + ") after " + receivesDone + " messages.");
    }
}
