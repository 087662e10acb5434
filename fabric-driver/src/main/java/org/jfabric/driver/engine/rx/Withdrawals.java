package org.jfabric.driver.engine.rx;

import org.jfabric.FabricErrno;
import org.jfabric.driver.engine.match.PostedReceive;
import org.jfabric.driver.engine.match.TagMatcher;

/**
 * Posted receives that end before a message comes: they are cancelled, or the peer that they name is gone.
 *
 * <p>Owner: progress agent.
 */
final class Withdrawals {
    private final Receiver receiver;

    Withdrawals(Receiver receiver) {
        this.receiver = receiver;
    }

    /** Cancels the oldest receive with that context; false if there is none. */
    boolean cancel(TagMatcher matcher, long context) {
        for (PostedReceive receive = matcher.firstPosted(); receive != null; receive = matcher.nextPosted(receive)) {
            ReceiveOperation operation = (ReceiveOperation) receive;
            if (operation.context == context) {
                matcher.cancel(receive);
                receiver.fail(operation, 0, FabricErrno.ECANCELED);
                return true;
            }
        }
        return false;
    }

    /** Ends all receives that only take messages of that source. */
    void failDirected(TagMatcher matcher, int source, int errno) {
        PostedReceive receive = matcher.nextDirected(null, source);
        while (receive != null) {
            PostedReceive next = matcher.nextDirected(receive, source);
            matcher.cancel(receive);
            receiver.fail((ReceiveOperation) receive, 0, errno);
            receive = next;
        }
    }
}
