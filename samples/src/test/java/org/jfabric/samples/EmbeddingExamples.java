package org.jfabric.samples;

import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.SingleWriterRecorder;
import org.agrona.ErrorHandler;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.AgentRunner;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.CompositeAgent;
import org.jfabric.Completion;
import org.jfabric.CompletionHandler;
import org.jfabric.Fabric;
import org.jfabric.Messenger;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;

/** The code of docs/embedding.md: each region between markers stands there, and is run by the page's test. */
final class EmbeddingExamples {
    private static final long TAG = 7;

    long received;
    private final CompletionHandler handler = entry -> received++;

    // example: shutdown
    private final AtomicBoolean isEnding = new AtomicBoolean();

    void serve(DriverConfig config) {
        Thread owner = Thread.currentThread();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> end(owner)));
        try (FabricDriver driver = FabricDriver.launchEmbedded(config); Fabric fabric = driver.fabric();
             Messenger own = fabric.messenger().name("desk").open()) {
            while (!isEnding.get()) {
                own.poll(handler, 16);
            }
        }
    }

    /** The process ends when its hooks have, so this one waits until the thread that owns it has closed all. */
    void end(Thread owner) {
        isEnding.set(true);
        try {
            owner.join(Duration.ofSeconds(10));
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }
    // end

    // example: agent
    static AgentRunner start(FabricDriver driver, Agent application, ErrorHandler errors) {
        AgentRunner runner = new AgentRunner(
            new BackoffIdleStrategy(), errors, null, new CompositeAgent(application, driver.agent()));
        AgentRunner.startOnThread(runner);
        return runner;
    }
    // end

    // example: event-loop
    /** An event loop of Netty is such an executor. */
    ScheduledFuture<?> attach(ScheduledExecutorService loop, Messenger own) {
        return loop.scheduleWithFixedDelay(() -> {
            int read = own.poll(handler, 64);
            for (int i = 0; i < 16 && read > 0; i++) {
                read = own.poll(handler, 64);
            }
        }, 0, 1, TimeUnit.MILLISECONDS);
    }
    // end

    // example: histogram
    private final SingleWriterRecorder latencies = new SingleWriterRecorder(TimeUnit.MINUTES.toNanos(1), 3);

    /** The sender has written {@code System.nanoTime()} at the time at which the message was due. */
    void onMessage(Messenger own, Completion entry) {
        long dueNs = own.memory().buffer().getLong((int) (entry.opContext() * 64));
        latencies.recordValue(System.nanoTime() - dueNs);
    }

    /** Any thread, now and then. */
    Histogram interval() {
        return latencies.getIntervalHistogram();
    }
    // end

    static void post(Messenger own, int slot) {
        own.endpoint().trecv(own.memory().slice(slot * 64L, 64), TAG, 0, slot);
    }
}
