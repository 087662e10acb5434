package com.example.quotes;

import java.util.concurrent.atomic.AtomicLong;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.CompletionError;
import org.jfabric.Destination;
import org.jfabric.Fabric;
import org.jfabric.Messenger;
import org.jfabric.info.FabricErrno;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;
import org.springframework.stereotype.Component;

/** The one thread that uses the messenger: it sends a quote each second, here to itself, and counts what arrives. */
@Component
class QuoteFeed implements SmartLifecycle {
    private static final Logger LOG = LoggerFactory.getLogger(QuoteFeed.class);
    private static final long TAG = 1;
    private static final long PAUSE_NS = 1_000_000_000;
    private static final long RETRY_NS = 100_000_000;

    private final Fabric fabric;
    private final AtomicLong received = new AtomicLong();
    private final AtomicLong cycleNs = new AtomicLong();
    private volatile boolean running;
    private Thread thread;

    QuoteFeed(Fabric fabric) {
        this.fabric = fabric;
    }

    long received() {
        return received.get();
    }

    /** Nanoseconds since its loop has run last. */
    long silentNs() {
        return System.nanoTime() - cycleNs.get();
    }

    /** Of a platform thread: it stays on one core, and owns the messenger from the first call to the last. */
    private void run() {
        UnsafeBuffer quote = new UnsafeBuffer(new byte[64]);
        IdleStrategy idle = new BackoffIdleStrategy();
        CompletionError error = new CompletionError();
        try (Messenger own = fabric.messenger().name("quotes").open()) {
            Destination self = own.peer(own.address());
            post(own);
            long nextNs = System.nanoTime();
            while (running) {
                cycleNs.set(System.nanoTime());
                if (cycleNs.get() - nextNs >= 0) {
                    nextNs += PAUSE_NS;
                    int result = own.retry(() -> own.send(self, quote, 0, 64, TAG), RETRY_NS, entry -> onQuote(own));
                    if (result != 0) {
                        LOG.warn("quote dropped: {}", FabricErrno.describe(-result));
                    }
                }
                int read = own.poll(entry -> onQuote(own), 16);
                if (read == -FabricErrno.EAVAIL && own.queue().readErr(error, 0) == 1) {
                    LOG.warn("operation {} failed: {}", error.opContext(), FabricErrno.describe(error.err()));
                }
                idle.idle(Math.max(read, 0));
            }
        }
    }

    private void onQuote(Messenger own) {
        received.incrementAndGet();
        post(own);
    }

    private static void post(Messenger own) {
        own.endpoint().trecv(own.memory().slice(0, 64), TAG, 0, 1);
    }

    @Override
    public void start() {
        cycleNs.set(System.nanoTime());
        running = true;
        thread = Thread.ofPlatform().name("quotes").start(this::run);
    }

    // example: spring-stop
    /** Begins before the web server, and ends after the requests that it still answers. */
    @Override
    public int getPhase() {
        return 0;
    }

    /** Called before beans are destroyed, so the messenger is closed while fabric and driver are open. */
    @Override
    public void stop() {
        running = false;
        try {
            thread.join();
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
        LOG.info("stopped after {} quotes", received.get());
    }
    // end

    @Override
    public boolean isRunning() {
        return running;
    }
}
