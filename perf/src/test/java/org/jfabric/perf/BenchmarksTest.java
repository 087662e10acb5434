package org.jfabric.perf;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

class BenchmarksTest {

    @Test
    void shouldPassJvmArgumentsToTheMeasuringProcess() {
        String[] args = Benchmarks.withJvmArgs(new String[] {"TagMatcher", "-f", "1"});

        assertArrayEquals(new String[] {"TagMatcher", "-f", "1", "-jvmArgsPrepend"}, Arrays.copyOf(args, 4));
        assertTrue(args[4].contains("jdk.internal.misc"), args[4]);
        assertEquals(5, args.length);
    }

    @Test
    void shouldExtendJvmArgumentsThatAreGiven() {
        String[] args = Benchmarks.withJvmArgs(new String[] {"-jvmArgsPrepend", "-Xmx1g", "TagMatcher"});

        assertEquals(3, args.length);
        assertTrue(args[1].contains("jdk.internal.misc") && args[1].endsWith(" -Xmx1g"), args[1]);
        assertEquals("TagMatcher", args[2]);
    }
}
