package org.jfabric.perf.compare;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.agrona.UnsafeApi;
import org.jfabric.tool.ToolException;

/**
 * One of two processes that lend messages to each other by iceoryx: memory is loaned and published, taken and released.
 * The sender writes the first word and the receiver reads it. Owner: one thread.
 */
final class IceoryxPort implements Port {
    private static final String TO_PONG = "to-pong";
    private static final String TO_PING = "to-ping";
    private static final int MOST_NAME_CHARACTERS = 90;
    private static final long CONNECT_TIMEOUT_NS = 10_000_000_000L;
    private static boolean isConnected;

    private final Arena arena = Arena.ofShared();
    private final MemorySegment place = arena.allocate(ValueLayout.JAVA_LONG);
    private final long placeAddress = place.address();
    private final long lengthBytes;
    private final long publisher;
    private final long subscriber;
    private long sent;
    private long received;

    IceoryxPort(SideSettings settings) {
        // the word at its begin
        lengthBytes = Math.max(Long.BYTES, settings.sizeBytes());
        synchronized (IceoryxPort.class) {
            if (!isConnected) {
                IceoryxLibrary.connect("jfabric-compare-" + ProcessHandle.current().pid());
                isConnected = true;
            }
        }
        boolean begins = settings.role() == SideRole.PING;
        String cell = settings.directory().toString();
        String name = cell.substring(Math.max(0, cell.length() - MOST_NAME_CHARACTERS));
        publisher = IceoryxLibrary.publisher(arena, List.of("jfabric", name, begins ? TO_PONG : TO_PING));
        subscriber = IceoryxLibrary.subscriber(arena, List.of("jfabric", name, begins ? TO_PING : TO_PONG));
    }

    @Override
    public void connect() {
        long beginNs = System.nanoTime();
        while (!IceoryxLibrary.areConnected(publisher, subscriber)) {
            Thread.yield();
            if (System.nanoTime() - beginNs > CONNECT_TIMEOUT_NS) {
                throw new ToolException("iceoryx's two sides did not find each other within 10 s.");
            }
        }
    }

    @Override
    public boolean trySend() {
        if (!IceoryxLibrary.loan(publisher, place, lengthBytes)) {
            return false;
        }
        long payload = UnsafeApi.getLong(placeAddress);
        UnsafeApi.putLong(payload, sent++);
        IceoryxLibrary.publish(publisher, payload);
        return true;
    }

    @Override
    public void poll() {
        if (IceoryxLibrary.take(subscriber, place)) {
            long payload = UnsafeApi.getLong(placeAddress);
            long number = UnsafeApi.getLong(payload);
            IceoryxLibrary.release(subscriber, payload);
            if (number != received) {
                throw new ToolException("Message " + received + " of iceoryx arrived as number " + number + '.');
            }
            received++;
        }
    }

    @Override
    public long received() {
        return received;
    }

    @Override
    public void close() {
        IceoryxLibrary.close(publisher, subscriber);
        arena.close();
    }
}
