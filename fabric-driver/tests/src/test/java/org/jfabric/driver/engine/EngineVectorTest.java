package org.jfabric.driver.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.jfabric.client.WorkRequest;
import org.jfabric.driver.kit.Requests;
import org.jfabric.driver.link.scripted.Script;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Operations of several pieces, step by step: what holds which region, and every way of receiving. */
class EngineVectorTest {
    private static final int EAGER = 1024;
    private static final int RECEIVE = 1 << 18;

    private final Script script = new Script(3);
    private final Engines rig = new Engines(script);
    private Engines.Node a;
    private Engines.Node b;

    private void start() {
        rig.eagerLimitBytes = EAGER;
        a = rig.add("a");
        b = rig.add("b");
        a.fiAddr(b);
        // connects
        assertEquals(0, a.tsend(b, 0, 0, 1, 1));
        assertEquals(0, b.trecv(0, 0, 1, 1));
        rig.settle();
        a.completions.takeAll();
        b.completions.takeAll();
    }

    @AfterEach
    void stop() {
        rig.close();
    }

    private int send(ScatteredPieces pieces, int seed) {
        pieces.fill(a, seed);
        return a.sendVector(Engines.TAGGED, pieces, a.fiAddr(b), 7, 0, 70);
    }

    private int receive(ScatteredPieces pieces) {
        return b.receiveVector(Engines.TAGGED, pieces, -1, 7, 0, 71);
    }

    @Test
    void shouldHoldEachRegionOfASendUntilThePayloadIsTaken() {
        start();
        assertEquals(0, send(ScatteredPieces.of(0, 1000, 2000, 0, 3000), 1));
        rig.settle();
        assertEquals(1, a.region.useCount());
        assertEquals(2, a.twin.useCount());
        a.session.regions().close(a.twinIndex);
        a.session.regions().close(a.regionIndex);
        rig.settle();
        assertEquals(0, a.regionReleases + a.twinReleases);
        ScatteredPieces dest = ScatteredPieces.of(RECEIVE, 5999, 1);
        assertEquals(0, receive(dest));
        assertEquals(0, b.next().errno());
        dest.assertFilled(b, 6000, 1);
        rig.settle();
        assertEquals(0, a.next().errno());
        assertEquals(1, a.regionReleases);
        assertEquals(1, a.twinReleases);
        a.assertAtRest();
        b.assertAtRest();
    }

    @Test
    void shouldHoldEachRegionOfAReceiveUntilItEnds() {
        start();
        assertEquals(0, receive(ScatteredPieces.of(RECEIVE, 10, 20, 30, 40)));
        assertEquals(2, b.region.useCount());
        assertEquals(2, b.twin.useCount());
        b.endpoint.cancel(71);
        assertEquals(FabricErrno.ECANCELED, b.next().errno());
        assertEquals(0, b.region.useCount());
        assertEquals(0, b.twin.useCount());
        assertEquals(0, receive(ScatteredPieces.of(RECEIVE, 10, 20)));
        b.engine.closeSession(b.session);
        assertEquals(0, b.region.useCount());
        assertEquals(0, b.twin.useCount());
    }

    @Test
    void shouldHoldNothingOfAnOperationWithAPieceThatIsNotRegistered() {
        start();
        for (int bad = 0; bad < 4; bad++) {
            for (boolean isLength : new boolean[] {false, true}) {
                long[] pieces = ScatteredPieces.of(0, 10, 20, 30, 40).requests(a);
                pieces[2 * bad + (isLength ? 1 : 0)] = isLength ? Long.MAX_VALUE : 0x7777L << 48;
                a.endpoint.post(Requests.message(
                    WorkRequest.SEND, Engines.TAGGED, pieces, a.fiAddr(b), 7, 0, 5));
                a.posted++;
                assertEquals(FabricErrno.EFAULT, a.next().errno());
                a.endpoint.post(Requests.message(WorkRequest.RECEIVE, Engines.TAGGED, pieces, -1, 7, 0, 6));
                a.posted++;
                assertEquals(FabricErrno.EFAULT, a.next().errno());
                assertEquals(0, a.region.useCount());
                assertEquals(0, a.twin.useCount());
            }
        }
        a.assertAtRest();
    }

