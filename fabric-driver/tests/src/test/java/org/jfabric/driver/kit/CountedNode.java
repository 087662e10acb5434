package org.jfabric.driver.kit;

import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;
import org.jfabric.AddressVector;
import org.jfabric.CompletionQueue;
import org.jfabric.Counter;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionFormat;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.CounterAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.WaitObject;
import org.jfabric.test.Deadline;

/** An endpoint with a counter for its sends, another one for its receives, and a queue for both. */
public final class CountedNode implements AutoCloseable {
    public static final long DEADLINE_NS = Deadline.ns(20);

    public final FabricNode owner;
    public final Domain domain;
    public final CompletionQueue cq;
    public final Counter sends;
    public final Counter receives;
    public final AddressVector av;
    public final Endpoint endpoint;

    /** Selective or not; each successful operation of a queue that is not selective writes an entry. */
    public CountedNode(FabricNode owner, boolean selective, WaitObject waitObject) {
        this.owner = owner;
        this.domain = owner.domain;
        cq = domain.openCompletionQueue(new CompletionQueueAttr().size(64).format(CompletionFormat.TAGGED));
        sends = domain.openCounter(new CounterAttr().waitObject(waitObject));
        receives = domain.openCounter(new CounterAttr().waitObject(waitObject));
        av = domain.openAddressVector(new AddressVectorAttr());
        endpoint = domain.openEndpoint(owner.info);
        endpoint.bind(cq, Flags.TRANSMIT | Flags.RECV | (selective ? Flags.SELECTIVE_COMPLETION : 0));
        endpoint.bind(sends, Flags.SEND);
        endpoint.bind(receives, Flags.RECV);
        endpoint.bind(av);
        endpoint.enable();
    }

    public long insert(CountedNode peer) {
        return av.insert(peer.endpoint.name());
    }

    public long buffer() {
        return owner.memory.address();
    }

    /** One round of whatever drives this side and the other one. */
    public static void turn(CountedNode... nodes) {
        for (CountedNode node : nodes) {
            node.cq.read(null, 0, 0);
        }
        Thread.yield();
    }

    public static void await(String what, BooleanSupplier condition, CountedNode... nodes) {
        long deadline = System.nanoTime() + DEADLINE_NS;
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("waited in vain for " + what + ": " + state(nodes));
            }
            turn(nodes);
        }
    }

    /** Posts until it is taken. */
    public static void post(IntSupplier call, CountedNode... nodes) {
        int[] result = new int[1];
        await("room", () -> (result[0] = call.getAsInt()) != -FabricErrno.EAGAIN, nodes);
        if (result[0] != 0) {
            throw new AssertionError(FabricErrno.name(result[0]));
        }
    }

    public static String state(CountedNode... nodes) {
        StringBuilder text = new StringBuilder();
        for (CountedNode node : nodes) {
            text.append(node.endpoint).append(" sends ").append(node.sends).append(" receives ").append(node.receives)
                .append("; ");
        }
        return text.toString();
    }

    @Override
    public void close() {
        endpoint.close();
        sends.close();
        receives.close();
        cq.close();
        av.close();
    }
}
