package org.jfabric.tool.watch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class TopFrameTest {
    private static final TopView BY_SENT = new TopView(TopColumn.SENT, false, "", true);

    private static List<String> frame(TopView view, int width) {
        return TopFrame.of(Samples.of(1_200_000), view, width).stream().map(TopFrame.Line::text).toList();
    }

    private static int at(List<String> lines, String begin) {
        for (int i = 0; i < lines.size(); i++) {
            if (lines.get(i).startsWith(begin)) {
                return i;
            }
        }
        throw new AssertionError(begin + " in " + lines);
    }

    @Test
    void shouldShowDriversWaitsAndEndpointsWithTheirPeers() {
        List<String> lines = frame(BY_SENT, 120);

        assertEquals("1970-01-01T01:00:00Z  3 drivers, 1 client, 3 endpoints; over 1.0 s", lines.getFirst());
        assertTrue(lines.get(at(lines, "alpha ")).matches(
            "alpha +running +1h00m +0 +1 +320ns +1.28us +20.5us +4.10ms +2 +1 +3 +42"), () -> String.join("\n", lines));
        assertTrue(lines.get(at(lines, "beta ")).matches("beta +dead +- .* 43"), () -> String.join("\n", lines));
        assertTrue(lines.contains("gamma: /base/gamma belongs to user 7."), lines::toString);
        assertTrue(lines.contains(
            "jfabric://alpha/slow waits for jfabric://beta/b: sends without credit: 12, 1m05s"), lines::toString);
        assertTrue(lines.get(at(lines, "jfabric://alpha/fast")).matches(
            "jfabric://alpha/fast +flowing quotes +1.20M +2.40M +0 +0 +3 +16 +- +- +2"),
            () -> String.join("\n", lines));
        int slow = at(lines, "jfabric://alpha/slow  ");
        assertTrue(lines.get(slow + 1).matches(" {2}> jfabric://beta/b +stuck +shm +5 .* +12 .*"),
            () -> String.join("\n", lines));
    }

    @Test
    void shouldShowGroupsWithTheReadersThatAreBehindMost() {
        List<String> lines = frame(BY_SENT, 140);
        int group = at(lines, "jfabric://alpha/quotes of ");
        assertTrue(lines.get(group - 1).matches("GROUP +POSITION +LAG +LOST +STILL +READERS +OLDEST +WAITS"),
            lines.get(group - 1));
        assertTrue(lines.get(group).matches(
            "jfabric://alpha/quotes of jfabric://alpha/fast +70000 +2.00k +12 +68000 +3"), lines.get(group));
        assertTrue(lines.get(group + 1).matches(" {2}log /logs/quotes +69990 +10 +7 +2s *"), lines.get(group + 1));
        assertEquals("      synced to 60000, 384 MiB on the disk; the disk is full: messages are left out",
            lines.get(group + 2).stripTrailing());
        assertTrue(lines.get(group + 3).matches(" {2}> host gamma at 10.0.0.8:4711 +69500 +500"),
            lines.get(group + 3));
        assertEquals("      1.50MB/s, round trip 0.250 ms, has asked 4 times, 3 repairs with 4200 bytes",
            lines.get(group + 4).stripTrailing());
        group += 4;
        assertTrue(lines.get(group + 1).matches(
            " {2}> jfabric://beta/r9 holds it back +68001 +2.00k +0 +1m01s"), lines.get(group + 1));
        assertTrue(lines.get(group + 4).startsWith("  > jfabric://beta/r6 "), lines.get(group + 4));
        assertEquals("  and 5 more that are less behind", lines.get(group + 5));
        assertTrue(lines.get(group + 6).matches("jfabric://gamma/news, writer not seen +- +- +- +- +0"),
            lines.get(group + 6));
        assertTrue(lines.get(group + 7).matches(" {2}> jfabric://alpha/slow +17 +- +4"), lines.get(group + 7));
        List<String> one = frame(BY_SENT.filteredBy("NEWS").withOrWithoutPeers(), 60);
        assertFalse(one.stream().anyMatch(line -> line.contains("quotes of")), one::toString);
        assertTrue(one.get(at(one, "gamma/news, writer not seen")).length() <= 60, one::toString);
        assertFalse(one.stream().anyMatch(line -> line.startsWith("  > ")), one::toString);
    }

    @Test
    void shouldSortByAnyColumnBothWays() {
        List<String> lines = frame(BY_SENT, 120);
        assertTrue(at(lines, "jfabric://alpha/fast") < at(lines, "jfabric://alpha/middle"), lines::toString);
        assertTrue(at(lines, "jfabric://alpha/middle") < at(lines, "jfabric://alpha/slow  "), lines::toString);
        assertTrue(lines.stream().anyMatch(line -> line.contains(" SENT/Sv ")), lines::toString);

        List<String> reverse = frame(BY_SENT.reversed(), 120);
        assertTrue(at(reverse, "jfabric://alpha/slow  ") < at(reverse, "jfabric://alpha/middle"), reverse::toString);

        List<String> byState = frame(BY_SENT.sortedBy(TopColumn.STATE), 120);
        assertTrue(at(byState, "jfabric://alpha/slow  ") < at(byState, "jfabric://alpha/fast"), byState::toString);
        assertTrue(at(byState, "jfabric://alpha/fast") < at(byState, "jfabric://alpha/middle"), byState::toString);
    }

    @Test
    void shouldCutWhatAllAddressesHaveFirst() {
        TopColumn.Row row = new TopColumn.Row("fi_sockaddr_in://192.0.2.117:40001", "quotes", QueueState.IDLE,
            new Meters(Map.of(), Map.of()), 0);
        assertTrue(TopColumn.line(TopColumn.fitting(80), 80, row).startsWith("192.0.2.117:40001 "));
        TopColumn.Row peer = new TopColumn.Row("  > jfabric://alpha/the-orders-of-today", "shm", QueueState.IDLE,
            new Meters(Map.of(), Map.of()), 0);
        assertTrue(TopColumn.line(TopColumn.fitting(80), 80, peer).startsWith("  > alpha/t"));
    }

    @ParameterizedTest
    @EnumSource(TopColumn.class)
    void shouldKnowEachColumnByItsWord(TopColumn column) {
        assertEquals(column, TopColumn.of(column.word()));
        assertEquals(3 + 3 + 2 + 8, frame(BY_SENT.sortedBy(column), 200).stream()
            .filter(line -> line.startsWith("jfabric://") || line.startsWith("  > ") || line.startsWith("alpha ")
                || line.startsWith("beta ") || line.startsWith("gamma")).count() - 1);
    }

    @Test
    void shouldShowOnlyWhatContainsTheFilterAndNoPeersIfNotWanted() {
        List<String> byPeer = frame(BY_SENT.filteredBy("BETA/b"), 120);
        at(byPeer, "jfabric://alpha/slow  ");
        assertFalse(byPeer.stream().anyMatch(line -> line.startsWith("jfabric://alpha/fast")), byPeer::toString);
        List<String> none = frame(BY_SENT.filteredBy("nowhere"), 120);
        assertEquals("no endpoint contains \"nowhere\"", none.getLast());
        List<String> alone = frame(BY_SENT.withOrWithoutPeers(), 120);
        assertFalse(alone.stream().anyMatch(line -> line.startsWith("  > ")), alone::toString);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 23, 40, 60, 80, 120, 200})
    void shouldFitIntoTheWidth(int width) {
        if (width >= 80) {
            assertTrue(frame(BY_SENT, width).stream().anyMatch(line -> line.contains(" quotes ")));
        }
        for (String line : frame(BY_SENT, width)) {
            assertTrue(line.length() <= width, () -> width + ": " + line);
        }
    }
}
