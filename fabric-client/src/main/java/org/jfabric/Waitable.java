package org.jfabric;

/** Something that a {@link WaitSet} waits for. */
interface Waitable {
    /**
     * Whether a read would find something. Any thread; may be wrong in favour of true.
     *
     * @return one look.
     */
    boolean isReady();
}