    /** Each way that bytes come: whole, streamed, stored, by pull, by a slow pull, by segments. */
    @ParameterizedTest
    @ValueSource(strings = {"whole", "streamed", "pulled", "slowly pulled", "segments", "pieces without a file"})
    void shouldPlaceTruncateAndStoreInEveryWay(String way) {
        script.streamPercent = way.equals("streamed") ? 100 : 0;
        script.pullDonePercent = way.equals("pulled") || way.equals("pieces without a file") ? 100 : 0;
        script.pullPendingPercent = way.equals("slowly pulled") ? 100 : 0;
        script.vectors = !way.equals("pieces without a file");
        start();
        int length = way.equals("whole") || way.equals("streamed") ? EAGER : 20_000;
        int seed = 0;
        for (boolean isPosted : new boolean[] {true, false}) {
            for (int room : new int[] {length, length - 1, length / 2, 1, 0, length + 100}) {
                ScatteredPieces source = ScatteredPieces.of(0, length / 3, 1, length - length / 3 - 2, 1);
                ScatteredPieces dest = ScatteredPieces.of(RECEIVE, room / 2, room - room / 2);
                if (isPosted) {
                    assertEquals(0, receive(dest));
                }
                assertEquals(0, send(source, ++seed));
                if (!isPosted) {
                    rig.settle();
                    assertEquals(0, receive(dest));
                }
                CompletionReader.Entry entry = b.next();
                int placed = Math.min(room, length);
                assertEquals(placed, entry.length());
                assertEquals(room < length ? FabricErrno.ETRUNC : 0, entry.errno());
                assertEquals(length - placed, entry.olen());
                dest.assertFilled(b, placed, seed);
                assertEquals(0, a.next().errno());
            }
        }
        assertEquals(way.equals("whole") || way.equals("streamed"), script.announcements == 0);
        rig.settle();
        a.assertAtRest();
        b.assertAtRest();
    }

    @Test
    void shouldRefuseAMessageThatIsTooLong() {
        start();
        // each of the pieces is inside of its region, all of them together are longer than a message may be
        long[] pieces = {a.buf(0), Engines.MEMORY, a.twinBuf(0), 1};
        a.endpoint.post(Requests.message(WorkRequest.SEND, Engines.TAGGED, pieces, a.fiAddr(b), 7, 0, 5));
        a.posted++;
        assertEquals(FabricErrno.EINVAL, a.next().errno());
        a.assertAtRest();
    }

    @Test
    void shouldFailEveryPieceWithItsPeer() {
        start();
        script.pullPendingPercent = 100;
        script.maxDelaySteps = 1000;
        assertEquals(0, receive(ScatteredPieces.of(RECEIVE, 5000, 5000)));
        assertEquals(0, send(ScatteredPieces.of(0, 4000, 4000), 1));
        rig.steps(2);
        a.channel(b).kill(FabricErrno.ECONNRESET);
        assertEquals(FabricErrno.ECONNRESET, a.next().errno());
        rig.settle();
        b.endpoint.cancel(71);
        assertTrue(b.next().errno() != 0);
        a.assertAtRest();
        b.assertAtRest();
    }

    /** Whatever a client writes: parts of such a buffer lie one behind the other. */
    @Test
    void shouldRefuseABufferOfManyMessagesInSeveralPieces() {
        rig.caps |= Flags.MULTI_RECV;
        start();
        long flags = Flags.MSG | Flags.COMPLETION | Flags.MULTI_RECV;
        assertEquals(0, b.receiveVector(flags, ScatteredPieces.of(RECEIVE, 100, 100), -1, 0, 8, 5));
        assertEquals(FabricErrno.EBADFLAGS, b.next().errno());
        assertEquals(0, b.region.useCount() + b.twin.useCount());
        b.assertAtRest();
    }

    @Test
    void shouldSendNoPiecesAsAnEmptyMessage() {
        start();
        long flags = Engines.TAGGED | Flags.REMOTE_CQ_DATA;
        assertEquals(0, receive(ScatteredPieces.of(RECEIVE, 0, 0)));
        assertEquals(0, a.sendVector(flags, ScatteredPieces.of(0), a.fiAddr(b), 7, 9, 70));
        CompletionReader.Entry entry = b.next();
        assertEquals(0, entry.length());
        assertEquals(9, entry.data());
        assertEquals(0, a.next().errno());
        a.assertAtRest();
        b.assertAtRest();
    }
}
