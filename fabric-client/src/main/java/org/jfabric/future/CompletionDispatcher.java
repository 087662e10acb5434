package org.jfabric.future;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.agrona.collections.Long2ObjectHashMap;
import org.jfabric.Completion;
import org.jfabric.CompletionError;
import org.jfabric.CompletionHandler;
import org.jfabric.CompletionQueue;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * Reads a completion queue and completes a future, or calls a callback, for each operation: it gives operations their
 * contexts and knows them again by these.
 *
 * <pre>{@code
 * FutureEndpoint transfers = new FutureEndpoint(endpoint, dispatcher);
 * CompletableFuture<CompletionRecord> received = transfers.trecv(address, 64, FabricAddress.ADDR_UNSPEC, 7, 0);
 * while (!received.isDone()) {
 *     dispatcher.dispatch(16);
 * }
 * }</pre>
 *
 * <p>{@link #dispatch(int)} does all the work; the application calls it again and again, there is no thread in here. It
 * posts what {@code -FI_EAGAIN} kept back, so that a future never fails for want of room. Operations are submitted
 * through {@link PostingLane}s, most simply by a {@link FutureEndpoint}.
 *
 * <p>The dispatcher is the only reader of its queue. Entries that are not of its operations (of ones posted on an
 * endpoint directly, and error entries of injects) go to the callback given at the start. Its contexts are
 * {@link #FIRST_CONTEXT} and upward, so keep away from these. Success must write an entry: bind endpoints without
 * {@link org.jfabric.info.Flags#SELECTIVE_COMPLETION}, or post with {@link org.jfabric.info.Flags#COMPLETION}.
 *
 * <p>Owner: one thread at a time submits, dispatches and closes, as for the queue itself; futures may be read by
 * any thread, and what depends on them runs on the dispatching one unless the application chooses another.
 */
public final class CompletionDispatcher implements AutoCloseable {
    /** Context of the first operation of each dispatcher; each further one has the next number. */
    public static final long FIRST_CONTEXT = 0x4A46_0000_0000_0001L;

    private final CompletionQueue queue;
    private final CompletionCallback others;
    private final CompletionHandler handler = this::onEntry;
    private final CompletionError error = new CompletionError();
    private final Long2ObjectHashMap<Operation> outstanding = new Long2ObjectHashMap<>();
    private final List<PostingLane> lanes = new ArrayList<>();
    /** Completed operations not yet reported. They are reported outside of the poll, so that callbacks may dispatch. */
    private final ArrayDeque<Operation> toTell = new ArrayDeque<>();
    private long nextContext = FIRST_CONTEXT;
    private FabricException ended;

    /**
     * A dispatcher whose {@link #dispatch(int)} throws the failure if an entry is of one that is not its own, and
     * leaves out other entries that are not its own.
     *
     * @param queue read only by this object from now on.
     */
    public CompletionDispatcher(CompletionQueue queue) {
        this(queue, (completion, failure) -> {
            if (failure != null) {
                throw failure;
            }
        });
    }

    /**
     * A dispatcher.
     *
     * @param queue  read only by this object from now on.
     * @param others is shown entries of operations that were not submitted here.
     */
    public CompletionDispatcher(CompletionQueue queue, CompletionCallback others) {
        this.queue = queue;
        this.others = others;
    }

    /**
     * Opens a further order of posting.
     *
     * @return an empty lane; it lives as long as the dispatcher.
     */
    public PostingLane lane() {
        PostingLane lane = new PostingLane(this);
        lanes.add(lane);
        return lane;
    }

    /**
     * Reads the queue, reports what has ended, and posts what waits for room.
     *
     * @param limit most entries to read, 1 or more.
     * @return operations and other entries that were reported, 0 if there was nothing; or a negative errno of
     *     {@link CompletionQueue}: with {@code -FI_EOVERRUN} and {@code -FI_ENODEV}, and when the queue was closed, all
     *     that is outstanding has failed with that code.
     */
    public int dispatch(int limit) {
        if (ended != null) {
            report();
            return -ended.errno();
        }
        int result = queue.poll(handler, limit);
        if (result == -FabricErrno.EAVAIL && queue.readErr(error, 0) == 1) {
            onError();
        }
        if (result == -FabricErrno.EOVERRUN || result == -FabricErrno.ENODEV
            || result == -FabricErrno.EOPBADSTATE && !queue.isOpen()) {
            fail(new FabricException(result, "the completion queue has ended, operations were outstanding"));
        } else {
            for (int i = 0; i < lanes.size(); i++) {
                lanes.get(i).postWaiting();
            }
        }
        int reported = report();
        return result < 0 && result != -FabricErrno.EAGAIN && result != -FabricErrno.EAVAIL ? result : reported;
    }

    /**
     * Dispatches until a future is done.
     *
     * @param future    of this dispatcher, or one that depends on such.
     * @param timeoutNs longest wait in nanoseconds.
     * @param <T>       what it is completed with.
     * @return the future's value.
     * @throws java.util.concurrent.CompletionException   if it failed with something else than a FabricException.
     * @throws java.util.concurrent.CancellationException if it was cancelled.
     * @throws FabricException as the future failed; {@link FabricErrno#ETIMEDOUT} if it is not done in time, or what
     *     {@link #dispatch(int)} answered.
     */
    public <T> T await(CompletableFuture<T> future, long timeoutNs) {
        long deadlineNs = System.nanoTime() + timeoutNs;
        while (!future.isDone()) {
            int result = dispatch(Integer.MAX_VALUE);
            if (result < 0 && !future.isDone()) {
                throw new FabricException(result, "the completion queue cannot be read");
            }
            if (result == 0) {
                if (System.nanoTime() - deadlineNs >= 0) {
                    throw new FabricException(FabricErrno.ETIMEDOUT, "not done within "
                        + TimeUnit.NANOSECONDS.toMillis(timeoutNs) + " ms; " + this);
                }
                Thread.onSpinWait();
            }
        }
        return value(future);
    }

    /**
     * Operations that were posted and have not ended.
     *
     * @return a count, without those that wait for room.
     */
    public int outstanding() {
        return outstanding.size();
    }

    /**
     * Fails what is outstanding or waits for room with {@link FabricErrno#ECANCELED}, and whatever is submitted later.
     * Posted operations are not taken back: their memory stays in use until their endpoint is closed. The queue stays
     * open. Has no effect if it is already closed.
     */
    @Override
    public void close() {
        if (ended == null) {
            fail(new FabricException(FabricErrno.ECANCELED, "the dispatcher was closed",
                "Await the futures before closing it."));
            report();
        }
    }

    @Override
    public String toString() {
        return "CompletionDispatcher{outstanding=" + outstanding.size() + ", waiting="
            + lanes.stream().mapToInt(PostingLane::waiting).sum() + ", " + queue + (ended == null ? "" : ", ended")
            + '}';
    }

    /** Why nothing can be submitted any more, or null. */
    FabricException ended() {
        return ended;
    }

    /** Posts an operation under a new context, and remembers it if it was taken. */
    int post(Operation operation) {
        int result = operation.post(nextContext);
        if (result == 0) {
            outstanding.put(nextContext++, operation);
        }
        return result;
    }

    /** The end of an operation is reported soon. */
    void end(Operation operation) {
        toTell.add(operation);
    }

    private void onEntry(Completion completion) {
        end(operation(completion.opContext()).ended(CompletionRecord.of(completion)));
    }

    private void onError() {
        end(operation(error.opContext()).failed(new TransferException(error)));
    }

    private Operation operation(long opContext) {
        Operation operation = outstanding.remove(opContext);
        return operation != null ? operation : new Operation(null, others, null);
    }

    private void fail(FabricException failure) {
        ended = failure;
        outstanding.values().forEach(operation -> end(operation.failed(failure)));
        outstanding.clear();
        for (PostingLane lane : lanes) {
            lane.failWaiting(failure);
        }
    }

    private int report() {
        int reported = 0;
        Operation operation;
        while ((operation = toTell.poll()) != null) {
            operation.report();
            reported++;
        }
        return reported;
    }

    private static <T> T value(CompletableFuture<T> future) {
        try {
            return future.get();
        } catch (ExecutionException ex) {
            if (ex.getCause() instanceof FabricException failure) {
                throw failure;
            }
            throw new CompletionException(ex.getCause());
        } catch (InterruptedException ex) {
            throw new AssertionError("a future that is done does not wait", ex);
        }
    }
}
