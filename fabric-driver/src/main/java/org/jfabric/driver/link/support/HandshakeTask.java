package org.jfabric.driver.link.support;

import org.jfabric.driver.resource.ResourceTask;

/** One slow step of a handshake: reading keys, computing. */
public abstract class HandshakeTask extends ResourceTask {
    protected HandshakeTask() {
    }

    /** Whether the handshake has ended while the task waited. */
    protected abstract boolean isOver();
}
