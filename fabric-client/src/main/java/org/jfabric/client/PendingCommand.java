package org.jfabric.client;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jfabric.info.FabricException;

/**
 * A command whose answer is awaited until a deadline, or passed to a handler whenever it comes.
 *
 * <p>Owner: the calling thread waits; the thread that reads the event ring answers, once.
 */
final class PendingCommand {
    private final CountDownLatch answered = new CountDownLatch(1);
    private final List<DriverEvent> parts = new ArrayList<>();
    private final long correlationId;
    private final String what;
    private final long deadlineNs;
    private final AnswerHandler handler;
    private DriverEvent answer;
    private FabricException failure;

    /** A command; the handler is null where a thread awaits the answer. */
    PendingCommand(long correlationId, String what, long deadlineNs, AnswerHandler handler) {
        this.handler = handler;
        this.correlationId = correlationId;
        this.what = what;
        this.deadlineNs = deadlineNs;
    }

    long correlationId() {
        return correlationId;
    }

    String what() {
        return what;
    }

    /** A part of an answer that more parts follow. */
    void add(DriverEvent part) {
        parts.add(part);
    }

    void answer(DriverEvent event) {
        answer = event;
        answered.countDown();
        notifyHandler();
    }

    void fail(FabricException why) {
        failure = why;
        answered.countDown();
        notifyHandler();
    }

    /** The answer of the driver, null if there is none; after {@link #isAnswered()}. */
    DriverEvent answerOrNull() {
        return answer;
    }

    boolean isAnswered() {
        return answered.getCount() == 0;
    }

    long remainingNs(long nowNs) {
        return deadlineNs - nowNs;
    }

    /** Waits for another thread's answer; false when the time is over. */
    boolean await(long nowNs) throws InterruptedException {
        return answered.await(Math.max(0, remainingNs(nowNs)), TimeUnit.NANOSECONDS);
    }

    List<DriverEvent> parts() {
        return parts;
    }

    private void notifyHandler() {
        if (handler != null) {
            DriverEvent result = null;
            FabricException why = null;
            try {
                result = result();
            } catch (FabricException refused) {
                why = refused;
            }
            handler.onAnswer(result, why);
        }
    }

    /** The answer, after {@link #isAnswered()}. */
    DriverEvent result() {
        if (failure != null) {
            throw new FabricException(failure.errno(), what + ": " + failure.getMessage(), "See above.", failure);
        }
        if (answer instanceof DriverEvent.CommandFailed refused) {
            throw refused.message().isEmpty() ? new FabricException(refused.errno(), what + " was refused")
                : new FabricException(refused.errno(), what + " was refused", refused.message());
        }
        return answer;
    }
}
