package org.jfabric.perf.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.tool.PingPongFabric;
import org.jfabric.tool.PingPongLoop;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ProfilerTest {
    private static final int SAMPLES = 20;

    @TempDir
    Path folder;

    @Test
    void shouldSortPartsByTheirShare() {
        Profile profile = new Profile(Map.of("a b", 1, "c", 3));
        assertEquals(List.of(new Profile.Part("c", 0.75), new Profile.Part("a b", 0.25)), profile.parts());
        assertEquals(profile, Profile.parse(profile.format()));
        assertEquals(new Profile(Map.of()), Profile.parse(new Profile(Map.of()).format()));
        assertThrows(IllegalArgumentException.class, () -> Profile.parse("-"));
    }

    /** Messages to oneself: all three calls of the way are found, and no file is left. */
    @Test
    @Tag("slow")
    void shouldNameThePartsOfAMessagesWay() throws Exception {
        try (PingPongFabric fabric = PingPongFabric.application(
            folder.resolve("driver"), ThreadingMode.INVOKER, "loopback", 64, "self")) {
            PingPongLoop loop = new PingPongLoop(fabric.endpoint(), fabric.queue(), fabric.peer("driver", "self"),
                fabric.receiveRegion().address(0), fabric.sendRegion().address(0), 64, true);
            Profile profile;
            do {
                Profiler profiler = new Profiler(Thread.currentThread().getName());
                for (int i = 0; i < 1_000_000; i++) {
                    assertEquals(0, loop.arm() | loop.postSend() | loop.await());
                }
                profile = profiler.end(folder);
            } while (profile.total() < SAMPLES);
            for (String call : List.of("send: ", "post the receive: ", "poll: ")) {
                assertTrue(profile.samples().keySet().stream().anyMatch(part -> part.startsWith(call)),
                    call + " of " + profile);
            }
        }
        try (var left = Files.list(folder)) {
            assertTrue(left.noneMatch(file -> file.toString().endsWith(".jfr")));
        }
    }
}
