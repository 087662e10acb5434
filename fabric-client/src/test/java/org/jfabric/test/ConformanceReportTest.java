package org.jfabric.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;
import static org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder.request;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherFactory;

class ConformanceReportTest {

    @TempDir
    Path dir;

    @Test
    void shouldKnowTheWholeListOfRows() {
        int rows = 0;
        for (Requirements group : Requirements.values()) {
            rows += group.ids().size();
        }
        assertEquals(650, rows);
        assertTrue(Requirements.exists("CQ-151"));
        assertTrue(Requirements.exists("SOCK-001"));
        assertFalse(Requirements.exists("CQ-152"));
        assertFalse(Requirements.exists("CQ-1"));
        assertFalse(Requirements.exists("XX-001"));
    }

    @Test
    void shouldJoinNeighboursWhenRowsAreMissing() {
        assertEquals("001-003, 005, 007-008",
            ConformanceReport.ranges(List.of("CQ-001", "CQ-002", "CQ-003", "CQ-005", "CQ-007", "CQ-008")));
    }

    @Test
    void shouldRecordOnlyPassedTestsWithTheirLinks() throws IOException {
        var listener = new RequirementListener(dir);
        var config = LauncherConfig.builder().enableTestExecutionListenerAutoRegistration(false)
            .addTestExecutionListeners(listener).build();
        LauncherFactory.create(config).execute(request()
            .selectors(selectClass(Samples.class))
            .configurationParameter("junit.jupiter.conditions.deactivate", "*").build());

        var report = new ConformanceReport();
        report.readModule(dir);
        String text = report.render();
        assertTrue(text.contains("| CQ-002 | - | ConformanceReportTest$Samples.passes |"), text);
        assertTrue(text.contains("| CQ-003 | loopback, shm | ConformanceReportTest$Samples.passesPerLink |"), text);
        assertTrue(text.contains("| CQ-005 | tcp | ConformanceReportTest$Samples.passesOnNamedLink |"), text);
        assertFalse(text.contains("| CQ-004 |"), text);
        assertTrue(text.contains("| CQ Completion queues | 151 | 4 | 147 | 2 | 2 | 2 |"), text);
        assertEquals(Set.of("CQ-999"), report.unknown().keySet());
    }

    /** Input of the listener, run only from the test above. */
    @Disabled("input of another test")
    @Requirement("CQ-001")
    static class Samples {

        @Test
        @Requirement("CQ-002")
        void passes() {
            Assertions.assertTrue(true);
        }

        @ParameterizedTest(name = "link={0}")
        @ValueSource(strings = {"loopback", "shm"})
        @Requirement("CQ-003")
        void passesPerLink(String link) {
            Assertions.assertNotNull(link);
        }

        @Test
        @Requirement("CQ-004")
        void fails() {
            Assertions.fail("on purpose");
        }

        @Test
        @DisplayName("on link=tcp")
        @Requirement({"CQ-005", "CQ-999"})
        void passesOnNamedLink() {
            Assertions.assertTrue(true);
        }
    }
}
