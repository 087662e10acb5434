package org.jfabric.driver.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.agrona.UnsafeApi;
import org.jfabric.driver.link.scripted.Script;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Peeks and claims in the states that only a scripted link reaches, and what they hold. */
class EnginePeekTest {
    private static final long PEEK = Flags.TAGGED | Flags.PEEK;
    private static final long CLAIM = Flags.TAGGED | Flags.CLAIM | Flags.COMPLETION;
    private static final int PLACE = 1 << 18;

    private final Script script = new Script(11);
    private final Engines rig = new Engines(script);
    private Engines.Node a;
    private Engines.Node b;

    /** Where the payload of a message is when somebody looks at it. */
    private enum Payload {
        STORED(500, 0), STREAMING(900, 100), ANNOUNCED(5000, 0);

        final int length;
        final int streamPercent;

        Payload(int length, int streamPercent) {
            this.length = length;
            this.streamPercent = streamPercent;
        }
    }

    private void open() {
        a = rig.add("a");
        b = rig.add("b");
    }

    @AfterEach
    void close() {
        rig.close();
    }

    @ParameterizedTest
    @EnumSource
    void shouldTellTheWholeLengthWhereverThePayloadIs(Payload payload) {
        CompletionReader.Entry peeked = arrive(payload, 1, PEEK);
        assertEquals(payload.length, peeked.length());
        assertEquals(0, peeked.buf());
        b.trecv(PLACE, 8000, 1, 2);
        assertEquals(payload.length, b.next().length());
        b.assertFilled(PLACE, payload.length, 1);
        rest();
    }

    @ParameterizedTest
    @EnumSource
    void shouldCopyWhatIsHereIntoTheBufferOfAPeek(Payload payload) {
        arrive(payload, 1, PEEK);
        for (int room : new int[] {8000, payload.length, 100, 1}) {
            clear();
            assertEquals(0, b.receive(PEEK, b.buf(PLACE), room, -1, 1, 0, 3));
            CompletionReader.Entry peeked = b.next();
            assertEquals(payload.length, peeked.length());
            boolean isHere = payload == Payload.STORED;
            int copied = isHere ? Math.min(room, payload.length) : 0;
            assertEquals(isHere ? b.buf(PLACE) : 0, peeked.buf());
            b.assertFilled(PLACE, copied, 1);
            assertEquals(0, UnsafeApi.getByte(b.memory + PLACE + copied));
        }
        b.trecv(PLACE, 8000, 1, 2);
        assertEquals(0, b.next().errno());
        b.assertFilled(PLACE, payload.length, 1);
        rest();
    }

    private void clear() {
        UnsafeApi.setMemory(b.memory + PLACE, 8000, (byte) 0);
    }

    @ParameterizedTest
    @EnumSource
    void shouldGiveEverythingBackWhenItIsDiscarded(Payload payload) {
        CompletionReader.Entry dropped = arrive(payload, 1, PEEK | Flags.DISCARD);
        assertEquals(payload.length, dropped.length());
        assertEquals(0, b.endpoint.receiver().unexpectedMessages());
        rest();
    }

    @ParameterizedTest
    @EnumSource
    void shouldGiveEverythingBackWhenAClaimIsDiscarded(Payload payload) {
        arrive(payload, 1, PEEK | Flags.CLAIM);
        assertEquals(0, b.receive(CLAIM | Flags.DISCARD, 0, -1, -1, 0, 0, 1));
        assertEquals(payload.length, b.next().length());
        rest();
    }

    @ParameterizedTest
    @EnumSource
    void shouldPlaceAClaimedMessageWhenItIsWhole(Payload payload) {
        arrive(payload, 1, PEEK | Flags.CLAIM);
        assertEquals(0, b.receive(CLAIM, b.buf(PLACE), 8000, -1, 0, 0, 1));
        CompletionReader.Entry fetched = b.next();
        assertEquals(0, fetched.errno());
        assertEquals(payload.length, fetched.length());
        b.assertFilled(PLACE, payload.length, 1);
        rest();
    }

