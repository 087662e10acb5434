package org.jfabric.driver.kit;

import java.util.ArrayList;
import java.util.List;
import org.jfabric.AddressVector;
import org.jfabric.CompletionQueue;
import org.jfabric.Endpoint;
import org.jfabric.ScalableEndpoint;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;

/** A scalable endpoint beside the endpoint of a node, each context with a completion queue of its own. */
public final class ScalableSide implements AutoCloseable {
    /** Enough for the contexts of the tests. */
    public static final int BITS = 4;

    public final FabricNode node;
    public final AddressVector av;
    public final ScalableEndpoint scalable;
    public final List<Endpoint> tx = new ArrayList<>();
    public final List<Endpoint> rx = new ArrayList<>();
    public final List<CompletionQueue> txCq = new ArrayList<>();
    public final List<CompletionQueue> rxCq = new ArrayList<>();
    private final FabricPair pair;

    public ScalableSide(FabricPair pair, FabricNode node, int transmits, int receives) {
        this(pair, node, info(node, transmits, receives));
    }

    public ScalableSide(FabricPair pair, FabricNode node, Info info) {
        this.pair = pair;
        this.node = node;
        av = node.domain.openAddressVector(new AddressVectorAttr().rxCtxBits(BITS));
        scalable = node.domain.openScalableEndpoint(info, 0x5E9);
        scalable.bind(av);
        scalable.enable();
        for (int i = 0; i < scalable.info().epAttr().txCtxCnt(); i++) {
            txCq.add(queue());
            tx.add(enabled(scalable.txContext(i), txCq.get(i), Flags.TRANSMIT));
        }
        for (int i = 0; i < scalable.info().epAttr().rxCtxCnt(); i++) {
            rxCq.add(queue());
            rx.add(enabled(scalable.rxContext(i), rxCq.get(i), Flags.RECV));
        }
    }

    /** The node's info, for that many contexts. */
    public static Info info(FabricNode node, int transmits, int receives) {
        Info info = node.info.copy().srcAddr(null);
        info.epAttr().txCtxCnt(transmits).rxCtxCnt(receives);
        return info;
    }

    /** Hints with which contexts can be named. */
    public static Info hints() {
        return new Info().caps(
            Flags.TAGGED | Flags.MSG | Flags.SOURCE | Flags.DIRECTED_RECV | Flags.NAMED_RX_CTX);
    }

    public CompletionQueue queue() {
        return QueueReader.open(pair, node.domain, 64).cq();
    }

    public static Endpoint enabled(Endpoint context, CompletionQueue queue, long flags) {
        context.bind(queue, flags);
        context.enable();
        return context;
    }

    /** Reads one entry of a queue, or null. */
    public FabricNode.Entry poll(CompletionQueue queue) {
        return reader(queue).poll();
    }

    /** Reads the next entry of a queue. */
    public FabricNode.Entry await(CompletionQueue queue) {
        return reader(queue).await();
    }

    private QueueReader reader(CompletionQueue queue) {
        return new QueueReader(queue, pair::pump);
    }

    /** Reads the next entry of a queue, which must be a success with that context. */
    public FabricNode.Entry await(CompletionQueue queue, long context) {
        FabricNode.Entry next = await(queue);
        if (next.err() != 0 || next.context() != context) {
            throw new AssertionError("expected context " + context + ", got " + next);
        }
        return next;
    }

    /** Nothing completes in a queue in many rounds. */
    public void assertQuiet(CompletionQueue queue, int rounds) {
        for (int i = 0; i < rounds; i++) {
            FabricNode.Entry next = poll(queue);
            if (next != null) {
                throw new AssertionError("unexpected " + next);
            }
            pair.pump();
            Thread.yield();
        }
    }

    @Override
    public void close() {
        tx.forEach(Endpoint::close);
        rx.forEach(Endpoint::close);
        scalable.close();
        txCq.forEach(CompletionQueue::close);
        rxCq.forEach(CompletionQueue::close);
        av.close();
    }
}
