package org.jfabric.client;

import org.jfabric.layout.RecordConsumer;

/**
 * Runs the embedded driver's duty cycle in the calls of its client, and hands over the events that it left.
 *
 * <p>Owner: the thread that uses the domain.
 */
public final class Invoker {
    private final EmbeddedDriver driver;
    private final UseGuard guard = new UseGuard("the domain of a driver in mode INVOKER");
    private final RecordConsumer events;
    private final Runnable onEvents;

    /**
     * The invoker of one embedding client.
     *
     * @param driver   whose cycle is run.
     * @param events   event ring, or null if there is none.
     * @param onEvents called after a cycle if the ring has something.
     */
    public Invoker(EmbeddedDriver driver, RecordConsumer events, Runnable onEvents) {
        this.driver = driver;
        this.events = events;
        this.onEvents = onEvents;
    }

    /**
     * Guards everything that runs the driver's cycles or posts to its engine.
     *
     * @return the one guard of this driver's embedding client.
     */
    public UseGuard guard() {
        return guard;
    }

    /**
     * Runs one duty cycle; events are handed over after it.
     *
     * @return work done.
     */
    public int cycle() {
        assert guard.enter();
        int work = driver.cycle();
        if (events != null && events.poll() != RecordConsumer.EMPTY) {
            onEvents.run();
            work++;
        }
        assert guard.exit();
        return work;
    }
}
