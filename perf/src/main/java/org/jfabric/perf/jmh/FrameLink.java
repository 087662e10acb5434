package org.jfabric.perf.jmh;

import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.FrameChannel;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.driver.link.PieceList;
import org.jfabric.driver.link.RemotePayload;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.info.Flags;

/**
 * A link without a peer, to measure the engine alone. It discards what is sent. On request it delivers one frame to the
 * engine, always the same. One channel. Owner: one thread.
 */
final class FrameLink extends Link {
    static final String NAME = "frames";

    private static final int LINE = 64;
    private static final int MOST_BYTES = 8192;
    private static final int CREDIT = 1 << 20;

    private Frames channel;
    private boolean up;
    private boolean delivers;
    private long frameTag;
    private long frameAddress;
    private int frameLength;
    private int sentBytes;

    /** The next poll has a tagged message. */
    void deliver(long tag, long address, int length) {
        frameTag = tag;
        frameAddress = address;
        frameLength = length;
        delivers = true;
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public boolean reaches(String remoteAddress) {
        return true;
    }

    @Override
    public void attach(LocalEndpoint endpoint) {
        // No peer connects from outside.
    }

    @Override
    public void detach(LocalEndpoint endpoint) {
        channel = null;
    }

    @Override
    public Channel connect(LocalEndpoint endpoint, String remoteAddress, ChannelHandler handler) {
        channel = new Frames(handler);
        up = false;
        return channel;
    }

    @Override
    public int poll(int limit) {
        if (channel == null) {
            return 0;
        }
        ChannelHandler handler = channel.handler();
        if (!up) {
            up = true;
            handler.onOpening();
            channel.frameHandler().onGrant(CREDIT);
            handler.onUp(channel);
            return 1;
        }
        // as the receiving engine would, which takes each message at once
        channel.frameHandler().onGrant(CREDIT + sentBytes);
        if (!delivers) {
            return 0;
        }
        delivers = false;
        handler.onMessage(Flags.TAGGED, frameTag, 0, frameAddress, frameLength);
        return 1;
    }

    @Override
    public boolean arm() {
        return !delivers;
    }

    @Override
    public void close() {
        channel = null;
    }

    private final class Frames extends FrameChannel {
        Frames(ChannelHandler handler) {
            super(new ChannelLimits(MOST_BYTES, MOST_BYTES, MOST_BYTES, Long.BYTES, Flags.TRANSMIT_COMPLETE, 0),
                handler);
        }

        @Override
        public boolean hasMore() {
            return false;
        }

        @Override
        public int send(TransmitOperation operation, int grant) {
            sentBytes += LINE + ((int) operation.length + LINE - 1 & -LINE);
            return DONE;
        }

        @Override
        public int sendShort(long kind, long tag, long address, int length, int grant) {
            sentBytes += LINE + (length + LINE - 1 & -LINE);
            return DONE;
        }

        @Override
        public void markSent() {
            // taken already
        }

        @Override
        public boolean isMarkTaken() {
            return true;
        }

        @Override
        public int announce(TransmitOperation operation, int grant) {
            return DONE;
        }

        @Override
        public int pull(
            RemotePayload source, RegisteredRegion destRegion, long destAddress, PieceList destPieces, long length) {
            return DONE;
        }

        @Override
        public int finish(long operation, int errno, int grant) {
            return DONE;
        }

        @Override
        public int acknowledge(long operation, long levels, int errno, int grant) {
            return DONE;
        }

        @Override
        public int sendGrant(int grant) {
            return DONE;
        }

        @Override
        public void close(int errno) {
            channel = null;
        }
    }
}
