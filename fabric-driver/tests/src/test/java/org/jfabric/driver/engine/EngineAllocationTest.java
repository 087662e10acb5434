package org.jfabric.driver.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.jfabric.driver.link.scripted.Script;
import org.jfabric.info.Flags;
import org.jfabric.test.AllocatedBytes;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class EngineAllocationTest {
    private static final int ROUNDS = 2000;

    private final Script script = new Script(4);
    private final Engines rig = new Engines(script);
    private final Engines.Node a = rig.add("a");
    private long flags;
    private final Engines.Node b = rig.add("b");

    @ParameterizedTest
    @CsvSource({"64, 0, true, 0", "1000, 0, false, 0", "200, 100, true, 0", "5000, 0, true, 0",
        "64, 0, true, 0x10000000", "64, 0, false, 0x80000000", "5000, 0, true, 0x80000000",
        "64, 0, true, 0x80200000", "64, 0, false, 0x10200000"})
    void shouldAllocateNothingWhenMessagesGoBackAndForth(
        int length, int streamPercent, boolean expected, long levelAndFence) {
        script.streamPercent = streamPercent;
        flags = Engines.TAGGED | levelAndFence;
        long toB = a.fiAddr(b);
        long toA = b.fiAddr(a);
        for (int i = 0; i < 10; i++) {
            pingPong(length, expected, toA, toB);
        }
        // A compiled method replacing an interpreted one in the middle may charge a few bytes to the first attempts.
        assertEquals(0, AllocatedBytes.least(() -> pingPong(length, expected, toA, toB)),
            "bytes allocated by " + ROUNDS + " messages each way");
        rig.close();
    }

    /** Messages of every length are looked at, claimed, fetched and discarded; and looked for where there are none. */
    @ParameterizedTest
    @ValueSource(ints = {64, 5000})
    void shouldAllocateNothingWhenMessagesArePeekedClaimedAndDiscarded(int length) {
        long toB = a.fiAddr(b);
        for (int i = 0; i < 5; i++) {
            looks(length, toB);
        }
        assertEquals(0, AllocatedBytes.least(() -> looks(length, toB)), "bytes allocated by " + ROUNDS + " rounds");
        rig.close();
    }

    private void looks(int length, long toB) {
        for (int i = 0; i < ROUNDS; i++) {
            for (int tag = 0; tag < 3; tag++) {
                assertEquals(0, a.endpoint.send(Engines.TAGGED, a.buf(0), length, toB, tag, 0, 1));
            }
            while (b.endpoint.receiver().unexpectedMessages() != 3) {
                poll();
            }
            look(Flags.PEEK, 9, 100);
            look(Flags.PEEK, 0, 100);
            look(Flags.PEEK | Flags.DISCARD, 0, 100);
            look(Flags.PEEK | Flags.CLAIM, 1, 1000 + i);
            look(Flags.PEEK | Flags.CLAIM, 2, 5_000_000 + i);
            look(Flags.CLAIM | Flags.DISCARD, 0, 1000 + i);
            look(Flags.CLAIM | Flags.COMPLETION, 0, 5_000_000 + i);
            for (int tag = 0; tag < 3; tag++) {
                take(a);
            }
        }
    }

    private void look(long flags, long tag, long context) {
        int length = (flags & Flags.DISCARD) == 0 ? 64 : 0;
        assertEquals(0, b.endpoint.receive(Flags.TAGGED | flags, b.buf(0), length, -1, tag, 0, context));
        take(b);
    }

    private void pingPong(int length, boolean expected, long toA, long toB) {
        for (int i = 0; i < ROUNDS; i++) {
            transfer(a, b, toB, length, expected);
            transfer(b, a, toA, length, expected);
        }
    }

    private void transfer(Engines.Node from, Engines.Node to, long destination, int length, boolean expected) {
        if (expected) {
            assertEquals(0, to.endpoint.receive(Engines.TAGGED, to.buf(0), length, -1, 7, 0, 2));
        }
        assertEquals(0, from.endpoint.send(flags, from.buf(0), length, destination, 7, 0, 1));
        assertEquals(0, from.endpoint.inject(Flags.TAGGED, from.memory, 8, destination, 8, 0, 0));
        if (!expected) {
            for (int i = 0; i < 3; i++) {
                poll();
            }
            assertEquals(0, to.endpoint.receive(Engines.TAGGED, to.buf(0), length, -1, 7, 0, 2));
        }
        assertEquals(0, to.endpoint.receive(Engines.TAGGED, to.buf(0), 8, -1, 8, 0, 3));
        take(to);
        take(to);
        take(from);
    }

    private void take(Engines.Node node) {
        boolean taken = node.completions.skip();
        for (int i = 0; i < 1000 && !taken; i++) {
            poll();
            taken = node.completions.skip();
        }
        assertTrue(taken);
    }

    private void poll() {
        script.nextStep();
        a.engine.poll(16);
        b.engine.poll(16);
    }
}
