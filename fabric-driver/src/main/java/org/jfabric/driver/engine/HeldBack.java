package org.jfabric.driver.engine;

/**
 * What waits for slots of a completion queue's driver share: messages that stay unexpected although a posted receive
 * accepts them.
 *
 * <p>Owner: progress agent.
 */
abstract class HeldBack {
    /** For the few parts of the engine that take such slots. */
    protected HeldBack() {
    }

    /**
     * Goes on as far as there are slots.
     *
     * @return messages that wait no more.
     */
    abstract int retry();
}
