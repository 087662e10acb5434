package org.jfabric.perf.jmh;

import java.util.concurrent.TimeUnit;
import org.jfabric.driver.ffi.SendRequests;
import org.jfabric.driver.ffi.VerbsConstants;
import org.jfabric.driver.ffi.WorkCompletions;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * The work of the link verbs for one message and for one completion, over a device that does nothing: what is sent has
 * ended when it is posted, and what arrives is not moved. The link, its connection and its queues are the product's;
 * the binding's calls are Java methods here, so that no downcall is in the figures. A batch is refused unless it was
 * handed over by one call.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class VerbsLinkBenchmark {
    private static final int BATCH = 32;

    @Param("64")
    public int sizeBytes;

    private VerbsRig rig;
    private BlankDataPath bare;
    private SendRequests requests;
    private WorkCompletions completions;

    /** Creates the state; {@link #open()} makes the connection. */
    public VerbsLinkBenchmark() {
    }

    /** Makes the connection, and prepared work requests for the device alone. */
    @Setup(Level.Trial)
    public void open() {
        rig = new VerbsRig(sizeBytes);
        bare = new BlankDataPath();
        completions = new WorkCompletions(BATCH);
        requests = new SendRequests(BATCH, 1, 0);
        for (int i = 0; i < BATCH; i++) {
            requests.begin(i, VerbsConstants.WR_SEND, VerbsConstants.SEND_SIGNALED);
            if (i > 0) {
                requests.follow(i - 1, i);
            }
        }
    }

    /** Gives all back. */
    @TearDown(Level.Trial)
    public void close() {
        rig.close();
        requests.close();
        completions.close();
    }

    /** One message with a completion: send, step, completion. */
    @Benchmark
    public long sent() {
        long posts = rig.dataPath().sendPosts();
        long end = rig.sent() + 1;
        rig.send(VerbsRig.SIGNALED, 1);
        while (rig.sent() != end) {
            rig.poll();
        }
        return check(posts);
    }

    /** The same of a batch, for one message. */
    @Benchmark
    @OperationsPerInvocation(BATCH)
    public long sentInBatch() {
        long posts = rig.dataPath().sendPosts();
        long end = rig.sent() + BATCH;
        rig.send(VerbsRig.SIGNALED, BATCH);
        while (rig.sent() != end) {
            rig.poll();
        }
        return check(posts);
    }

    /** A message of a batch without individual completions, so that the card writes few. */
    @Benchmark
    @OperationsPerInvocation(BATCH)
    public long sentInBatchQuietly() {
        long posts = rig.dataPath().sendPosts();
        rig.send(VerbsRig.QUIET, BATCH);
        rig.poll();
        return check(posts);
    }

    /** One message that arrives: completion, the engine, the receive handed back at times. */
    @Benchmark
    public long received() {
        return receive(1);
    }

    /** The same of a batch, for one message. */
    @Benchmark
    @OperationsPerInvocation(BATCH)
    public long receivedInBatch() {
        return receive(BATCH);
    }

    /** A step that finds nothing. Returns 0. */
    @Benchmark
    public int idle() {
        return rig.poll();
    }

    /** The device's part of {@link #sentInBatch()}, for one message. */
    @Benchmark
    @OperationsPerInvocation(BATCH)
    public int deviceAlone() {
        bare.postSend(0, requests.address(0));
        return bare.poll(0, completions);
    }

    private long receive(int count) {
        long end = rig.received() + count;
        rig.dataPath().arrive(count, sizeBytes);
        while (rig.received() != end) {
            rig.poll();
        }
        return end;
    }

    private long check(long postsBefore) {
        if (rig.dataPath().sendPosts() != postsBefore + 1) {
            throw new IllegalStateException("the batch took " + (rig.dataPath().sendPosts() - postsBefore) + " calls");
        }
        return rig.sent();
    }
}
