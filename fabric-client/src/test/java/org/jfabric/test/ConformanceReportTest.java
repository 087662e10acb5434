package org.jfabric.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;
import static org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder.request;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
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

        var report = new ConformanceReport(RequirementTable.parse(pages()));
        report.readModule(dir);
        String text = report.render("");
        assertRow(text, "| CQ-002 | Title of CQ-002 | due, shown | - "
            + "| ConformanceReportTest$Samples.passes, ConformanceReportTest$Samples.refuses |");
        assertRow(text, "| CQ-003 | Title of CQ-003 | due, shown | loopback, shm "
            + "| ConformanceReportTest$Samples.passesPerLink |");
        assertRow(text, "| CQ-005 | Title of CQ-005 | due, shown | tcp "
            + "| ConformanceReportTest$Samples.passesOnNamedLink |");
        assertRow(text, "| CQ-004 | Title of CQ-004 | due, not shown |  |  |");
        assertRow(text, "| CQ-010 | Title of CQ-010 | due, shown by refusal | - "
            + "| ConformanceReportTest$Samples.refuses |");
        assertRow(text, "| CQ-151 | Title of CQ-151 | not due: later |  |  |");
        assertRow(text, "| CQ-150 | Title of CQ-150 | not due: later; shown | loopback, shm "
            + "| ConformanceReportTest$Samples.passesPerLink |");
        assertRow(text, "| CQ Completion queues | 151 | 149 | 9 | 140 | 2 | 1 | 1 | 4 | 4 | 2 |");
        assertEquals(650, text.lines().filter(line -> line.matches("\\| [A-Z]+-\\d{3} \\| .*")).count());

        List<String> problems = report.problems();
        String samples = Samples.class.getName();
        assertTrue(problems.contains(samples + "#passesOnNamedLink claims the row CQ-999, which does not exist"),
            problems.toString());
        assertTrue(problems.contains(samples + "#claimsTooMuch is not parameterised and claims 4 rows, at most 3: "
            + "[CQ-001, CQ-006, CQ-007, CQ-008]"), problems.toString());
        assertFalse(problems.stream().anyMatch(problem -> problem.contains("passesPerLink")), problems.toString());
        assertTrue(problems.contains("CQ-004 is due and no test showed it: Title of CQ-004"), problems.toString());
        assertFalse(problems.stream().anyMatch(problem -> problem.contains("CQ-151")), problems.toString());
        assertFalse(problems.stream().anyMatch(problem -> problem.contains("TAG-")), problems.toString());
        assertEquals(2 + 140, problems.size(), problems.toString());
    }

    /** A build that fails has a report too: each JVM with tests writes it. */
    @Test
    void shouldWriteWhatHasBeenShownBeforeTheBuildHasEnded() throws IOException {
        Path pages = Files.createDirectories(dir.resolve("docs/requirements"));
        for (Map.Entry<String, List<String>> page : pages().entrySet()) {
            Files.write(pages.resolve(page.getKey()), page.getValue());
        }
        Path shown = Files.createDirectories(dir.resolve("module").resolve(RequirementListener.DIR_DEFAULT));
        Files.writeString(shown.resolve("shown-1.tsv"), "CQ-002\tshm\ta.B#c\tsingle\tworks\n");

        ConformanceReport.writeSoFar(dir);

        String text = Files.readString(dir.resolve("target/conformance.md"));
        assertRow(text, "| CQ-002 | Title of CQ-002 | due, shown | shm | B.c |");
        assertTrue(text.contains("has not come to its end"), text);
    }

    @Test
    void shouldKnowWhenThePagesAreWrong() {
        Map<String, List<String>> pages = pages();
        List<String> rows = pages.get("rows.md");
        rows.replaceAll(line -> line.startsWith("| CQ-010 |") ? "| CQ-011 | Again | now | Text | Page |"
            : line.startsWith("| CQ-012 |") ? "| CQ-012 | Title | nowhere | Text | Page |"
            : line.startsWith("| CQ-013 |") ? "| CQ-013 | Title | - | Text | Page |"
            : line.startsWith("| CQ-014 |") ? "| CQ-014 | Title | now |  | Page |"
            : line.startsWith("| CQ-015 |") ? "| CQ-015 | Title | now | Two | cells | Page |"
            : line.startsWith("| CQ-016 |") ? "| CQ-016 | Title | now | One \\| cell | Page |" : line);
        rows.add("| CQ-152 | One too many | now | Text | Page |");
        List<String> readme = pages.get(RequirementTable.README);
        readme.add("| soon | perhaps | java.lang.String | - | What |");
        readme.remove(0);
        pages.get(RequirementTable.READINGS).addAll(List.of(reading(2, "Once"), reading(2, "Twice"),
            "| " + amb(3) + " | Where | Problem | Reading |"));
        assertEquals(List.of(
            "capability that is neither existing nor missing: | soon | perhaps | java.lang.String | - | What |",
            amb(2) + " stands twice",
            "reading with 4 columns instead of 5: | " + amb(3) + " | Where | Problem | Reading |",
            "CQ-011 stands twice",
            "row with 6 columns instead of 5: | CQ-015 | Title | now | Two | cells | Page |",
            "CQ-010 is missing",
            "CQ-015 is missing",
            "CQ-012 names the unknown capability nowhere",
            "CQ-013 has no title or no capability",
            "CQ-014 has no text or no source",
            "CQ-152 does not exist",
            "no line \"Enforced groups: ...\"",
            "readings.md:4 cites " + amb(3) + ", which does not exist",
            "rows.md:15 cites CQ-015, which does not exist"),
            RequirementTable.parse(pages).problems());
    }

    @Test
    void shouldKnowWhatIsCitedAndDoesNotExist() throws IOException {
        Map<String, List<String>> pages = pages();
        pages.get("rows.md").add("See " + amb(1) + " and TAG-074, but not " + amb(98) + " and TAG-075.");
        Files.write(dir.resolve("SomeTest.java"), List.of("// " + amb(1), "", "// " + amb(2) + ", " + amb(1)));
        var report = new ConformanceReport(RequirementTable.parse(pages));
        report.readTests(dir);
        assertEquals(List.of(
            "rows.md:651 cites " + amb(98) + ", which does not exist",
            "rows.md:651 cites TAG-075, which does not exist",
            "SomeTest.java:3 cites " + amb(2) + ", which does not exist"),
            report.problems().stream().filter(problem -> problem.contains(" cites ")).toList());
    }

    @Test
    void shouldNoticeCapabilitiesThatComeAndThatDoNotExist() {
        assertEquals(List.of(), problems(true, "java.lang.String#length", "java.lang.String#indexOf/2"));
        assertEquals(List.of(), problems(false, "java.lang.String#read", "java.lang.String#length/1", "no.Class"));
        assertEquals(List.of("capability it is marked missing, but java.lang.String#length is there: mark it as "
            + "existing, its rows are due now"), problems(false, "java.lang.String#read", "java.lang.String#length"));
        assertEquals(List.of("capability it is marked existing, but there is no public no.Class"),
            problems(true, "java.lang.String#length", "no.Class"));
        assertEquals(List.of("capability it: the class of no.Class#write does not exist, name the class alone"),
            problems(false, "no.Class#write"));
        assertEquals(List.of("capability it names no API"), problems(false));
        assertEquals(List.of(), new Capability("it", false, List.of(), List.of("mode IT")).problems());
        assertEquals(List.of("capability it names no API"),
            new Capability("it", true, List.of(), List.of("mode IT")).problems());
    }

    @Test
    void shouldFindNoMistakeInThePagesOfTheProject() throws IOException {
        RequirementTable table = RequirementTable.read(Path.of("../docs/requirements"));
        assertEquals(List.of(), table.problems());
        assertTrue(table.isEnforced("CQ-001"));
        assertTrue(table.isEnforced("CL-001"));
        assertTrue(table.isEnforced("SEP-001"));
        assertTrue(table.isDue("CQ-054"));
        assertEquals(List.of(), table.missing("CQ-112"));
        assertEquals(List.of(), table.missing("SHR-001"));
    }

    private static List<String> problems(boolean exists, String... api) {
        return new Capability("it", exists, List.of(api), List.of()).problems();
    }

    private static void assertRow(String text, String row) {
        String key = row.substring(0, row.indexOf('|', 1));
        assertTrue(text.lines().anyMatch(row::equals), () -> "no line " + row + ", but "
            + text.lines().filter(line -> line.startsWith(key)).toList());
    }

    /** All rows: the last two of CQ wait for something. */
    private static Map<String, List<String>> pages() {
        List<String> rows = new ArrayList<>();
        for (Requirements group : Requirements.values()) {
            for (String id : group.ids()) {
                boolean waits = id.equals("CQ-150") || id.equals("CQ-151");
                rows.add("| " + id + " | Title of " + id + " | now" + (waits ? ", later" : "") + " | Text | Page |");
            }
        }
        Map<String, List<String>> pages = new TreeMap<>();
        pages.put(RequirementTable.README, new ArrayList<>(List.of("Enforced groups: CQ",
            "| now | exists | java.lang.String#length | - | What |",
            "| later | missing | no.SuchClass | caps RMA | What |")));
        pages.put(RequirementTable.READINGS, new ArrayList<>(List.of(reading(1, "Problem"))));
        pages.put("rows.md", rows);
        return pages;
    }

    private static String reading(int number, String problem) {
        return "| " + amb(number) + " | Where | " + problem + " | Reading | CQ-001 |";
    }

    /** Put together here, since the report looks for the names of readings in this file too. */
    private static String amb(int number) {
        return String.format("AMB-%02d", number);
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
        @Requirement({"CQ-003", "CQ-009", "CQ-150"})
        void passesPerLink(String link) {
            Assertions.assertNotNull(link);
        }

        @Test
        @Requirement({"CQ-006", "CQ-007", "CQ-008"})
        void claimsTooMuch() {
            Assertions.assertTrue(true);
        }

        /** Another test has seen the second row work. */
        @Test
        @Requirement(refused = {"CQ-010", "CQ-002"})
        void refuses() {
            Assertions.assertTrue(true);
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
