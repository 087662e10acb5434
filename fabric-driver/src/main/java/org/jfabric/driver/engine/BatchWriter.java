package org.jfabric.driver.engine;

/**
 * Publishes into a file of one client, once for a whole batch of changes. A writer that has something to publish is in
 * the engine's list until the end of the duty cycle, so writers without changes cost nothing, however many there are.
 *
 * <p>Owner: progress agent.
 */
abstract class BatchWriter {
    private FlushList list;
    /** True also without a list, so that {@link #changed()} tests one field only. */
    private boolean listed = true;

    BatchWriter() {
    }

    /** Marks this writer as having something to publish. */
    final void changed() {
        if (!listed) {
            listed = true;
            list.append(this);
        }
    }

    final void enter(FlushList newList) {
        list = newList;
        listed = false;
        changed();
    }

    /** Stops publishing. */
    void leave() {
        list = null;
        listed = true;
    }

    final boolean isIn(FlushList asked) {
        return list == asked;
    }

    final void onPublished() {
        listed = false;
    }

    /** Publishes what was written. */
    abstract int publish();

    /** Returns whether this writer must be called again in the next cycle, even if nothing changes. */
    abstract boolean staysListed();
}
