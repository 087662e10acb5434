package org.jfabric.future;

import java.util.concurrent.CompletableFuture;
import org.jfabric.Endpoint;
import org.jfabric.info.FabricAddress;

/**
 * Transfers of an endpoint as futures. Sends are posted in the order of the calls, and receives are.
 *
 * <pre>{@code
 * transfers.tsend(address, 64, peer, 7).thenRun(() -> System.out.println("sent"));
 * dispatcher.dispatch(16);
 * }</pre>
 *
 * <p>Memory belongs to the transfer until its future was completed by {@link CompletionDispatcher#dispatch(int)}. Small
 * messages that need no future are better injected, by the endpoint itself. Owner: the dispatchers' thread.
 */
public final class FutureEndpoint {
    private final Endpoint endpoint;
    private final PostingLane sends;
    private final PostingLane receives;

    /**
     * An endpoint whose sends and receives report to one queue.
     *
     * @param endpoint   enabled.
     * @param dispatcher of the queue that it is bound to for both directions.
     */
    public FutureEndpoint(Endpoint endpoint, CompletionDispatcher dispatcher) {
        this(endpoint, dispatcher, dispatcher);
    }

    /**
     * An endpoint with a queue for each direction.
     *
     * @param endpoint enabled.
     * @param transmit of the queue that it is bound to for sends.
     * @param receive  of the queue that it is bound to for receives.
     */
    public FutureEndpoint(Endpoint endpoint, CompletionDispatcher transmit, CompletionDispatcher receive) {
        this.endpoint = endpoint;
        this.sends = transmit.lane();
        this.receives = receive.lane();
    }

    /**
     * Sends an untagged message.
     *
     * @param buf      address in registered memory.
     * @param len      bytes.
     * @param destAddr destination, from the address vector.
     * @return completed when the message has reached the endpoint's level; see {@link PostingLane#submit(Post)}.
     */
    public CompletableFuture<CompletionRecord> send(long buf, long len, long destAddr) {
        return sends.submit(opContext -> endpoint.send(buf, len, destAddr, opContext));
    }

    /**
     * Sends a tagged message.
     *
     * @param buf      address in registered memory.
     * @param len      bytes.
     * @param destAddr destination, from the address vector.
     * @param tag      of the message.
     * @return as {@link #send}.
     */
    public CompletableFuture<CompletionRecord> tsend(long buf, long len, long destAddr, long tag) {
        return sends.submit(opContext -> endpoint.tsend(buf, len, destAddr, tag, opContext));
    }

    /**
     * Receives an untagged message.
     *
     * @param buf     address in registered memory.
     * @param len     bytes.
     * @param srcAddr source wanted, or {@link FabricAddress#ADDR_UNSPEC}; see {@link Endpoint#recv}.
     * @return completed with what was received.
     */
    public CompletableFuture<CompletionRecord> recv(long buf, long len, long srcAddr) {
        return receives.submit(opContext -> endpoint.recv(buf, len, srcAddr, opContext));
    }

    /**
     * Receives a tagged message.
     *
     * @param buf     address in registered memory.
     * @param len     bytes.
     * @param srcAddr source wanted, or {@link FabricAddress#ADDR_UNSPEC}; see {@link Endpoint#trecv}.
     * @param tag     of the messages wanted.
     * @param ignore  bits of the tag that do not count.
     * @return completed with what was received.
     */
    public CompletableFuture<CompletionRecord> trecv(long buf, long len, long srcAddr, long tag, long ignore) {
        return receives.submit(opContext -> endpoint.trecv(buf, len, srcAddr, tag, ignore, opContext));
    }

    /**
     * Where sends are submitted: for other calls of the endpoint, and for callbacks instead of futures.
     *
     * @return the lane.
     */
    public PostingLane sends() {
        return sends;
    }

    /**
     * Where receives are submitted: for other calls of the endpoint, and for callbacks instead of futures.
     *
     * @return the lane.
     */
    public PostingLane receives() {
        return receives;
    }

    /**
     * The endpoint itself.
     *
     * @return as given.
     */
    public Endpoint endpoint() {
        return endpoint;
    }
}
