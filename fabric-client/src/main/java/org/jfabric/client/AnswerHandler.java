package org.jfabric.client;

import org.jfabric.FabricException;

/**
 * Told of the answer to a command that nobody waits for.
 */
public interface AnswerHandler {
    /**
     * The command has ended, once.
     *
     * @param answer  what the driver answered, null if it refused or there is no answer any more.
     * @param failure why there is no answer, null if there is one.
     */
    void onAnswer(DriverEvent answer, FabricException failure);
}
