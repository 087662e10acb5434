package org.jfabric.driver.kit;

import java.util.ArrayList;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.AddressVector;
import org.jfabric.CompletionError;
import org.jfabric.CompletionQueue;
import org.jfabric.Endpoint;
import org.jfabric.ScalableEndpoint;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionFormat;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.FabricErrno;
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
    private final UnsafeBuffer entry = new UnsafeBuffer(new byte[48]);
    private final long[] source = new long[1];

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
        return node.domain.openCompletionQueue(
            new CompletionQueueAttr().size(64).format(CompletionFormat.TAGGED));
    }

    public static Endpoint enabled(Endpoint context, CompletionQueue queue, long flags) {
        context.bind(queue, flags);
        context.enable();
        return context;
    }

    /** Reads one entry of a queue, or null. */
    public FabricNode.Entry poll(CompletionQueue queue) {
        int read = queue.readFrom(entry, 0, 1, source);
        if (read == 1) {
            return new FabricNode.Entry(entry.getLong(0), entry.getLong(8), entry.getLong(16), entry.getLong(24),
                entry.getLong(32), entry.getLong(40), source[0], 0, 0);
        }
        if (read == -FabricErrno.EAVAIL) {
            CompletionError error = new CompletionError();
            queue.readErr(error, 0);
            return new FabricNode.Entry(error.opContext(), error.flags(), error.len(), error.buf(), error.data(),
                error.tag(), error.srcAddr(), error.err(), error.olen());
        }
        if (read != -FabricErrno.EAGAIN) {
            throw new AssertionError("read answered " + FabricErrno.name(read));
        }
        return null;
    }

    /** Reads the next entry of a queue. */
    public FabricNode.Entry await(CompletionQueue queue) {
        long deadline = System.nanoTime() + FabricNode.DEADLINE_NS;
        while (System.nanoTime() - deadline < 0) {
            FabricNode.Entry next = poll(queue);
            if (next != null) {
                return next;
            }
            pair.pump();
            Thread.yield();
        }
        throw new AssertionError("no completion in " + queue);
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
