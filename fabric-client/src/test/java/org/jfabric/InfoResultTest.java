package org.jfabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Info;
import org.jfabric.info.InfoResult;
import org.jfabric.info.Reason;
import org.jfabric.info.Verdict;
import org.junit.jupiter.api.Test;

class InfoResultTest {
    private static final Reason NO_SPACE =
        new Reason("/dev/shm space", "3 MiB", "20 MiB", "Free space or ask for smaller queues.");
    private static final Verdict REJECTED = new Verdict("shm", false, 0, List.of(NO_SPACE));
    private static final Verdict CHOSEN =
        new Verdict("loopback", true, 90, List.of(new Reason("caps", "TAGGED", "TAGGED", "")));

    @Test
    void shouldReturnTheFirstMatchAsTheBest() {
        Info first = new Info().linkName("loopback");
        InfoResult result = new InfoResult(List.of(first, new Info().linkName("tcp")), List.of(CHOSEN, REJECTED));
        assertSame(first, result.best());
    }

    @Test
    void shouldExplainEveryCandidateInALineOfItsOwn() {
        String text = new InfoResult(List.of(new Info()), List.of(CHOSEN, REJECTED)).explain();
        assertEquals(List.of(
            "  loopback: chosen, score 90; caps: seen TAGGED, needed TAGGED.",
            "  shm: rejected; /dev/shm space: seen 3 MiB, needed 20 MiB. Free space or ask for smaller queues."),
            text.lines().toList());
        assertEquals(1, new InfoResult(List.of(), List.of()).explain().lines().count());
    }

    @Test
    void shouldRefuseWithAllVerdictsWhenNothingMatched() {
        FabricException refused =
            assertThrows(FabricException.class, () -> new InfoResult(List.of(), List.of(REJECTED)).best());
        assertEquals(FabricErrno.ENODATA, refused.errno());
        assertTrue(refused.getMessage().contains(REJECTED.toString()), refused.getMessage());
    }

    @Test
    void shouldNotFollowLaterChangesOfTheListsGiven() {
        List<Reason> reasons = new ArrayList<>(List.of(NO_SPACE));
        Verdict verdict = new Verdict("shm", false, 0, reasons);
        List<Verdict> verdicts = new ArrayList<>(List.of(verdict));
        List<Info> matches = new ArrayList<>();
        InfoResult result = new InfoResult(matches, verdicts);
        reasons.clear();
        verdicts.clear();
        matches.add(new Info());
        assertEquals(List.of(NO_SPACE), verdict.reasons());
        assertEquals(List.of(verdict), result.verdicts());
        assertEquals(List.of(), result.matches());
        assertThrows(UnsupportedOperationException.class, () -> result.verdicts().add(verdict));
    }

    @Test
    void shouldRefuseMissingParts() {
        assertThrows(FabricException.class, () -> new Reason("caps", null, "TAGGED", ""));
        assertThrows(FabricException.class, () -> new Verdict(null, true, 1, List.of()));
        assertThrows(FabricException.class, () -> new InfoResult(null, List.of()));
    }
}