    @ParameterizedTest
    @EnumSource
    void shouldTellWhoClaimedItWhenTheRestOfAMessageIsLost(Payload payload) {
        for (boolean discard : new boolean[] {false, true}) {
            arrive(payload, 1, PEEK | Flags.CLAIM);
            b.channel(a).kill(FabricErrno.ECONNRESET);
            rig.settle();
            assertEquals(0, b.receive(discard ? CLAIM | Flags.DISCARD : CLAIM, b.buf(PLACE), 8000, -1, 0, 0, 1));
            CompletionReader.Entry entry = b.next();
            assertEquals(discard || payload == Payload.STORED ? 0 : FabricErrno.ECONNRESET, entry.errno());
            assertEquals(1, entry.tag());
            assertEquals(0, b.receive(CLAIM, b.buf(PLACE), 8000, -1, 0, 0, 1));
            assertEquals(FabricErrno.EINVAL, b.next().errno());
            rest();
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldEndADiscardOnceWhenTheSenderGoesMeanwhile(Payload payload) {
        arrive(payload, 1, PEEK | Flags.DISCARD);
        if (b.channel(a) != null) {
            b.channel(a).kill(FabricErrno.ECONNRESET);
        }
        rig.settle();
        b.assertNoEntry();
        rest();
    }

    @ParameterizedTest
    @EnumSource
    void shouldGiveEverythingBackWhenTheEndpointCloses(Payload payload) {
        arrive(payload, 1, PEEK | Flags.CLAIM);
        rig.steps(1);
        a.engine.closeSession(a.session);
        rig.settle();
        b.engine.closeSession(b.session);
        assertEquals(0, b.region.useCount());
        assertEquals(b.posted, b.completions.taken() + b.completions.retired());
    }

    @Test
    void shouldClaimAsManyMessagesAsReceivesMayBeOutstanding() {
        rig.rxSize = 4;
        open();
        for (int i = 0; i < 6; i++) {
            a.tsend(b, 0, 8, i, 1);
        }
        rig.settle();
        for (int i = 0; i < 5; i++) {
            assertEquals(0, b.receive(PEEK | Flags.CLAIM, 0, 0, -1, i, 0, 100 + i));
            assertEquals(i < 4 ? 0 : FabricErrno.ENOSPC, b.next().errno());
        }
        assertEquals(2, b.endpoint.receiver().unexpectedMessages());
        assertEquals(0, b.receive(CLAIM | Flags.DISCARD, 0, 0, -1, 0, 0, 102));
        assertEquals(2, b.next().tag());
        for (int i = 4; i < 6; i++) {
            assertEquals(0, b.receive(PEEK | Flags.CLAIM, 0, 0, -1, i, 0, 100 + i));
            assertEquals(i < 5 ? 0 : FabricErrno.ENOSPC, b.next().errno());
        }
        for (int i : new int[] {0, 1, 3, 4}) {
            assertEquals(0, b.receive(CLAIM, b.buf(PLACE), 8, -1, 0, 0, 100 + i));
            assertEquals(i, b.next().tag());
        }
        b.trecv(PLACE, 8, 5, 9);
        assertEquals(0, b.next().errno());
        rest();
    }

    /** An attached client writes flags as it likes: each such receive ends in an entry, and nothing is touched. */
    @ParameterizedTest
    @ValueSource(longs = {Flags.DISCARD, Flags.PEEK | Flags.CLAIM | Flags.DISCARD})
    void shouldAnswerCombinationsThatMeanNothing(long flags) {
        open();
        a.tsend(b, 0, 8, 1, 1);
        rig.settle();
        assertEquals(0, b.receive(Flags.TAGGED | flags, b.buf(0), 8, -1, 1, 0, 5));
        assertEquals(FabricErrno.EINVAL, b.next().errno());
        assertEquals(0, b.receive(Flags.TAGGED | Flags.PEEK | Flags.CLAIM, b.buf(0), 8, -1, 1, 0, 0));
        assertEquals(FabricErrno.EINVAL, b.next().errno());
        assertEquals(1, b.endpoint.receiver().unexpectedMessages());
        b.trecv(PLACE, 8, 1, 9);
        assertEquals(0, b.next().errno());
        rest();
    }

    /** A message that was stored before its sender was inserted is that sender's from then on (AMB-54). */
    @ParameterizedTest
    @EnumSource
    void shouldMatchADirectedReceiveWithAMessageThatIsOlderThanItsSendersPlace(Payload payload) {
        rig.directed = true;
        open();
        send(payload, 1);
        send(payload, 2);
        assertEquals(0, b.receive(PEEK, 0, 0, -1, 1, 0, 2));
        assertEquals(-1, b.next().source());
        long source = b.fiAddr(a);
        assertEquals(0, b.receive(PEEK, 0, 0, source, 0, -1, 2));
        CompletionReader.Entry found = b.next();
        assertEquals(0, found.errno());
        assertEquals(1, found.tag());
        assertEquals(source, found.source());
        // a removed place makes them strangers' again, another one theirs
        assertEquals(0, b.addresses.remove(source));
        assertEquals(0, b.receive(Engines.TAGGED, b.buf(PLACE), 8000, source, 1, 0, 3));
        assertEquals(FabricErrno.EINVAL, b.next().errno());
        b.addresses.insert("jfabric://rig/other");
        long again = b.fiAddr(a);
        for (int tag = 1; tag <= 2; tag++) {
            assertEquals(0, b.receive(Engines.TAGGED, b.buf(PLACE), 8000, again, tag, 0, 4));
            CompletionReader.Entry received = b.next();
            assertEquals(0, received.errno());
            assertEquals(again, received.source());
            b.assertFilled(PLACE, payload.length, tag);
        }
        rest();
    }

    /** Sends a message and looks at it as soon as it has begun to come; its tag is the context. */
    private CompletionReader.Entry arrive(Payload payload, int tag, long flags) {
        if (a == null) {
            open();
        }
        send(payload, tag);
        assertEquals(0, b.receive(flags, 0, 0, -1, tag, 0, tag));
        CompletionReader.Entry entry = b.completions.take();
        assertEquals(0, entry.errno(), entry::toString);
        return entry;
    }

    private void send(Payload payload, int tag) {
        script.streamPercent = payload.streamPercent;
        a.fill(tag * 8192, payload.length, tag);
        int before = b.endpoint.receiver().unexpectedMessages();
        a.tsend(b, tag * 8192, payload.length, tag, tag);
        for (int i = 0; i < 1000 && b.endpoint.receiver().unexpectedMessages() == before; i++) {
            rig.step();
        }
        assertEquals(before + 1, b.endpoint.receiver().unexpectedMessages());
    }

    private void rest() {
        rig.settle();
        a.assertAtRest();
        b.assertAtRest();
        assertEquals(0, b.errors.size() + a.errors.size());
    }
}
