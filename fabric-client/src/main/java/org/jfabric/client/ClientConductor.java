package org.jfabric.client;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.LongToIntFunction;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.codec.control.ClientEnded;
import org.jfabric.codec.control.ControlMessage.Answer;
import org.jfabric.codec.control.ControlMessage.DriverMessage;
import org.jfabric.codec.control.ControlMessage.Event;
import org.jfabric.codec.control.Done;
import org.jfabric.codec.control.InfoMatch;
import org.jfabric.codec.control.InfoVerdict;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.layout.ControlFileDescriptor;
import org.jfabric.layout.RecordConsumer;
import org.jfabric.layout.RecordProducer;
import org.jfabric.layout.RecordRingDescriptor;

/**
 * The client's control path: sends commands, awaits their answers until a deadline, passes events on.
 *
 * <p>An attached client has one thread for it, parked on the driver's socket ({@link SocketWatcher}). With an embedded
 * driver there is no thread: the waiting call runs the driver's duty cycle itself.
 *
 * <p>Commands may come from any thread (with an embedded driver: from the thread that uses the domain). No command is
 * given up because its thread is interrupted. One that is not answered in time stays known by its correlation id, and
 * its late answer is taken all the same: what was opened or inserted is undone, so that nothing is left that its client
 * does not know; a close or another change has its effect then. A repeated change awaits the request of the one before.
 */
public final class ClientConductor implements AutoCloseable {
    private static final long PAUSE_NS = TimeUnit.MICROSECONDS.toNanos(20);
    private static final int SPINS = 1000;
    private static final String REMEDY =
        "Check whether the driver is stopped or overloaded, or allow more time by commandTimeoutNs.";

    /** Notified of events; the calling thread is the conductor's, or the one that uses an embedded driver. */
    public interface Listener {
        /** The driver reports something other than the end of this client. */
        void onEvent(Event event);

        /**
         * This process did not run for a while.
         *
         * @param pauseNs how long at least.
         */
        void onPaused(long pauseNs);

        /**
         * Whether the client waits for the next driver when one is gone.
         *
         * @return the same always.
         */
        default boolean reconnects() {
            return false;
        }

        /**
         * A change was answered after its call had ended. Called by a thread that may wait for locks.
         *
         * @param effect of the answer, to be run in order with control calls.
         */
        default void onLateAnswer(Runnable effect) {
            effect.run();
        }

        /** The driver is gone, and its successor is awaited; only if {@link #reconnects()}. */
        default void onDriverAway(FabricException why) {
        }

        /** The driver is gone for good; called once. */
        void onDriverGone(FabricException why);
    }

    private final DriverState state;
    private final Listener listener;
    private final long commandTimeoutNs;
    private final long pauseThresholdNs;
    private volatile Attached attached;
    /** Opens again what was open with the driver before, or null. */
    private volatile Thread replayer;
    private final Object commandLock = new Object();
    private final Map<Long, PendingCommand> pending = new ConcurrentHashMap<>();
    /** Changes that were not answered in time, by what they change. Owner: control calls. */
    private final Map<List<Object>, LateChange> unanswered = new ConcurrentHashMap<>();
    /** Opens that were not answered in time, and have not been undone. */
    private final AtomicInteger undone = new AtomicInteger();
    private long lastCorrelationId;
    /** The driver was asked to end this client. */
    private volatile boolean disconnecting;
    private volatile boolean closing;

    /**
     * A change without an answer in time, what its late answer is passed to, and whether the driver may find the object
     * in use by something that was opened too late and is undone.
     */
    private record LateChange(
        PendingCommand command, LongToIntFunction encoder, AnswerHandler late, boolean mayPass) {
    }

    /**
     * A conductor of a fresh connection, which it closes in the end.
     *
     * @param pauseThresholdNs pauses of this process longer than this are reported.
     */
    public ClientConductor(
        DriverConnection connection,
        DriverState state,
        Listener listener,
        long commandTimeoutNs,
        long pauseThresholdNs) {
        this.state = state;
        this.listener = listener;
        this.commandTimeoutNs = commandTimeoutNs;
        this.pauseThresholdNs = pauseThresholdNs;
        this.attached = new Attached(connection);
    }

