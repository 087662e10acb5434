package org.jfabric.client;

import org.jfabric.codec.control.ControlMessage.Answer;
import org.jfabric.info.FabricException;

/**
 * Notified of the answer to a command for which no thread waits.
 */
public interface AnswerHandler {
    /**
     * The command has ended, once.
     *
     * @param answer  of the driver, null if it refused or there is no answer any more.
     * @param failure why there is no answer, null if there is one.
     */
    void onAnswer(Answer answer, FabricException failure);
}
