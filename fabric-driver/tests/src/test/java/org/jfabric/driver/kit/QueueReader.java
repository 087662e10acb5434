package org.jfabric.driver.kit;

import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.CompletionError;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.info.CompletionFormat;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;

/** Reads the entries of one completion queue in the format with tags. */
public final class QueueReader {
    private final CompletionQueue cq;
    private final Runnable pump;
    private final UnsafeBuffer entry = new UnsafeBuffer(new byte[48]);
    private final long[] source = new long[1];

    /** The pump lets embedded drivers go on while the reader waits. */
    public QueueReader(CompletionQueue cq, Runnable pump) {
        this.cq = cq;
        this.pump = pump;
    }

    /** Of a new queue beside that of a pair's endpoint. */
    public static QueueReader open(FabricPair pair, Domain domain, int size) {
        return new QueueReader(domain.openCompletionQueue(
            new CompletionQueueAttr().size(size).format(CompletionFormat.TAGGED)), pair::pump);
    }

    public CompletionQueue cq() {
        return cq;
    }

    /** Reads one completion if there is one. */
    public FabricNode.Entry poll() {
        int read = cq.readFrom(entry, 0, 1, source);
        if (read == 1) {
            return new FabricNode.Entry(entry.getLong(0), entry.getLong(8), entry.getLong(16), entry.getLong(24),
                entry.getLong(32), entry.getLong(40), source[0], 0, 0, null);
        }
        if (read == -FabricErrno.EAVAIL) {
            CompletionError error = new CompletionError();
            if (cq.readErr(error, 0) != 1) {
                throw new AssertionError("readErr found nothing after -FI_EAVAIL");
            }
            boolean isGap = (error.flags() & Flags.MULTICAST) != 0 && error.errDataSize() == 2 * Long.BYTES;
            return new FabricNode.Entry(error.opContext(), error.flags(), error.len(), error.buf(), error.data(),
                error.tag(), error.srcAddr(), error.err(), error.olen(),
                isGap ? new FabricNode.Lost(error.errData().getLong(0), error.errData().getLong(Long.BYTES)) : null);
        }
        if (read != -FabricErrno.EAGAIN) {
            throw new AssertionError("read answered " + FabricErrno.name(read));
        }
        return null;
    }

    /** Reads the next completion. */
    public FabricNode.Entry await() {
        long deadline = System.nanoTime() + FabricNode.DEADLINE_NS;
        while (System.nanoTime() - deadline < 0) {
            FabricNode.Entry next = poll();
            if (next != null) {
                return next;
            }
            pump.run();
            Thread.yield();
        }
        throw new AssertionError("no completion in " + cq);
    }
}