    /** Starts the thread of an attached client. */
    public void start() {
        attached.start();
    }

    /**
     * Continues with the next driver; what the calling thread commands from now on is not refused because the one
     * before is gone.
     *
     * @param next a fresh connection, which the conductor closes in the end, and at once if it throws.
     * @throws FabricException with {@link FabricErrno#EOPBADSTATE} if this conductor was closed,
     *     {@link FabricErrno#ETIMEDOUT} if the driver still serves the last connection.
     */
    public void resume(DriverConnection next) {
        Attached fresh = attach(next);
        // its end answers what closes, and retiring it closes the socket, which no thread may watch then
        if (!attached.watcher.join()) {
            fresh.discard();
            throw new FabricException(FabricErrno.ETIMEDOUT, "the driver still serves this client's last connection",
                "Check whether it is stopped or overloaded; the fabric tries again.");
        }
        unanswered.forEach(this::finish);
        synchronized (this) {
            if (closing) {
                fresh.discard();
                throw new FabricException(FabricErrno.EOPBADSTATE, "this fabric was closed");
            }
            attached.connection.retire(next);
            replayer = Thread.currentThread();
            attached = fresh;
        }
        fresh.start();
    }

    private Attached attach(DriverConnection next) {
        Attached fresh = null;
        try {
            fresh = new Attached(next);
            return fresh;
        } finally {
            if (fresh == null) {
                next.close();
            }
        }
    }

    /**
     * Ends what {@link #resume} began.
     *
     * @param isBack false to try once more: the driver is asked to end the connection, so that nothing opened by it is
     *               in the way of that. Only when it has done so it accesses no memory for it any more.
     * @return why the client is not connected: the driver is gone again; null if it is, or was given up.
     */
    public FabricException resumed(boolean isBack) {
        replayer = null;
        if (!isBack) {
            end(attached, new FabricException(FabricErrno.ECONNABORTED, "the attempt to connect again failed"), true);
            attached.connection.finish();
            return null;
        }
        boolean noted = state.comeBack();
        FabricException why = attached.ended;
        // who noticed the end before this moment could not note it
        return noted && why != null && state.leave(why) ? why : null;
    }

    /** Gives up waiting for the next driver. */
    public void giveUp(FabricException why) {
        if (state.end(why)) {
            failPending(why, false);
            listener.onDriverGone(why);
        }
    }

    /** The duty cycle of an embedded driver. Returns null for an attached client. */
    public Invoker invoker() {
        return attached.invoker;
    }

    /** The connection as given, or that to the next driver. */
    public DriverConnection connection() {
        return attached.connection;
    }

    /** The commands of this client. Returns the same object as long as the driver lives. */
    public DriverProxy commands() {
        return attached.proxy;
    }

    /**
     * Opens the wait channel of an object that was just opened.
     *
     * @param objectId completion queue, counter or wait set.
     * @param token    from the answer of the driver; 0 if the object has no channel.
     * @return the channel, or null if there is none.
     */
    public WaitChannel openWaitChannel(long objectId, long token) {
        return token == 0 ? null : WaitChannel.open(connection().attachment(), objectId, token,
            System.nanoTime() + commandTimeoutNs, invoker() == null ? null : this::idle);
    }

    /** Lets time pass on the control path: runs a cycle of an embedded driver, else sleeps a little. */
    public void idle() {
        Invoker invoker = invoker();
        if (invoker == null) {
            connection().threads().pause(PAUSE_NS);
            poll();
        } else if (invoker.cycle() == 0) {
            invoker.pause();
        }
    }

    /** Reads what the driver has written, in place of the thread; for an attached client without one. */
    public boolean poll() {
        Attached current = attached;
        return current.watcher != null && !closing && !connection().threads().hasThreads() && current.watcher.poll();
    }

    /**
     * Ends the client as the end of its process would: the driver sees the end of the socket, and nothing else. For
     * simulations, of an attached client without a thread; its objects must not be used afterwards.
     */
    public void abandon() {
        closing = true;
        attached.connection.abandon();
        attached.watcher.join();
    }

