package org.jfabric.perf.loss;

import java.nio.file.Path;
import java.util.List;
import org.agrona.DirectBuffer;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.LinkConfig;
import org.jfabric.driver.config.ShmConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.stream.Publication;
import org.jfabric.stream.StreamHeader;
import org.jfabric.stream.StreamListener;
import org.jfabric.stream.Subscription;

/** A publication over udp, and its subscription; a driver in mode INVOKER each. */
final class JFabricStream implements LossyStream, StreamListener {
    private static final int LIMIT = 16;
    private static final int RING_BYTES = 64 << 20;

    private final Path folder;
    private final int port;
    /** Begins with a semicolon; empty for one path. */
    private final String second;
    private FabricDriver writing;
    private Publication publication;
    private FabricDriver reading;
    private Subscription subscription;
    private Listener listener;

    /** Over one path, through the relay. */
    JFabricStream(Path folder, int port) {
        this(folder, port, "");
    }

    /** Over two paths: the relay, and a port of this host. */
    JFabricStream(Path folder, int port, int secondPort) {
        this(folder, port, ";127.0.0.1:" + secondPort);
    }

    private JFabricStream(Path folder, int port, String second) {
        this.folder = folder;
        this.port = port;
        this.second = second;
    }

    private FabricDriver launch(String name) {
        return FabricDriver.launchEmbedded(DriverConfig.builder().directory(folder.resolve(name))
            .threadingMode(ThreadingMode.INVOKER).set(LinkConfig.ENABLED, List.of("shm", "udp"))
            .set(ShmConfig.GROUP_RING_LENGTH_BYTES, RING_BYTES).build());
    }

    @Override
    public int askedPort() {
        return port;
    }

    @Override
    public void openWriter(int relayPort) {
        writing = launch("writer");
        publication = Publication.on(writing.fabric(), "jfabric://writer/stream")
            .onNetwork("127.0.0.1:" + port + second).open();
    }

    @Override
    public void openReader(int relayPort, Listener newListener) {
        listener = newListener;
        reading = launch("reader");
        subscription = Subscription.on(
            reading.fabric(), "stream://127.0.0.1:" + relayPort + second + "/stream").open();
    }

    @Override
    public boolean isConnected() {
        publication.poll();
        return true;
    }

    @Override
    public boolean offer(DirectBuffer buffer, int length) {
        return publication.offer(buffer, 0, length) == 0;
    }

    @Override
    public void stepWriter() {
        publication.poll();
    }

    @Override
    public void poll() {
        subscription.poll(this, LIMIT);
    }

    @Override
    public void onMessage(DirectBuffer buffer, int offset, int length, StreamHeader header) {
        listener.onMessage(buffer, offset, length);
    }

    @Override
    public void closeReader() {
        subscription.close();
        reading.fabric().close();
        reading.close();
    }

    @Override
    public void close() {
        publication.close();
        writing.fabric().close();
        writing.close();
    }

    @Override
    public String toString() {
        return "JFabric";
    }
}
