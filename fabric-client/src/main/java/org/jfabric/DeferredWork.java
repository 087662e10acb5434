package org.jfabric;

import org.jfabric.info.Flags;
import org.jfabric.layout.AtomicForm;

/**
 * Work that a domain starts when a counter has reached a threshold: a transfer of one of its endpoints, or a change of
 * another counter (struct fi_deferred_work). Made once and used again and again.
 *
 * <pre>{@code
 * work.trigger(received, 1).completionCounter(forwarded).tsend(endpoint, request);
 * int result = domain.queueWork(work);
 * }</pre>
 *
 * <p>Work starts when the sum of the triggering counter's value and its error value is the threshold or more. A
 * transfer counts once in its completion counter when it ends, and not in the counters of its endpoint. It has an entry
 * only if its flags have {@link Flags#COMPLETION}, or if it fails or is cancelled.
 *
 * <p>{@link Domain#queueWork} copies all arguments, those of the named request too. The object stays the name of the
 * work that was queued last with it, for {@link Domain#cancelWork}. Owner: one thread at a time. Source: fi_trigger(3),
 * section Experimental Deferred Work Queues.
 */
public final class DeferredWork {
    private static final int NOTHING = 0;
    private static final int SEND = 1;
    private static final int TAGGED_SEND = 2;
    private static final int RECEIVE = 3;
    private static final int TAGGED_RECEIVE = 4;
    private static final int READ = 5;
    private static final int WRITE = 6;
    private static final int ATOMIC = 7;
    private static final int FETCH_ATOMIC = 8;
    private static final int COMPARE_ATOMIC = 9;
    private static final int COUNTER_ADD = 10;
    private static final int COUNTER_SET = 11;

    private final TriggeredContext trigger = new TriggeredContext();
    private Counter completionCounter;
    private int kind;
    private Endpoint endpoint;
    /** The arguments, of the class that the kind needs; null for a change of a counter. */
    private Object request;
    /** The counter that changes. */
    private Counter target;
    private long value;
    /** Of the work that was queued last; 0 for none. */
    private long queuedId;

    /** Work as after {@link #clear()}. */
    public DeferredWork() {
    }

    /**
     * Sets every argument back: no condition, no completion counter, nothing to do. Work that is queued stays queued.
     *
     * @return this.
     */
    public DeferredWork clear() {
        trigger.threshold(null, 0);
        completionCounter = null;
        return does(NOTHING, null, null);
    }

    /**
     * When the work starts.
     *
     * @param counter   of the domain (triggering_cntr).
     * @param threshold 0 or more; the counter's value and its error value together have to reach it. If they have
     *                  already, the work starts at once.
     * @return this.
     */
    public DeferredWork trigger(Counter counter, long threshold) {
        trigger.threshold(counter, threshold);
        return this;
    }

    /**
     * The counter that counts the end of a transfer, as a success or as an error.
     *
     * @param counter of the domain (completion_cntr); null for none. Changes of counters must have none.
     * @return this.
     */
    public DeferredWork completionCounter(Counter counter) {
        completionCounter = counter;
        return this;
    }

    /**
     * Sends a message (FI_OP_SEND).
     *
     * @param from      enabled, with capability TRIGGER.
     * @param arguments read by {@link Domain#queueWork}; without a triggered context.
     * @return this.
     */
    public DeferredWork send(Endpoint from, SendRequest arguments) {
        return does(SEND, from, arguments);
    }

    /**
     * Sends a tagged message (FI_OP_TSEND).
     *
     * @param from      as for {@link #send}.
     * @param arguments as for {@link #send}.
     * @return this.
     */
    public DeferredWork tsend(Endpoint from, SendRequest arguments) {
        return does(TAGGED_SEND, from, arguments);
    }

    /**
     * Posts a receive (FI_OP_RECV). Multi-receive buffers and endpoints with buffered receives are refused.
     *
     * @param at        as for {@link #send}.
     * @param arguments as for {@link #send}.
     * @return this.
     */
    public DeferredWork recv(Endpoint at, ReceiveRequest arguments) {
        return does(RECEIVE, at, arguments);
    }

    /**
     * Posts a tagged receive (FI_OP_TRECV); no peek, claim or discard.
     *
     * @param at        as for {@link #recv}.
     * @param arguments as for {@link #send}.
     * @return this.
     */
    public DeferredWork trecv(Endpoint at, ReceiveRequest arguments) {
        return does(TAGGED_RECEIVE, at, arguments);
    }

