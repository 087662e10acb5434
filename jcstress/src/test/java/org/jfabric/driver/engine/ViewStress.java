package org.jfabric.driver.engine;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.lang.foreign.MemorySegment;
import org.jfabric.client.QueueSnapshot;
import org.jfabric.client.ViewCopy;
import org.jfabric.driver.link.scripted.Script;
import org.jfabric.layout.ViewDescriptor;
import org.jfabric.stress.NativeMemory;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/** Snapshots of the queues of an endpoint: the driver's writer and a tool's reader of the same file. */
public final class ViewStress {
    private static final int RECEIVES = 24;
    private static final long INTERVAL_NS = 200_000_000L;

    private ViewStress() {
    }

    /** An endpoint whose receives all have the time of the next snapshot as their tag. One thread. */
    private static final class Endpoint {
        static final Endpoint ONE = new Endpoint();

        final MemorySegment file = NativeMemory.segment(
            NativeMemory.allocate(ViewDescriptor.FILE_LENGTH), ViewDescriptor.FILE_LENGTH);
        private final Engines.Node node;
        private final QueueView view;
        private long nowNs;

        private Endpoint() {
            Engines rig = new Engines(new Script(1));
            rig.rxSize = 64;
            node = rig.add("stress");
            view = new QueueView(node.endpoint, node.session, 1, file.address());
            snapshot();
        }

        synchronized void snapshot() {
            for (int i = 0; i < RECEIVES; i++) {
                node.endpoint.cancel(i + 1);
            }
            node.completions.takeAll();
            nowNs += INTERVAL_NS;
            for (int i = 0; i < RECEIVES; i++) {
                if (node.trecv(0, 1, nowNs + i, i + 1) != 0) {
                    throw new AssertionError("no receive");
                }
            }
            int polls = 0;
            while (view.poll(nowNs) != 0) {
                if (++polls > 1_000) {
                    throw new AssertionError("no end of a snapshot");
                }
            }
        }
    }

    /** A copy that is taken while the sequence stays the same is of one snapshot. */
    @JCStressTest
    @Outcome(id = "0", expect = ACCEPTABLE, desc = "The driver was writing.")
    @Outcome(id = "1", expect = ACCEPTABLE, desc = "The copy is of one snapshot.")
    @Outcome(expect = FORBIDDEN, desc = "The copy is of two snapshots.")
    @State
    public static class CopyIsOfOneSnapshot {
        private static final ThreadLocal<byte[]> COPIES = ThreadLocal.withInitial(
            () -> new byte[ViewDescriptor.FILE_LENGTH]);

        private final Endpoint endpoint = Endpoint.ONE;

        @Actor
        public void write() {
            endpoint.snapshot();
        }

        @Actor
        public void read(I_Result result) {
            byte[] copy = COPIES.get();
            for (int i = 0; i < 20 && result.r1 == 0; i++) {
                if (ViewCopy.take(endpoint.file, copy)) {
                    result.r1 = isOfOne(QueueSnapshot.decode(copy)) ? 1 : 2;
                }
            }
        }

        private static boolean isOfOne(QueueSnapshot snapshot) {
            boolean all = snapshot.beginNs() == snapshot.endNs() && snapshot.posted().size() == RECEIVES;
            for (QueueSnapshot.PostedRow row : snapshot.posted()) {
                long since = row.tag() - snapshot.beginNs();
                all &= since >= 0 && since < RECEIVES;
            }
            return all;
        }
    }
}
