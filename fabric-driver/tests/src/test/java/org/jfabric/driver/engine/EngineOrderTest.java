package org.jfabric.driver.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jfabric.driver.link.scripted.Script;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Test;

/** Message order over a link that delays, fragments and refuses frames, and failures that it reports. */
class EngineOrderTest {
    private static final int SEEDS = 300;
    private static final int COUNT = 24;
    private static final int SLOT = 4096;
    private static final int MAX_LENGTH = 4000;

    /**
     * Two senders and two kinds of messages; the n-th receive of a kind takes the n-th message that came, so the order
     * of matching is that of sending.
     */
    @Test
    @Requirement({"TX-010", "RX-008", "RX-009"})
    void shouldProcessHeadersInTheOrderOfSubmissionAndReportThemInThatOrderWhateverTheLinkDoes() {
        long first = System.nanoTime();
        for (int i = 0; i < SEEDS; i++) {
            run(first + i);
        }
    }

    private static void run(long seed) {
        Script script = new Script(seed).randomize();
        script.maxDelaySteps = script.random().nextInt(8);
        Engines rig = new Engines(script);
        rig.eagerLimitBytes = 64 << script.random().nextInt(6);
        int window = 2048 << script.random().nextInt(4);
        rig.strict = script.random().nextBoolean();
        rig.settings = new EngineSettings(
            2 * window, window, 1 + script.random().nextInt(4), 4);
        Engines.Node receiver = rig.add("receiver");
        Engines.Node[] senders = {rig.add("a"), rig.add("b")};
        Random random = script.random();
        int posted = 0;
        int[] sent = new int[2];
        long[][] reported = {new long[COUNT], new long[COUNT]};
        int[][] lengths = new int[2][COUNT];
        List<CompletionReader.Entry> entries = new ArrayList<>();
        int total = 2 * COUNT;
        for (int step = 0; entries.size() < total; step++) {
            assertTrue(step < 100_000, () -> entries.size() + " messages came, seed " + seed);
            if (posted < total && random.nextInt(3) == 0) {
                // one kind for each sender, so that both orders can be told from the entries
                long flags = posted % 2 == 0 ? Engines.TAGGED : Engines.MSG;
                if (receiver.receive(flags, receiver.buf((long) posted * SLOT), SLOT, -1, 0, -1L, posted) == 0) {
                    posted++;
                }
            }
            int which = random.nextInt(2);
            if (sent[which] < COUNT && random.nextInt(2) == 0) {
                int length = random.nextInt(MAX_LENGTH);
                lengths[which][sent[which]] = length;
                sent[which] += send(senders[which], receiver, which, sent[which], length);
            }
            rig.step();
            entries.addAll(receiver.completions.takeAll());
        }
        for (CompletionReader.Entry entry : entries) {
            assertEquals(0, entry.errno(), () -> entry + ", seed " + seed);
            // contexts count receives of both kinds in turn
            assertEquals(entry.context() / 2, number(entry), () -> entry + ", seed " + seed);
        }
        for (int place = 0; place < total; place++) {
            CompletionReader.Entry entry = entries.get(place);
            reported[(int) entry.context() % 2][(int) number(entry)] = place;
        }
        long limit = rig.strict ? Long.MAX_VALUE : rig.eagerLimitBytes;
        assertNoneOvertakes(reported[0], lengths[0], limit, seed);
        assertNoneOvertakes(reported[1], lengths[1], limit, seed);
        rig.settle();
        if (rig.strict) {
            for (Engines.Node sender : senders) {
                List<CompletionReader.Entry> sends = sender.completions.takeAll();
                for (int i = 0; i < COUNT; i++) {
                    assertEquals(i, sends.get(i).context(), () -> "entries of sends " + sends + ", seed " + seed);
                }
            }
        }
        rig.close();
    }

    /** No entry comes before that of an earlier message that is not longer than the limit. */
    private static void assertNoneOvertakes(long[] places, int[] lengths, long limit, long seed) {
        long last = -1;
        for (int i = 0; i < COUNT; i++) {
            int number = i;
            long before = last;
            assertTrue(places[i] > last, () -> "message " + number + " of " + lengths[number] + " bytes, limit " + limit
                + ", came at place " + places[number] + ", an earlier one at " + before + ", seed " + seed);
            if (lengths[i] <= limit) {
                last = places[i];
            }
        }
    }

    /** Tagged messages without data are plain ones, which may take the short path. */
    private static int send(Engines.Node sender, Engines.Node receiver, int which, int number, int length) {
        long flags = which == 0 ? Engines.TAGGED | (number % 4 == 0 ? Flags.REMOTE_CQ_DATA : 0)
            : Engines.MSG | Flags.REMOTE_CQ_DATA;
        return sender.send(flags, sender.buf(0), length, sender.fiAddr(receiver), number * 31L, number, number) == 0
            ? 1 : 0;
    }

    /** Which message of its sender an entry is of. */
    private static long number(CompletionReader.Entry entry) {
        return (entry.flags() & Flags.TAGGED) != 0 ? entry.tag() / 31 : entry.data();
    }

    /** Whatever code a link reports goes through to the entries; this one says nothing else. */
    @Test
    @Requirement("TAG-073")
    void shouldReportAnUnspecifiedErrorOfTheLink() {
        assertEquals(256, FabricErrno.EOTHER);
        assertEquals("FI_EOTHER", FabricErrno.name(FabricErrno.EOTHER));
        Script script = new Script(1);
        Engines rig = new Engines(script);
        Engines.Node a = rig.add("a");
        Engines.Node b = rig.add("b");
        a.tsend(b, 0, 8, 1, 1);
        b.trecv(0, 8, 1, 2);
        assertEquals(0, a.next().errno());
        assertEquals(0, b.next().errno());
        a.tsend(b, 0, 100_000, 2, 3);
        rig.steps(5);
        a.assertNoEntry();
        a.channel(b).kill(FabricErrno.EOTHER);
        CompletionReader.Entry entry = a.next();
        assertEquals(FabricErrno.EOTHER, entry.errno());
        assertEquals(3, entry.context());
        rig.close();
    }
}
