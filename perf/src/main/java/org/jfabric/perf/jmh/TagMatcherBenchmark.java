package org.jfabric.perf.jmh;

import java.util.concurrent.TimeUnit;
import org.jfabric.driver.engine.match.PostedReceive;
import org.jfabric.driver.engine.match.TagMatcher;
import org.jfabric.driver.engine.match.UnexpectedMessage;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Cost of a message and its receive in the {@link TagMatcher}, at 1 to 100,000 posted receives or waiting messages, in
 * the order of posting and in random order. {@link RandomWalkBenchmark} shows the cost of the cache misses of a random
 * order alone.
 *
 * <p>Each operation is a pair that leaves the depth as it was: a message takes a receive, which is posted again; or a
 * receive takes a message, which is kept again. The wildcard searches that reach the last element are linear by
 * design, and are here to show by how much.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class TagMatcherBenchmark {
    /** Distance of the tags used one after the other; odd and no factor of a depth, so that every tag comes. */
    private static final int TAG_STRIDE = 7_919;
    private static final int TAG_SHIFT = 8;
    private static final long LOW_BYTE = 0xFF;

    /** Number of posted receives, or of waiting messages. */
    @Param({"1", "100", "10000", "100000"})
    public int depth;

    /** Wildcard receives posted among the exact ones, which accept none of the messages. */
    @Param({"0", "16"})
    public int wildcards;

    private TagMatcher exactReceives;
    private TagMatcher equalReceives;
    private TagMatcher wildcardReceives;
    private TagMatcher messages;
    private PostedReceive spareReceive;
    private int tagStride;
    private int nextTag;
    private int nextInOrder;
    private int[] randomOrder;
    private int nextRandom;

    /** Creates the state, filled by {@link #fill()}. */
    public TagMatcherBenchmark() {
    }

    /** Posts the receives and keeps the messages. */
    @Setup(Level.Trial)
    public void fill() {
        exactReceives = new TagMatcher(depth, 1, true);
        equalReceives = new TagMatcher(depth, 1, true);
        wildcardReceives = new TagMatcher(depth, 1, true);
        messages = new TagMatcher(1, depth, true);
        for (int i = 0; i < depth; i++) {
            exactReceives.postReceive(receive(tag(i), 0));
            equalReceives.postReceive(receive(0, 0));
            wildcardReceives.postReceive(receive(tag(i), LOW_BYTE));
            UnexpectedMessage message = new UnexpectedMessage();
            message.arrived(tag(i), i & 1);
            messages.addUnexpected(message);
        }
        for (int i = 0; i < wildcards; i++) {
            exactReceives.postReceive(receive(-1L - ((long) i << TAG_SHIFT), LOW_BYTE));
        }
        randomOrder = RandomWalkBenchmark.randomOrder(depth);
        spareReceive = receive(0, 0);
        tagStride = TAG_STRIDE % depth;
    }

    /** A message takes the only receive of its tag among {@code depth} tags. */
    @Benchmark
    public PostedReceive postedExact() {
        return takeAndPost(exactReceives, tag(nextIndex()));
    }

    /** Messages take the receives in the order of posting; each is posted again, as the youngest. */
    @Benchmark
    public PostedReceive postedInOrder() {
        return takeAndPost(exactReceives, tag(nextInOrder()));
    }

    /** Messages take the receives in random order. */
    @Benchmark
    public PostedReceive postedInRandomOrder() {
        return takeAndPost(exactReceives, tag(nextRandom()));
    }

    /** Receives take the messages in the order of arrival; each is kept again, as the youngest. */
    @Benchmark
    public UnexpectedMessage unexpectedInOrder() {
        return takeAndKeep(tag(nextInOrder()), 0, TagMatcher.ANY_SOURCE);
    }

    /** Receives take the messages in random order. */
    @Benchmark
    public UnexpectedMessage unexpectedInRandomOrder() {
        return takeAndKeep(tag(nextRandom()), 0, TagMatcher.ANY_SOURCE);
    }

    /** A message takes the oldest of {@code depth} receives with one tag. */
    @Benchmark
    public PostedReceive postedEqual() {
        return takeAndPost(equalReceives, 0);
    }

    /** A message takes the oldest of {@code depth} wildcard receives. */
    @Benchmark
    public PostedReceive postedWildcardOldest() {
        return takeAndPost(wildcardReceives, wildcardReceives.firstPosted().tag() | 1);
    }

    /** A message is compared with {@code depth} wildcard receives and none accepts it. Returns null. */
    @Benchmark
    public PostedReceive postedWildcardNone() {
        return wildcardReceives.findPosted(-1L, 0);
    }

    /** A receive takes the only message of its tag among {@code depth} tags. */
    @Benchmark
    public UnexpectedMessage unexpectedExact() {
        return takeAndKeep(tag(nextIndex()), 0, TagMatcher.ANY_SOURCE);
    }

    /** A receive directed at one peer takes the only message of its tag among {@code depth} tags. */
    @Benchmark
    public UnexpectedMessage unexpectedDirected() {
        int index = nextIndex();
        return takeAndKeep(tag(index), 0, index & 1);
    }

    /** A receive for any tag takes the oldest of {@code depth} messages. */
    @Benchmark
    public UnexpectedMessage unexpectedWildcardOldest() {
        return takeAndKeep(0, -1L, TagMatcher.ANY_SOURCE);
    }

    /** A wildcard search is compared with {@code depth} messages and accepts none. Returns null. */
    @Benchmark
    public UnexpectedMessage unexpectedWildcardNone() {
        return messages.peek(-1L, LOW_BYTE, TagMatcher.ANY_SOURCE);
    }

    private PostedReceive takeAndPost(TagMatcher matcher, long tag) {
        PostedReceive receive = matcher.arrive(tag, 0);
        matcher.postReceive(receive);
        return receive;
    }

    private UnexpectedMessage takeAndKeep(long tag, long ignore, int source) {
        spareReceive.accept(tag, ignore, source);
        UnexpectedMessage message = messages.postReceive(spareReceive);
        messages.addUnexpected(message);
        return message;
    }

    private int nextIndex() {
        int index = nextTag + tagStride;
        nextTag = index >= depth ? index - depth : index;
        return nextTag;
    }

    private int nextInOrder() {
        int index = nextInOrder;
        nextInOrder = index + 1 == depth ? 0 : index + 1;
        return index;
    }

    private int nextRandom() {
        int index = nextRandom;
        nextRandom = index + 1 == depth ? 0 : index + 1;
        return randomOrder[index];
    }

    private static long tag(int index) {
        return (long) index << TAG_SHIFT;
    }

    private static PostedReceive receive(long tag, long ignore) {
        PostedReceive receive = new PostedReceive();
        receive.accept(tag, ignore, TagMatcher.ANY_SOURCE);
        return receive;
    }
}
