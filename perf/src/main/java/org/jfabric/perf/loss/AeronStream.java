package org.jfabric.perf.loss;

import io.aeron.Aeron;
import io.aeron.ExclusivePublication;
import io.aeron.FragmentAssembler;
import io.aeron.Subscription;
import io.aeron.driver.MediaDriver;
import io.aeron.driver.ThreadingMode;
import io.aeron.logbuffer.FragmentHandler;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.AgentInvoker;

/** Aeron's publication and subscription over UDP; a media driver each, run by its thread. */
final class AeronStream implements LossyStream {
    private static final int LIMIT = 16;
    private static final int STREAM = 1001;
    private static final int TERM_BYTES = 64 << 20;
    private static final int WINDOW_BYTES = 16 << 20;
    private static final int BUFFER_BYTES = 16 << 20;

    private final Path folder;
    private final int port;
    private final boolean isTuned;
    private MediaDriver writing;
    private Aeron writer;
    private ExclusivePublication publication;
    private AgentInvoker writerDriver;
    private AgentInvoker writerConductor;
    private MediaDriver reading;
    private Aeron reader;
    private Subscription subscription;
    private AgentInvoker readerDriver;
    private AgentInvoker readerConductor;
    private FragmentHandler handler;
    private int steps;
    private int readSteps;

    /** With its defaults, or with a window and timers for low latency. */
    AeronStream(Path folder, int port, boolean isTuned) {
        this.folder = folder;
        this.port = port;
        this.isTuned = isTuned;
    }

    private MediaDriver launch(String name) {
        MediaDriver.Context context = new MediaDriver.Context().aeronDirectoryName(folder.resolve(name).toString())
            .dirDeleteOnStart(true).threadingMode(ThreadingMode.INVOKER);
        if (isTuned) {
            context.initialWindowLength(WINDOW_BYTES).socketRcvbufLength(BUFFER_BYTES)
                .socketSndbufLength(BUFFER_BYTES).publicationTermWindowLength(TERM_BYTES / 2)
                .nakUnicastDelayNs(TimeUnit.MICROSECONDS.toNanos(1))
                .nakUnicastRetryDelayRatio(TimeUnit.MILLISECONDS.toMicros(1))
                .retransmitUnicastLingerNs(TimeUnit.MICROSECONDS.toNanos(1));
        }
        return MediaDriver.launchEmbedded(context);
    }

    private static Aeron connect(MediaDriver driver) {
        return Aeron.connect(new Aeron.Context().aeronDirectoryName(driver.aeronDirectoryName())
            .driverAgentInvoker(driver.sharedAgentInvoker()).useConductorAgentInvoker(true));
    }

    @Override
    public int askedPort() {
        return port;
    }

    @Override
    public void openWriter(int relayPort) {
        writing = launch("writer");
        writer = connect(writing);
        writerDriver = writing.sharedAgentInvoker();
        writerConductor = writer.conductorAgentInvoker();
        publication = writer.addExclusivePublication(
            "aeron:udp?term-length=" + TERM_BYTES + "|endpoint=127.0.0.1:" + relayPort, STREAM);
    }

    @Override
    public void openReader(int relayPort, Listener listener) {
        reading = launch("reader");
        reader = connect(reading);
        readerDriver = reading.sharedAgentInvoker();
        readerConductor = reader.conductorAgentInvoker();
        handler = new FragmentAssembler((buffer, offset, length, header) -> listener.onMessage(buffer, offset, length));
        subscription = reader.addSubscription("aeron:udp?endpoint=127.0.0.1:" + port, STREAM);
    }

    @Override
    public boolean isConnected() {
        writerConductor.invoke();
        writerDriver.invoke();
        return publication.isConnected();
    }

    @Override
    public boolean offer(DirectBuffer buffer, int length) {
        return publication.offer(buffer, 0, length) > 0;
    }

    @Override
    public void stepWriter() {
        if ((++steps & 0xff) == 0) {
            writerConductor.invoke();
        }
        writerDriver.invoke();
    }

    @Override
    public void poll() {
        if ((++readSteps & 0xff) == 0) {
            readerConductor.invoke();
        }
        readerDriver.invoke();
        subscription.poll(handler, LIMIT);
    }

    @Override
    public void closeReader() {
        reader.close();
        reading.close();
    }

    @Override
    public void close() {
        writer.close();
        writing.close();
    }

    @Override
    public String toString() {
        return isTuned ? "Aeron, tuned" : "Aeron";
    }
}
