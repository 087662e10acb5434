package org.jfabric.driver.link.tcp;

import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.PayloadHandler;
import org.jfabric.driver.link.Placement;
import org.jfabric.driver.link.RemoteHandler;
import org.jfabric.driver.link.StreamHandler;
import org.jfabric.info.Flags;

/**
 * Gives the engine the time of each message: that of the read by which its last byte came. In front of the engine's own
 * handler, so that connections without times have no step for them.
 *
 * <p>Owner: progress agent.
 */
final class TimedHandler extends ChannelHandler {
    private final ChannelHandler engine;
    private final TcpPort port;
    private final StreamHandler streams;

    TimedHandler(ChannelHandler engine, TcpPort port) {
        this.engine = engine;
        this.port = port;
        this.streams = new Streams(engine.streamHandler());
    }

    @Override
    public void onMessage(long flags, long tag, long data, long address, int length) {
        engine.arrivedAt(port.timeNs());
        engine.onMessage(flags | Flags.TIMESTAMP, tag, data, address, length);
    }

    @Override
    public StreamHandler streamHandler() {
        return streams;
    }

    @Override
    public PayloadHandler payloadHandler() {
        return engine.payloadHandler();
    }

    @Override
    public RemoteHandler remoteHandler() {
        return engine.remoteHandler();
    }

    @Override
    public int onOpening() {
        return engine.onOpening();
    }

    @Override
    public void onUp(Channel channel) {
        engine.onUp(channel);
    }

    @Override
    public void onDown(int errno) {
        engine.onDown(errno);
    }

    @Override
    public void onWritable() {
        engine.onWritable();
    }

    @Override
    public void onSent(long operation, int errno) {
        engine.onSent(operation, errno);
    }

    private final class Streams extends StreamHandler {
        private final StreamHandler ofEngine;

        Streams(StreamHandler ofEngine) {
            this.ofEngine = ofEngine;
        }

        @Override
        public boolean canStore(long length) {
            return ofEngine.canStore(length);
        }

        @Override
        public void place(long flags, long tag, long data, long length, Placement placement) {
            ofEngine.place(flags | Flags.TIMESTAMP, tag, data, length, placement);
        }

        @Override
        public void onPlaced(Placement placement) {
            ofEngine.onPlacedAt(placement, port.timeNs());
        }

        @Override
        public void onAborted(Placement placement, int errno) {
            ofEngine.onAborted(placement, errno);
        }

        @Override
        public void onAcknowledged(long operation, long levels, int errno) {
            ofEngine.onAcknowledged(operation, levels, errno);
        }
    }
}
