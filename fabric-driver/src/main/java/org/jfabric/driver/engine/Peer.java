package org.jfabric.driver.engine;

import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.driver.engine.match.TagMatcher;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.ContextName;
import org.jfabric.driver.link.FrameChannel;
import org.jfabric.driver.link.PayloadChannel;
import org.jfabric.driver.link.RemoteChannel;
import org.jfabric.driver.link.SegmentChannel;

/**
 * One remote endpoint as seen by one local endpoint: who it is, and the channel to it. What is sent to it is the
 * subject of {@link PeerSends}, what comes from it that of {@link PeerReceives}.
 *
 * <p>Owner: progress agent.
 */
final class Peer {
    /** Source of messages whose sender is not in the address vector. */
    static final int UNKNOWN_SOURCE = TagMatcher.UNKNOWN_SOURCE;

    private static final int DOWN = 0;
    private static final int CONNECTING = 1;
    private static final int UP = 2;

    private final String address;
    /** The address that applications know: of a context that of its scalable endpoint. */
    private final String endpointAddress;
    private final PeerContext context;
    private final ByteCredit credit = new ByteCredit();
    private final Traffic traffic = new Traffic(credit);
    private final Runnable scheduling;
    private final Consumer<String> breaking;
    private DirectBuffer rawAddress;
    private int source;
    private int state = DOWN;
    private Channel channel;
    /** The channel while it is up, if its wire has announced payloads, frames, segments; else null. */
    private PayloadChannel payloads;
    private FrameChannel frames;
    /** The channel while it is up, if it takes short messages without an operation; else null. */
    private Channel shorts;
    private SegmentChannel segments;
    private RemoteChannel remoteMemory;

    /**
     * A peer without a channel.
     *
     * @param scheduling has what waits for the channel continued in this or the next cycle.
     * @param breaking   ends the channel, for the reason that it gets.
     */
    Peer(String address, int source, PeerContext context, Runnable scheduling, Consumer<String> breaking) {
        this.address = address;
        this.endpointAddress = ContextName.endpoint(address);
        this.source = source;
        this.context = context;
        this.scheduling = scheduling;
        this.breaking = breaking;
    }

    /** The remote endpoint's address, as it was inserted, or as the remote endpoint gave it. */
    String address() {
        return address;
    }

    /**
     * The address that applications know: of a context that of its scalable endpoint, else {@link #address()}.
     */
    String endpointAddress() {
        return endpointAddress;
    }

    /** The peer's index in the address vector. Returns {@code fi_addr}, or {@link #UNKNOWN_SOURCE}. */
    int source() {
        return source;
    }

    /** The source address for completion entries. Returns {@code fi_addr}, or -1 (FI_ADDR_NOTAVAIL). */
    long sourceAddress() {
        return source < 0 ? -1L : source;
    }

    /** Sets {@link #source()}; {@link PeerReceives#source} does. */
    void source(int newSource) {
        source = newSource;
    }

    /**
     * The address as error data, which an application can insert into its address vector (fi_cq(3), fi_cq_readerr).
     * Returns the bytes of {@link #endpointAddress()}; made once, when first needed.
     */
    DirectBuffer rawAddress() {
        if (rawAddress == null) {
            rawAddress = new UnsafeBuffer(endpointAddress.getBytes(StandardCharsets.US_ASCII));
        }
        return rawAddress;
    }

    /** The endpoint's services for its peers. */
    PeerContext context() {
        return context;
    }

    /** The credit of both directions. Returns the same object for the life of this peer. */
    ByteCredit credit() {
        return credit;
    }

    /** What is counted beside the messages and their bytes. */
    Traffic traffic() {
        return traffic;
    }

    boolean isUp() {
        return state == UP;
    }

    /** Whether there is no channel, and none begins. */
    boolean isDown() {
        return state == DOWN;
    }

    boolean isConnecting() {
        return state == CONNECTING;
    }

    /** The channel. Returns null if the peer is down. */
    Channel channel() {
        return channel;
    }

    /** The channel, if its wire has announced payloads. Returns null also if the peer is not up. */
    PayloadChannel payloads() {
        return payloads;
    }

    /** The channel, if its wire carries frames. Returns null also if the peer is not up. */
    FrameChannel frames() {
        return frames;
    }

    /** The channel, if it has {@link Channel#sendShort}. Returns null also if the peer is not up. */
    Channel shorts() {
        return shorts;
    }

    /** The channel, if its wire carries payloads in segments. Returns null also if the peer is not up. */
    SegmentChannel segments() {
        return segments;
    }

    /** The channel's part for remote memory access. Returns null if its wire has none, also if the peer is not up. */
    RemoteChannel remoteMemory() {
        return remoteMemory;
    }

    /** Whether its messages arrive one behind the other: none begins before the one before it is here. */
    boolean isInSequence() {
        return frames == null && payloads == null;
    }

    void connecting(Channel newChannel) {
        if (state != UP) {
            state = CONNECTING;
            channel = newChannel;
        }
    }

    void up(Channel newChannel) {
        channel = newChannel;
        state = UP;
        payloads = newChannel.payloads();
        frames = newChannel.frames();
        shorts = newChannel.sendsShort() ? newChannel : null;
        segments = newChannel.segments();
        remoteMemory = newChannel.remoteMemory();
    }

    /** Marks the channel as one that ends; {@link #down()} follows. */
    void ending() {
        state = DOWN;
    }

    void down() {
        state = DOWN;
        channel = null;
        payloads = null;
        frames = null;
        shorts = null;
        segments = null;
        remoteMemory = null;
    }

    /** Has what waits for the channel continued in this or the next cycle. */
    void schedule() {
        scheduling.run();
    }

    /** The peer violates the protocol: its channel is closed and its operations fail. Other peers are not affected. */
    void violation(String reason) {
        breaking.accept(reason);
    }
}