    /** Reads the clock by which control calls wait. Returns the nanoseconds, as of {@link System#nanoTime()}. */
    public long nanoTime() {
        Invoker invoker = invoker();
        return invoker == null ? connection().threads().nanoTime() : invoker.nanoTime();
    }

    /**
     * Has the driver close all that this client has opened, and waits until it has: from the return on it accesses no
     * memory of this process. Every other command is refused from now on.
     *
     * @param late called if the driver does so after this call has ended.
     * @throws FabricException {@link FabricErrno#ETIMEDOUT} if it does not within the time of a command; a further call
     *     waits again.
     */
    public void disconnect(Runnable late) {
        boolean begins;
        synchronized (this) {
            begins = !disconnecting;
            disconnecting = true;
        }
        if (begins) {
            failPending(closed(), false);
            connection().finish();
        }
        change(List.of(), "closing the fabric", null, true, (answer, failure) -> late.run());
    }

    /** Whether {@link #disconnect} was called. */
    public boolean isDisconnecting() {
        return disconnecting;
    }

    /**
     * Ends the connection; the driver closes what is open. Has no effect if it is already closed.
     */
    @Override
    public void close() {
        synchronized (this) {
            if (closing) {
                return;
            }
            closing = true;
        }
        failPending(closed(), true);
        Attached last = attached;
        if (last.watcher == null) {
            last.connection.close();
            return;
        }
        last.connection.shutdown();
        // a listener that does not return keeps the thread: it closes the socket when it ends
        if (last.watcher.join()) {
            last.connection.close();
        }
    }

    /**
     * Refuses control calls from inside a listener of an attached client: they would wait for answers that only the
     * calling thread reads.
     *
     * @throws FabricException with {@link FabricErrno#EOPBADSTATE}.
     */
    public void requireOutsideListener() {
        SocketWatcher watcher = attached.watcher;
        if (watcher != null && watcher.isWatcher() && !state.isGone()) {
            throw new FabricException(FabricErrno.EOPBADSTATE, "a control call was made from inside a listener",
                "Make it from a thread of the application.");
        }
    }

    private PendingCommand issue(String what, LongToIntFunction encoder, AnswerHandler handler, boolean closes) {
        synchronized (commandLock) {
            if (closing) {
                throw new FabricException(FabricErrno.EOPBADSTATE, what + ": this fabric is closed");
            }
            if (closes && (disconnecting || attached.ended != null)) {
                return awaitEnd(what);
            }
            requireAlive();
            long deadlineNs = nanoTime() + commandTimeoutNs;
            PendingCommand command = new PendingCommand(++lastCorrelationId, what, closes, handler);
            pending.put(command.correlationId(), command);
            boolean issued = false;
            try {
                int result;
                while ((result = encoder.applyAsInt(command.correlationId())) == -FabricErrno.EAGAIN) {
                    requireAlive();
                    if (nanoTime() - deadlineNs >= 0) {
                        throw new FabricException(
                            FabricErrno.ETIMEDOUT, inTime(what + ": the command ring was full"), REMEDY);
                    }
                    idle();
                }
                if (result < 0) {
                    throw new FabricException(result, what + ": the command ring is broken");
                }
                issued = true;
            } finally {
                if (!issued) {
                    pending.remove(command.correlationId());
                }
            }
            if (invoker() != null) {
                // the caller perhaps does not run a cycle soon
                invoker().wakeSleepers();
            }
            FabricException ended = attached.ended;
            if (ended != null) {
                // the end came after the first check, and may have missed this command
                failPending(state.isAway() ? wentAway(ended) : ended, false);
                if (attached.isDisconnected) {
                    attached.onDisconnected();
                }
            }
            return command;
        }
    }

    /** What the driver closes because it ends, or ends this client: nothing is sent. */
    private PendingCommand awaitEnd(String what) {
        PendingCommand command = new PendingCommand(++lastCorrelationId, what, true, null);
        pending.put(command.correlationId(), command);
        if (attached.isDisconnected) {
            attached.onDisconnected();
        }
        return command;
    }

