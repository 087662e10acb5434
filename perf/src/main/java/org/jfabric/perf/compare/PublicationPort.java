package org.jfabric.perf.compare;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.LinkConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.info.FabricErrno;
import org.jfabric.stream.Publication;
import org.jfabric.stream.StreamHeader;
import org.jfabric.stream.StreamListener;
import org.jfabric.stream.Subscription;
import org.jfabric.tool.PingPongContents;
import org.jfabric.tool.ToolException;

/**
 * One of two processes with drivers in mode INVOKER: a publication sends, and subscriptions receive, all of them polled
 * by one thread. Messages are offered from a buffer of the application and read where the driver shows them.
 */
final class PublicationPort implements Port, StreamListener {
    private static final int LIMIT = 16;

    private final SideSettings settings;
    private final Place place;
    /** One, or one for each subscription. */
    private final List<FabricDriver> drivers = new ArrayList<>();
    private final Publication publication;
    private final Subscription[] readers;
    private final byte[] message;
    private final UnsafeBuffer payload;
    private final boolean comparing;
    private long received;
    /** Never read. Without it the compiler would remove the access to the message. */
    private long seen;

    /** Where the messages go. */
    enum Place {
        /** Through shared memory. */
        MEMORY,
        /** The same; what the side that begins writes is recorded. */
        LOG,
        /** Over udp, to a driver for each subscription, as if each were on a host of its own. */
        HOSTS
    }

    /**
     * Starts the drivers.
     *
     * @param readers of the side that begins; the other direction has one.
     */
    PublicationPort(SideSettings settings, int readers, Place place) {
        this.settings = settings;
        this.place = place;
        boolean begins = settings.role() == SideRole.PING;
        comparing = settings.pass() == Pass.VERIFY || settings.pass() == Pass.VERIFY_STREAM;
        message = new byte[settings.sizeBytes()];
        payload = new UnsafeBuffer(message);
        this.readers = new Subscription[begins ? 1 : readers];
        for (int i = 0; i < (place == Place.HOSTS ? this.readers.length : 1); i++) {
            Path directory = settings.ownDirectory();
            drivers.add(FabricDriver.launchEmbedded(DriverConfig.builder()
                .directory(i == 0 ? directory : directory.resolveSibling(directory.getFileName() + "-" + i))
                .threadingMode(ThreadingMode.INVOKER).set(LinkConfig.ENABLED, List.of("shm", "udp")).build()));
        }
        Publication.Builder builder = Publication.on(drivers.getFirst().fabric(), memory(settings.role()));
        publication = switch (place) {
            case MEMORY -> builder.open();
            case LOG -> (begins ? builder.recordIn(settings.onDisk()) : builder).open();
            case HOSTS -> builder.onNetwork(network(settings.role())).open();
        };
    }

    private static String memory(SideRole role) {
        return "jfabric://" + role.text() + "/stream";
    }

    private String network(SideRole role) {
        return Cable.host(role) + ':' + settings.port(role);
    }

    @Override
    public void connect() {
        SideRole other = settings.other();
        String from = place == Place.HOSTS ? "stream://" + network(other) + "/stream" : memory(other);
        for (int i = 0; i < readers.length; i++) {
            readers[i] = Subscription.on(drivers.get(Math.min(i, drivers.size() - 1)).fabric(), from).open();
        }
    }

    @Override
    public void cycle() {
        publication.poll();
    }

    @Override
    public void begin(Pass pass) {
        // contents are compared in a cell of its own
    }

    @Override
    public boolean trySend() {
        if (comparing) {
            PingPongContents.fill(MemorySegment.ofArray(message), message.length, publication.position());
        }
        int result = publication.offer(payload, 0, message.length);
        Refusal.unlessAgain(result);
        return result == 0;
    }

    @Override
    public void poll() {
        long least = Long.MAX_VALUE;
        for (Subscription reader : readers) {
            int result = reader.poll(this, LIMIT);
            if (result != -FabricErrno.ESHUTDOWN) {
                // the other side may end first
                Refusal.unlessAgain(result);
            }
            least = Math.min(least, reader.position());
        }
        received = least;
    }

    /** Messages that all readers have taken. */
    @Override
    public long received() {
        return received;
    }

    @Override
    public void onMessage(DirectBuffer buffer, int offset, int length, StreamHeader header) {
        if (comparing) {
            compare(buffer, offset, length, header.position());
        }
        seen += buffer.getByte(offset);
    }

    private void compare(DirectBuffer buffer, int offset, int length, long position) {
        byte[] compared = new byte[length];
        buffer.getBytes(offset, compared);
        if (length != message.length
            || PingPongContents.mismatch(MemorySegment.ofArray(compared), length, position) >= 0) {
            throw new ToolException("Message " + position + " of the stream, of " + length + " bytes, is not as sent;"
                + " this is a defect of JFabric, please report it.");
        }
    }

    @Override
    public void close() {
        drivers.forEach(driver -> driver.fabric().close());
        drivers.forEach(FabricDriver::close);
    }
}
