package org.jfabric.driver.engine;

/**
 * Writes into the file of one client what others may see once for a whole batch. A writer that has something to publish
 * stands in the engine's list until the end of the duty cycle, so that those without news cost nothing, however many
 * there are.
 *
 * <p>Owner: progress agent.
 */
abstract class BatchWriter {
    private FlushList list;
    /** True also without a list, so that {@link #changed()} has one thing to look at. */
    private boolean listed = true;

    BatchWriter() {
    }

    /** There is something to publish. */
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

    /** Nothing is published any more. */
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

    /**
     * Publishes what was written.
     *
     * @return work done besides.
     */
    abstract int publish();

    /** Whether it has to be asked again in the next cycle, whatever happens. */
    abstract boolean goesOn();
}