    private void requireAlive() {
        if (disconnecting) {
            throw closed();
        }
        if (Thread.currentThread() != replayer) {
            state.requireAlive();
        } else if (attached.ended != null) {
            throw new FabricException(FabricErrno.EAGAIN, "the driver is gone again: " + attached.ended.getMessage());
        }
    }

    private PendingCommand call(String what, LongToIntFunction encoder, Consumer<Answer> undo) {
        PendingCommand command = issue(what, encoder, null, false);
        if (!await(command)) {
            undone.incrementAndGet();
            if (command.leave((answer, failure) -> undo(answer, undo))) {
                throw new UnansweredException(inTime(what + ": the driver did not answer"), REMEDY);
            }
            undone.decrementAndGet();
        }
        settle();
        command.result();
        return command;
    }

    /** Changes whose late answers came before that of a command take effect before it does. */
    private void settle() {
        if (!unanswered.isEmpty()) {
            listener.onLateAnswer(() -> unanswered.forEach(this::finish));
        }
    }

    /** A command that was given up has been answered: what it has done is reverted. */
    private void undo(Answer answer, Consumer<Answer> undo) {
        if (answer == null) {
            undone.decrementAndGet();
            return;
        }
        // in the order of the answers: what was closed in the meantime may have been refused for what is undone here
        deliver(() -> {
            try {
                undo.accept(answer);
            } catch (FabricException ended) {
                // the driver closes everything when it ends, or ends this client
                return;
            } finally {
                undone.decrementAndGet();
            }
        });
    }

    /**
     * Sends a change, or awaits that of the call before if it has no answer yet. The handler is called only with an
     * answer that is late.
     */
    private PendingCommand change(
        List<Object> key, String what, LongToIntFunction encoder, boolean closes, AnswerHandler late) {
        LateChange before = unanswered.get(key);
        boolean mayPass = before != null || undone.get() > 0;
        PendingCommand command = before != null ? before.command() : issue(what, encoder, null, closes);
        long deadlineNs = nanoTime() + commandTimeoutNs;
        while (await(command, deadlineNs) && closes && command.isRefusedAsBusy() && mayPass
            && nanoTime() - deadlineNs < 0) {
            // the client knows of no user: it is something that was opened too late and is being undone
            mayPass = undone.get() > 0;
            idle();
            command = issue(what, encoder, null, true);
        }
        if (!command.isAnswered() && leave(key, new LateChange(command, encoder, late, true))) {
            throw new UnansweredException(inTime(what + ": the driver did not answer"), REMEDY);
        }
        unanswered.remove(key);
        settle();
        command.result();
        return command;
    }

    /** Keeps a change whose time is over; false if its answer is there. */
    private boolean leave(List<Object> key, LateChange change) {
        unanswered.put(key, change);
        return change.command().leave((answer, failure) -> later(() -> finish(key, change)));
    }

    /** Takes the late answer to a change, in order with control calls. */
    private void finish(List<Object> key, LateChange change) {
        if (!change.command().isAnswered() || !unanswered.remove(key, change)) {
            return;
        }
        PendingCommand command = change.command();
        if (command.closes() && command.isRefusedAsBusy() && change.mayPass()) {
            boolean mayPass = undone.get() > 0;
            idle();
            LateChange again;
            try {
                again = new LateChange(
                    issue(command.what(), change.encoder(), null, true), change.encoder(), change.late(), mayPass);
            } catch (FabricException ended) {
                // the driver closes everything when it ends, or ends this client
                return;
            }
            if (!leave(key, again)) {
                finish(key, again);
            }
            return;
        }
        command.tell(change.late());
    }

    /** Has something done that may wait for control calls, which perhaps wait for the calling thread. */
    private void later(Runnable effect) {
        if (closing) {
            return;
        }
        if (invoker() != null || !connection().threads().hasThreads()) {
            deliver(() -> listener.onLateAnswer(effect));
            return;
        }
        Thread thread = new Thread(() -> listener.onLateAnswer(effect), "jfabric-late-answer");
        thread.setDaemon(true);
        thread.start();
    }

