package org.jfabric;

/**
 * Takes messages where they are; see {@link CompletionQueue#pollMessages}.
 *
 * <pre>{@code
 * queue.pollMessages(message -> onEnd(message.messageLength()), entry -> onEnd(entry.opContext()), 16);
 * }</pre>
 *
 * <p>Keep one handler and pass it to each poll: a lambda that captures variables is a new object each time. Owner: the
 * thread that polls.
 */
@FunctionalInterface
public interface MessageHandler {
    /**
     * A message has arrived. Data-path calls are allowed in here, reading the same queue is not.
     *
     * @param message it, or its begin; the application's until this method returns, unless it calls
     *                {@link RecvContext#retain()}.
     */
    void onMessage(RecvContext message);
}
