package org.jfabric;

/**
 * Takes the entries of a completion queue in place; see {@link CompletionQueue#poll(CompletionHandler, int)}.
 *
 * <pre>{@code
 * CompletionHandler handler = entry -> lastContext = entry.opContext();
 * int count = queue.poll(handler, 16);
 * }</pre>
 *
 * <p>Keep one handler and pass it to each poll: a lambda that captures variables is a new object each time. Owner: the
 * thread that polls.
 */
@FunctionalInterface
public interface CompletionHandler {
    /**
     * A transfer has ended well. Data-path calls are allowed in here, reading the same queue is not.
     *
     * @param completion the entry; the same object each time, valid until this method returns.
     */
    void onCompletion(Completion completion);
}