    private boolean await(PendingCommand command) {
        return await(command, nanoTime() + commandTimeoutNs);
    }

    /** Awaits an answer whether or not the thread is interrupted; false when the time is over. */
    private boolean await(PendingCommand command, long deadlineNs) {
        Attached current = attached;
        if (invoker() == null && connection().threads().hasThreads() && !current.watcher.isWatcher()) {
            command.await(deadlineNs - nanoTime());
            return command.isAnswered();
        }
        int spins = 0;
        while (!command.isAnswered() && nanoTime() - deadlineNs < 0) {
            if (invoker() != null) {
                if (invoker().cycle() == 0 && ++spins > SPINS) {
                    // slow work is done by the driver's resource thread: leave it the processor
                    invoker().pause();
                }
            } else if (!current.watcher.poll()) {
                connection().threads().pause(PAUSE_NS);
            }
        }
        return command.isAnswered();
    }

    private String inTime(String what) {
        return what + " within " + TimeUnit.NANOSECONDS.toMillis(commandTimeoutNs) + " ms";
    }

    private static FabricException closed() {
        return new FabricException(FabricErrno.EOPBADSTATE, "this fabric was closed");
    }

    /** Takes all events that are there. Handling one may read further ones, so no state is kept over a call. */
    private void readEvents(Attached of) {
        try {
            for (DriverMessage next = of.events.next(); next != null; next = of.events.next()) {
                onMessage(of, next);
            }
        } catch (FabricException broken) {
            end(of, broken, false);
            if (of.watcher != null) {
                // the driver does not know; what it ends now answers the closes
                of.connection.finish();
            }
        }
    }

    private void onMessage(Attached of, DriverMessage message) {
        switch (message) {
            case ClientEnded ended -> end(of, new FabricException(
                ended.errno() == 0 ? FabricErrno.ECONNABORTED : ended.errno(),
                "the driver ended this client: " + ended.reason(), ended.errno() == FabricErrno.ESHUTDOWN
                ? afterTheEnd() : "Correct the cause, then connect again."),
                ended.errno() == FabricErrno.ESHUTDOWN);
            case Event event -> deliver(() -> listener.onEvent(event));
            case Answer part when part instanceof InfoMatch || part instanceof InfoVerdict -> {
                PendingCommand command = pending.get(part.correlationId());
                if (command != null) {
                    command.add(part);
                }
            }
            case Answer answer -> {
                PendingCommand command = pending.remove(answer.correlationId());
                if (command != null) {
                    command.answer(answer);
                }
            }
        }
    }

    /** Makes a call that may wait for locks or end in the application; with an embedded driver after the cycle. */
    private void deliver(Runnable call) {
        if (invoker() == null) {
            call.run();
        } else {
            invoker().afterCycle(call);
        }
    }

    /** A driver that ended by itself may have a successor; not one that ended this client for a fault of its own. */
    private void end(Attached of, FabricException why, boolean hasSuccessor) {
        if (of.ended != null) {
            return;
        }
        of.ended = why;
        if (hasSuccessor && listener.reconnects() && !closing) {
            boolean noted = state.leave(why);
            failPending(wentAway(why), false);
            if (noted) {
                listener.onDriverAway(why);
            }
        } else if (state.end(why)) {
            failPending(why, false);
            if (of.invoker != null) {
                of.onDisconnected();
            }
            deliver(() -> listener.onDriverGone(why));
        }
    }

    /** The remedy if the driver has ended by itself. */
    private String afterTheEnd() {
        return listener.reconnects() ? "The fabric waits for the next driver in the same directory."
            : "Read what is left in the completion queues, close this fabric, and connect again.";
    }

    private static FabricException wentAway(FabricException why) {
        return new FabricException(FabricErrno.EAGAIN, "the driver went away before it answered: "
            + why.getMessage(), "Call again once the client is connected to the next one.", why);
    }

