package org.jfabric.driver.engine;

/**
 * A change of a counter that waits for another counter, or for the same one.
 *
 * <p>Owner: progress agent.
 */
final class WaitingChange extends WaitingWork {
    private final SessionWork owner;
    CounterWriter target;
    long value;
    /** Whether the value replaces that of the counter. */
    boolean isSet;
    long domain;
    /** Index in the owner's list. */
    int index;

    WaitingChange(SessionWork owner) {
        this.owner = owner;
    }

    @Override
    void start() {
        CounterWriter changed = target;
        owner.release(this);
        if (isSet) {
            changed.set(value);
        } else {
            changed.add(value);
        }
    }

    @Override
    void cancel() {
        owner.release(this);
    }

    @Override
    long domain() {
        return domain;
    }
}
