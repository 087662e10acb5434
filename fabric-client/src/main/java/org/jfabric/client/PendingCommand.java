package org.jfabric.client;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jfabric.codec.control.CommandFailed;
import org.jfabric.codec.control.ControlMessage.Answer;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * A command whose answer is awaited until a deadline, or passed to a handler whenever it comes.
 *
 * <p>Owner: the calling thread waits; the thread that reads the event ring answers, once.
 */
final class PendingCommand {
    private final CountDownLatch answered = new CountDownLatch(1);
    private final List<Answer> parts = new ArrayList<>();
    private final long correlationId;
    private final String what;
    /** Whether it closes something, which the end of the driver does as well. */
    private final boolean closes;
    /** Null while a thread awaits the answer. Guarded by this, as the two below. */
    private AnswerHandler handler;
    private Answer answer;
    private FabricException failure;

    /** A command; the handler is null where a thread awaits the answer. */
    PendingCommand(long correlationId, String what, boolean closes, AnswerHandler handler) {
        this.handler = handler;
        this.correlationId = correlationId;
        this.what = what;
        this.closes = closes;
    }

    long correlationId() {
        return correlationId;
    }

    String what() {
        return what;
    }

    /** A part of an answer that more parts follow. */
    void add(Answer part) {
        parts.add(part);
    }

    void answer(Answer event) {
        end(event, null);
    }

    void fail(FabricException why) {
        end(null, why);
    }

    private void end(Answer event, FabricException why) {
        AnswerHandler notified;
        synchronized (this) {
            answer = event;
            failure = why;
            notified = handler;
            answered.countDown();
        }
        if (notified != null) {
            tell(notified);
        }
    }

    /** No thread awaits the answer any more; false if it is there, and the handler will not be called. */
    synchronized boolean leave(AnswerHandler late) {
        handler = late;
        return !isAnswered();
    }

    boolean closes() {
        return closes;
    }

    /** Whether the driver refuses it because something uses the object; after {@link #isAnswered()}. */
    boolean isRefusedAsBusy() {
        return answer instanceof CommandFailed refused && refused.errno() == FabricErrno.EBUSY;
    }

    boolean isAnswered() {
        return answered.getCount() == 0;
    }

    /** Waits for another thread's answer, also if this thread is interrupted, which it stays. */
    void await(long timeoutNs) {
        long endNs = System.nanoTime() + timeoutNs;
        boolean interrupted = false;
        for (boolean awaits = true; awaits;) {
            try {
                answered.await(endNs - System.nanoTime(), TimeUnit.NANOSECONDS);
                awaits = false;
            } catch (InterruptedException again) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    List<Answer> parts() {
        return parts;
    }

    /** Calls a handler with what {@link #result()} is; after {@link #isAnswered()}. */
    void tell(AnswerHandler notified) {
        Answer result = null;
        FabricException why = null;
        try {
            result = result();
        } catch (FabricException refused) {
            why = refused;
        }
        notified.onAnswer(result, why);
    }

    /** The answer, after {@link #isAnswered()}. */
    Answer result() {
        if (failure != null) {
            throw new FabricException(failure.errno(), what + ": " + failure.getMessage(), "See above.", failure);
        }
        if (answer instanceof CommandFailed refused) {
            throw refused.message().isEmpty() ? new FabricException(refused.errno(), what + " was refused")
                : new FabricException(refused.errno(), what + " was refused", refused.message());
        }
        return answer;
    }
}