    /** Closes end with the connection, by which the driver shows that it has closed everything. */
    private void failPending(FabricException why, boolean alsoCloses) {
        for (PendingCommand command : pending.values()) {
            if ((alsoCloses || !command.closes()) && pending.remove(command.correlationId()) != null) {
                command.fail(why);
            }
        }
    }

    private final class Caller implements DriverProxy.Caller {
        @Override
        public PendingCommand call(String what, LongToIntFunction encoder, Consumer<Answer> undo) {
            return ClientConductor.this.call(what, encoder, undo);
        }

        @Override
        public PendingCommand change(
            List<Object> key, String what, LongToIntFunction encoder, boolean closes, AnswerHandler late) {
            return ClientConductor.this.change(key, what, encoder, closes, late);
        }

        @Override
        public void issue(String what, LongToIntFunction encoder, AnswerHandler handler) {
            ClientConductor.this.issue(what, encoder, handler, false);
        }
    }

    /** All that belongs to one connection. */
    private final class Attached implements SocketWatcher.Handler {
        private final DriverConnection connection;
        private final DriverProxy proxy;
        private final DriverEventsAdapter events;
        private final Invoker invoker;
        private final SocketWatcher watcher;
        /** Why the driver is gone; null while it lives. */
        private volatile FabricException ended;
        /** The driver has died or has closed all that this client had: it writes nothing for it any more. */
        private volatile boolean isDisconnected;

        Attached(DriverConnection connection) {
            this.connection = connection;
            Attachment attachment = connection.attachment();
            long commandRing = connection.control().address();
            long eventRing = commandRing + ControlFileDescriptor.eventRingOffset(attachment.commandRingLength());
            long commands = commandRing + RecordRingDescriptor.HEADER_LENGTH;
            long records = eventRing + RecordRingDescriptor.HEADER_LENGTH;
            this.proxy = new DriverProxy(
                new RecordProducer(commands, attachment.commandRingLength(),
                    commandRing + RecordRingDescriptor.CONSUMER_POSITION_OFFSET),
                new UnsafeBuffer(commands, attachment.commandRingLength()),
                connection.doorbell(),
                new Caller());
            RecordConsumer consumer = new RecordConsumer(records, attachment.eventRingLength(),
                eventRing + RecordRingDescriptor.CONSUMER_POSITION_OFFSET, DriverMessage.MAX_TEMPLATE_ID);
            this.events = new DriverEventsAdapter(consumer, new UnsafeBuffer(records, attachment.eventRingLength()));
            if (connection.embedded() != null) {
                this.invoker = new Invoker(connection.embedded(), consumer, () -> readEvents(this));
                this.watcher = null;
            } else {
                this.invoker = null;
                this.watcher = new SocketWatcher(connection.doorbell(), this, pauseThresholdNs);
            }
        }

        void start() {
            if (watcher != null && !connection.threads().hasThreads()) {
                connection.threads().onAttached(ClientConductor.this);
            } else if (watcher != null) {
                watcher.start("jfabric-client-" + connection.attachment().clientId());
            }
        }

        /** Closes what was never started. */
        void discard() {
            connection.shutdown();
            watcher.join();
            connection.close();
        }

        @Override
        public void onBytes() {
            readEvents(this);
        }

        @Override
        public void onEnd() {
            if (closing) {
                return;
            }
            // the reason may be the last thing that the driver wrote
            readEvents(this);
            onDisconnected();
            if (!disconnecting) {
                end(this, new FabricException(FabricErrno.ENODEV,
                    "the driver " + connection.attachment().driverName() + " closed the connection or died",
                    afterTheEnd()), true);
            }
        }

        /** Everything is closed; a process that dies ends its connection behind its last access, too. */
        void onDisconnected() {
            isDisconnected = true;
            for (PendingCommand command : pending.values()) {
                if (command.closes() && pending.remove(command.correlationId()) != null) {
                    command.answer(new Done(command.correlationId()));
                }
            }
        }

        @Override
        public void onPause(long pauseNs) {
            listener.onPaused(pauseNs);
        }

        @Override
        public void onStopped() {
            // after the end of the driver the socket stays until the fabric is closed: others may still ring
            if (closing) {
                connection.close();
            }
        }
    }
}
