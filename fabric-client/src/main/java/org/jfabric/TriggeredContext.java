package org.jfabric;

/**
 * Says when a triggered operation starts: when the value of a counter is a threshold or more (struct
 * fi_triggered_context with FI_TRIGGER_THRESHOLD). Made once and used again and again.
 *
 * <pre>{@code
 * trigger.threshold(counter, 3);
 * request.memory(region.address(), 64).destAddr(peer).tag(7).opContext(1).trigger(trigger);
 * int result = endpoint.messages().tsendmsg(request);
 * }</pre>
 *
 * <p>Given to a {@link SendRequest}, {@link ReceiveRequest}, {@link RemoteRequest} or {@link AtomicRequest}, whose
 * context the entry has. The endpoint copies the condition, so the object may be changed as soon as the call returns.
 * Owner: one thread at a time. Source: fi_trigger(3).
 */
public final class TriggeredContext {
    private Counter counter;
    private long threshold;

    /** A condition without a counter; an operation with it is refused with {@code -FI_EINVAL}. */
    public TriggeredContext() {
    }

    /**
     * The condition.
     *
     * @param triggeringCounter of the endpoint's domain; only its value counts, not its error value.
     * @param value             0 or more. The operation starts at once if the counter has reached it already.
     * @return this.
     */
    public TriggeredContext threshold(Counter triggeringCounter, long value) {
        counter = triggeringCounter;
        threshold = value;
        return this;
    }

    Counter counter() {
        return counter;
    }

    long threshold() {
        return threshold;
    }

    /** Whether work of that domain may wait for it. */
    boolean isValid(Domain domain) {
        return counter != null && threshold >= 0 && counter.isOpen() && counter.domain() == domain;
    }
}