    /**
     * Reads remote memory (FI_OP_READ).
     *
     * @param by        as for {@link #send}.
     * @param arguments as for {@link #send}.
     * @return this.
     */
    public DeferredWork read(Endpoint by, RemoteRequest arguments) {
        return does(READ, by, arguments);
    }

    /**
     * Writes remote memory (FI_OP_WRITE).
     *
     * @param by        as for {@link #send}.
     * @param arguments as for {@link #send}.
     * @return this.
     */
    public DeferredWork write(Endpoint by, RemoteRequest arguments) {
        return does(WRITE, by, arguments);
    }

    /**
     * Changes elements of remote memory (FI_OP_ATOMIC).
     *
     * @param by        as for {@link #send}.
     * @param arguments as for {@link #send}.
     * @return this.
     */
    public DeferredWork atomic(Endpoint by, AtomicRequest arguments) {
        return does(ATOMIC, by, arguments);
    }

    /**
     * Changes elements of remote memory and brings the old values (FI_OP_FETCH_ATOMIC).
     *
     * @param by        as for {@link #send}.
     * @param arguments as for {@link #send}.
     * @return this.
     */
    public DeferredWork fetchAtomic(Endpoint by, AtomicRequest arguments) {
        return does(FETCH_ATOMIC, by, arguments);
    }

    /**
     * Changes elements of remote memory depending on compare values (FI_OP_COMPARE_ATOMIC).
     *
     * @param by        as for {@link #send}.
     * @param arguments as for {@link #send}.
     * @return this.
     */
    public DeferredWork compareAtomic(Endpoint by, AtomicRequest arguments) {
        return does(COMPARE_ATOMIC, by, arguments);
    }

    /**
     * Adds to a counter (FI_OP_CNTR_ADD).
     *
     * @param counter of the domain.
     * @param change  0 or more.
     * @return this.
     */
    public DeferredWork counterAdd(Counter counter, long change) {
        does(COUNTER_ADD, null, null);
        target = counter;
        value = change;
        return this;
    }

    /**
     * Sets a counter (FI_OP_CNTR_SET). What the driver or the application counts at the same time is added.
     *
     * @param counter  of the domain.
     * @param newValue 0 or more.
     * @return this.
     */
    public DeferredWork counterSet(Counter counter, long newValue) {
        does(COUNTER_SET, null, null);
        target = counter;
        value = newValue;
        return this;
    }

    private DeferredWork does(int newKind, Endpoint newEndpoint, Object newRequest) {
        kind = newKind;
        endpoint = newEndpoint;
        request = newRequest;
        target = null;
        value = 0;
        return this;
    }

    boolean changesCounter() {
        return kind >= COUNTER_ADD;
    }

    boolean isSet() {
        return kind == COUNTER_SET;
    }

    Counter target() {
        return target;
    }

    long value() {
        return value;
    }

    TriggeredContext trigger() {
        return trigger;
    }

    Counter completionCounter() {
        return completionCounter;
    }

    /** Whether there is something to do, for an endpoint of that domain or a counter of it. */
    boolean isComplete(Domain domain) {
        boolean hasObject = changesCounter() ? target != null && target.isOpen() && target.domain() == domain
            && value >= 0 && completionCounter == null : request != null && endpoint != null
            && endpoint.domain() == domain;
        boolean hasCompletion = completionCounter == null
            || completionCounter.isOpen() && completionCounter.domain() == domain;
        return kind != NOTHING && hasObject && hasCompletion;
    }

    /** Names the work; before it is posted. */
    void id(long newId) {
        queuedId = newId;
    }

    long id() {
        return queuedId;
    }

    Endpoint endpoint() {
        return endpoint;
    }

    /** Posts a transfer; the answer of the endpoint. */
    int post(EndpointTriggers triggers) {
        return switch (kind) {
            case SEND -> triggers.send((SendRequest) request, Flags.MSG, trigger, this);
            case TAGGED_SEND -> triggers.send((SendRequest) request, Flags.TAGGED, trigger, this);
            case RECEIVE -> triggers.receive((ReceiveRequest) request, Flags.MSG, trigger, this);
            case TAGGED_RECEIVE ->
                triggers.receive((ReceiveRequest) request, Flags.TAGGED, trigger, this);
            case READ, WRITE -> endpoint.remoteMemory().post((RemoteRequest) request,
                Flags.RMA | (kind == READ ? Flags.READ : Flags.WRITE), trigger, this);
            default -> endpoint.atomics().post((AtomicRequest) request,
                kind == ATOMIC ? AtomicForm.BASE : kind == FETCH_ATOMIC ? AtomicForm.FETCH : AtomicForm.COMPARE,
                trigger, this);
        };
    }
}
