package org.jfabric.driver.link.support;

import org.jfabric.driver.resource.ResourceTask;

/** One slow step of a handshake: reading keys, computing. */
public abstract class HandshakeTask extends ResourceTask {
    /** For links. */
    protected HandshakeTask() {
    }

    /**
     * Whether the handshake has ended while the task waited.
     *
     * @return true if the task need not be run.
     */
    protected abstract boolean isOver();
}
