package org.jfabric.driver.conformance.queue;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.PollSet;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.driver.kit.WaitNode;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;

/** Asking several completion queues at once which has something to read. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
class PollSetTest {
    private final long[] contexts = new long[4];

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("REF-049")
    void shouldTellWhichQueuesHaveEntries(Setup setup) {
        try (FabricPair pair = new FabricPair(setup);
             WaitNode first = node(pair, 0xA1);
             WaitNode second = node(pair, 0xA2);
             PollSet set = pair.a.domain.openPollSet(0)) {
            set.add(first.queue, 0);
            set.add(second.queue, 0);
            assertEquals(0, set.poll(contexts, 4));
            second.complete(1);
            // in INVOKER the poll itself runs the cycles that let the entry come
            Deadline.awaitParked("no context", () -> set.poll(contexts, 4) == 1);
            assertEquals(0xA2, contexts[0]);
            first.complete(2);
            Deadline.awaitParked("one context", () -> set.poll(contexts, 4) == 2);
            long[] both = Arrays.copyOf(contexts, 2);
            Arrays.sort(both);
            assertArrayEquals(new long[] {0xA1, 0xA2}, both);
            // whoever did not fit comes next
            assertEquals(1, set.poll(contexts, 1));
            long seen = contexts[0];
            assertEquals(1, set.poll(contexts, 1));
            assertEquals(0xA1 + 0xA2, seen + contexts[0]);
            assertEquals(0, set.poll(contexts, 0));
            assertEquals(1, second.take());
            assertEquals(2, first.take());
            assertEquals(0, set.poll(contexts, 4));
            set.del(first.queue, 0);
            set.del(second.queue, 0);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("REF-049")
    void shouldRefuseWhatCannotBe(Setup setup) {
        try (FabricPair pair = new FabricPair(setup); WaitNode node = node(pair, 1)) {
            assertRefused(FabricErrno.EINVAL, () -> pair.a.domain.openPollSet(1));
            PollSet set = pair.a.domain.openPollSet(0);
            assertRefused(FabricErrno.EINVAL, () -> set.add(node.queue, 1));
            assertRefused(FabricErrno.EINVAL, () -> set.del(node.queue, 0));
            Domain other = pair.a.fabric.domain(pair.a.info);
            CompletionQueue foreign = other.openCompletionQueue(new CompletionQueueAttr());
            assertRefused(FabricErrno.EINVAL, () -> set.add(foreign, 0));
            foreign.close();
            other.close();
            CompletionQueue closed = pair.a.domain.openCompletionQueue(new CompletionQueueAttr());
            closed.close();
            assertRefused(FabricErrno.EINVAL, () -> set.add(closed, 0));
            CompletionQueue unbound = pair.a.domain.openCompletionQueue(new CompletionQueueAttr());
            set.add(unbound, 0);
            assertRefused(FabricErrno.EALREADY, () -> set.add(unbound, 0));
            assertEquals(0, set.poll(contexts, 4));
            assertRefused(FabricErrno.EBUSY, unbound::close);
            assertRefused(FabricErrno.EBUSY, set::close);
            assertEquals(-FabricErrno.EINVAL, set.poll(contexts, 5));
            assertEquals(-FabricErrno.EINVAL, set.poll(contexts, -1));
            set.del(unbound, 0);
            unbound.close();
            set.close();
            set.close();
            assertFalse(set.isOpen());
            assertEquals(-FabricErrno.EOPBADSTATE, set.poll(contexts, 4));
            assertRefused(FabricErrno.EOPBADSTATE, () -> set.add(node.queue, 0));
            PollSet left = pair.a.domain.openPollSet(0);
            assertRefused(FabricErrno.EBUSY, pair.a.domain::close);
            pair.a.fabric.close();
            assertFalse(left.isOpen());
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldAllocateNothing(Setup setup) {
        assumeTrue(ManagementFactory.getThreadMXBean() instanceof ThreadMXBean bean
            && bean.isThreadAllocatedMemorySupported(), "this JVM does not count allocation per thread");
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (FabricPair pair = new FabricPair(setup);
             WaitNode first = node(pair, 1);
             WaitNode second = node(pair, 2);
             PollSet set = pair.a.domain.openPollSet(0)) {
            set.add(first.queue, 0);
            set.add(second.queue, 0);
            second.complete(1);
            Deadline.awaitParked("no context", () -> set.poll(contexts, 4) == 1);
            long least = Long.MAX_VALUE;
            for (int attempt = 0; attempt < 200 && least != 0; attempt++) {
                long before = threads.getCurrentThreadAllocatedBytes();
                for (int i = 0; i < 500; i++) {
                    set.poll(contexts, 4);
                }
                least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
            }
            assertEquals(0, least);
            set.del(first.queue, 0);
            set.del(second.queue, 0);
        }
    }

    private static WaitNode node(FabricPair pair, long context) {
        return new WaitNode(pair.a, pair.a, new CompletionQueueAttr(), context);
    }

    private static void assertRefused(int errno, Executable call) {
        assertEquals(errno, assertThrows(FabricException.class, call).errno());
    }
}
