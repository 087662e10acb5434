package org.jfabric.driver.conformance.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Set;
import java.util.TreeSet;
import org.jfabric.driver.kit.DriverView;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.Setup;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Writes with data to a target that does not read its queue, over a wire where they wait in front of all else. */
@Tag("conformance")
@Timeout(120)
class HeldWriteTest {
    private static final int SLOTS = 16;
    private static final String LABEL = " held back by unread completions of ";

    @ParameterizedTest
    @EnumSource(value = Setup.class, names = "NETWORK_EMBEDDED")
    @Requirement({"CQ-133", "CQ-134"})
    void shouldHoldOneWriterShowItAndServeTheOthers(Setup setup) {
        try (RemoteMemoryPair pair = new RemoteMemoryPair(setup, 0, SLOTS);
             FabricNode other = pair.pair.sibling(pair.a, other(setup), 9);
             DriverView view = new DriverView(pair.pair.directory("beta"))) {
            long fromOther = other.av.insert(pair.b.endpoint.name());
            assertEquals(Set.of(), held(view));
            int posted = 0;
            Deadline deadline = Deadline.usual();
            while (held(view).isEmpty()) {
                deadline.check("a counter", view.counters()::toString);
                int result = pair.remote.writedata(
                    pair.a.memory.address(), 8, posted, pair.toB, 0, pair.key, posted);
                assertTrue(result == 0 || result == -FabricErrno.EAGAIN, FabricErrno.name(-result));
                posted += result == 0 ? 1 : 0;
                FabricNode.Entry entry = pair.a.poll();
                assertTrue(entry == null || entry.err() == 0);
                pair.pair.pump();
            }
            assertEquals(Set.of("remote access of " + setup.seen(pair.a.endpoint) + LABEL + pair.b.endpoint.name()),
                held(view));
            // plain accesses and messages of another endpoint are served
            for (int i = 0; i < 20; i++) {
                other.memory.buffer().putLong(0, 1000 + i);
                assertEquals(0, other.endpoint.remoteMemory().write(
                    other.memory.address(), 8, fromOther, 64, pair.key, 1));
                other.await(1);
                assertEquals(1000 + i, pair.bytes().getLong(64));
            }
            for (int i = 0; i < posted; i++) {
                FabricNode.Entry entry = pair.b.await(0);
                assertEquals(i, entry.data());
            }
            assertEquals(Set.of(), held(view));
        }
    }

    private static Info other(Setup setup) {
        return RemoteMemoryPair.delivering(setup, new Info().caps(Flags.RMA | Flags.MSG));
    }

    private static Set<String> held(DriverView view) {
        Set<String> labels = new TreeSet<>(view.counters().keySet());
        labels.removeIf(label -> !label.contains(LABEL));
        return labels;
    }
}
