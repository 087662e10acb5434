package org.jfabric.tool;

import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.tool.PingPongPlan.Member;
import org.junit.jupiter.api.Test;

import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class PingPongPlanTest {
    @Test
    void shouldLetTheApplicationsRunTheirOwnDriversWhenShmIsEmbedded() {
        PingPongPlan plan = PingPongPlan.of("shm", "embedded", List.of(64L), 2);

        assertEquals(List.of(
            new Member(PingPongRole.PONG, "pong", ThreadingMode.INVOKER),
            new Member(PingPongRole.PING, "ping", ThreadingMode.INVOKER)), plan.processes());
        assertTrue(plan.spinning());
        assertEquals(2, plan.wantedCores());
    }

    @Test
    void shouldHaveADriverForEachSideWhenShmHasDaemons() {
        PingPongPlan plan = PingPongPlan.of("shm", "daemon", List.of(64L), 4);

        assertEquals(List.of(
            new Member(PingPongRole.DAEMON, "pong", ThreadingMode.DEDICATED),
            new Member(PingPongRole.DAEMON, "ping", ThreadingMode.DEDICATED),
            new Member(PingPongRole.PONG, "pong", null),
            new Member(PingPongRole.PING, "ping", null)), plan.processes());
        assertEquals("pong", plan.driverOf(PingPongRole.PONG));
        assertEquals("ping", plan.driverOf(PingPongRole.PING));
    }

    @Test
    void shouldShareOneDriverWhenTheLinkIsLoopback() {
        PingPongPlan embedded = PingPongPlan.of("loopback", "embedded", List.of(64L), 3);
        PingPongPlan daemon = PingPongPlan.of("loopback", "daemon", List.of(64L), 3);

        assertEquals(List.of(
            new Member(PingPongRole.PONG, "fabric", ThreadingMode.DEDICATED),
            new Member(PingPongRole.PING, "fabric", null)), embedded.processes());
        assertEquals(List.of(
            new Member(PingPongRole.DAEMON, "fabric", ThreadingMode.DEDICATED),
            new Member(PingPongRole.PONG, "fabric", null),
            new Member(PingPongRole.PING, "fabric", null)), daemon.processes());
    }

    @Test
    void shouldSleepWhenThereAreFewerCoresThanSpinningThreads() {
        assertFalse(PingPongPlan.of("shm", "embedded", List.of(64L), 1.5).spinning());
        for (String mode : List.of("embedded", "daemon")) {
            PingPongPlan plan = PingPongPlan.of("loopback", mode, List.of(64L), 2);

            assertFalse(plan.spinning());
            assertEquals(ThreadingMode.SHARED, plan.processes().getFirst().driver());
        }
        assertFalse(PingPongPlan.of("shm", "daemon", List.of(64L), 3).spinning());
        assertTrue(PingPongPlan.of("shm", "daemon", List.of(64L), 4).spinning());
    }

    @Test
    void shouldChooseACountThatTakesAboutAPass() {
        assertEquals(1_000_000, PingPongCoordinator.defaultCount(150));
        assertEquals(10_000, PingPongCoordinator.defaultCount(150_000));
        assertEquals(100, PingPongCoordinator.defaultCount(10_000_000));
        assertEquals(500, PingPongCoordinator.defaultCount(3_000_000));
        assertEquals(1, PingPongCoordinator.defaultCount(5_000_000_000L));
        assertEquals(1_000_000, PingPongCoordinator.defaultCount(0));
    }
}
