package org.jfabric.driver.kit;

import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.AddressVector;
import org.jfabric.CompletionQueue;
import org.jfabric.Endpoint;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.WaitObject;
import org.jfabric.test.Deadline;

/**
 * An endpoint whose receives report to a queue of their own, and a peer that sends to it: each message is one entry.
 */
public final class WaitNode implements AutoCloseable {
    public static final long DEADLINE_NS = Deadline.ns(20);

    public final CompletionQueue queue;
    private final FabricNode owner;
    private final FabricNode peer;
    private final Endpoint endpoint;
    private final CompletionQueue sends;
    private final AddressVector vector;
    private final long address;
    private final UnsafeBuffer payload = new UnsafeBuffer(new byte[8]);
    private final UnsafeBuffer entry = new UnsafeBuffer(new byte[48]);

    public WaitNode(FabricNode owner, FabricNode peer, WaitObject waitObject) {
        this(owner, peer, new CompletionQueueAttr().waitObject(waitObject), 0);
    }

    public WaitNode(FabricNode owner, FabricNode peer, CompletionQueueAttr attr, long context) {
        this.owner = owner;
        this.peer = peer;
        queue = owner.domain.openCompletionQueue(attr.size(64), context);
        sends = owner.domain.openCompletionQueue(new CompletionQueueAttr().size(1));
        vector = owner.domain.openAddressVector(new AddressVectorAttr());
        endpoint = owner.domain.openEndpoint(owner.info, 0);
        endpoint.bind(queue, Flags.RECV);
        endpoint.bind(sends, Flags.TRANSMIT);
        endpoint.bind(vector);
        endpoint.enable();
        address = peer.av.insert(endpoint.name());
    }

    /** Lets a message be received in the end; the thread that submits on the owner's side. */
    public void post(long context) {
        check(endpoint.trecv(owner.memory.address(), 8, -1L, context, 0, context));
    }

    /** Sends a message; the thread that submits on the peer's side. */
    public void send(long context) {
        long deadline = System.nanoTime() + DEADLINE_NS;
        int result;
        while ((result = peer.endpoint.tinject(payload, 0, 8, address, context)) == -FabricErrno.EAGAIN) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("the peer cannot send");
            }
            peer.cq.read(entry, 0, 1);
            Thread.yield();
        }
        check(result);
    }

    /** An entry with that context will be written. */
    public void complete(long context) {
        post(context);
        send(context);
    }

    /** Context of the next entry, or a negative errno. */
    public long take() {
        int read = queue.read(entry, 0, 1);
        return read == 1 ? entry.getLong(0) : read;
    }

    /** Waits until a read would find something, without reading. */
    public void awaitEntry() {
        long deadline = System.nanoTime() + DEADLINE_NS;
        while (queue.read(entry, 0, 0) != 0) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("no entry in " + queue);
            }
            Thread.yield();
        }
    }

    @Override
    public void close() {
        endpoint.close();
        queue.close();
        sends.close();
        vector.close();
    }

    private static void check(int result) {
        if (result != 0) {
            throw new AssertionError(FabricErrno.name(result));
        }
    }
}
