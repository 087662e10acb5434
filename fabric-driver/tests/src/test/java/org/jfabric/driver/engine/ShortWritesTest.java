package org.jfabric.driver.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.stream.LongStream;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** When the answers to short writes are sent: held back for one poll, and never lost. */
class ShortWritesTest {
    private static final long KEY = 0xABC;

    private final RemoteRig rig = new RemoteRig(true, 0, false, 64);
    private RemoteRig.Node initiator;
    private RemoteRig.Node target;
    private RemoteRig.Exposed region;
    private long toTarget;

    @BeforeEach
    void start() {
        initiator = rig.add("i");
        target = rig.add("t");
        region = target.expose(KEY, RemoteRig.MEMORY);
        toTarget = initiator.to(target);
        // the first answer says that the target reports no accesses
        write(KEY, 1);
        for (int i = 0; i < 1000 && initiator.endpoint.outstandingSends() != 0; i++) {
            rig.steps(1);
        }
        assertEquals(List.of(1L), ended());
        rig.steps(10);
    }

    @AfterEach
    void close() {
        rig.close();
    }

    private void write(long key, long context) {
        assertEquals(0, initiator.access(Flags.WRITE, 0, 8, toTarget, 0, key, 0, context));
    }

    private List<Long> ended() {
        return initiator.completions.takeAll().stream().map(CompletionReader.Entry::context).toList();
    }

    private void stepInitiator() {
        for (int i = 0; i < 10; i++) {
            rig.step(initiator);
        }
    }

    @Test
    void shouldAnswerInThePollBehindTheOneThatPlacesTheBytes() {
        initiator.write(0, 0x77);
        write(KEY, 2);
        target.driver.engine.poll(16);
        assertEquals(0x77, region.bytes(0, 1)[0]);
        stepInitiator();
        assertEquals(List.of(), ended());
        target.driver.engine.poll(16);
        stepInitiator();
        assertEquals(List.of(2L), ended());
    }

    @Test
    void shouldAnswerWhatIsPlacedWhenTheEndpointCloses() {
        write(KEY, 2);
        target.driver.engine.poll(16);
        assertEquals(1, initiator.endpoint.outstandingSends());
        target.driver.engine.removeEndpoint(target.endpoint);
        stepInitiator();
        List<CompletionReader.Entry> entries = initiator.completions.takeAll();
        assertEquals(1, entries.size());
        assertEquals(0, entries.getFirst().errno());
    }

    /** The refusal must not overtake the answer to the write before, or entries would change places. */
    @Test
    void shouldAnswerInTheOrderOfTheWritesIfOneIsRefused() {
        write(KEY, 2);
        write(KEY + 1, 3);
        write(KEY, 4);
        // all of them before anything is answered
        for (int i = 0; i < 5; i++) {
            target.driver.link.poll(16);
        }
        rig.steps(10);
        List<CompletionReader.Entry> entries = initiator.completions.takeAll();
        assertEquals(List.of(2L, 3L, 4L), entries.stream().map(CompletionReader.Entry::context).toList());
        assertEquals(List.of(0, FabricErrno.EKEYREJECTED, 0),
            entries.stream().map(CompletionReader.Entry::errno).toList());
    }

    @Test
    void shouldEndEachOfMoreWritesThanAreAnsweredAtOnce() {
        for (int round = 0; round < 10; round++) {
            for (long context = 2; context < 18; context++) {
                write(KEY, context);
            }
            rig.steps(round);
            for (int i = 0; i < 100 && initiator.endpoint.outstandingSends() != 0; i++) {
                rig.steps(1);
            }
            assertEquals(LongStream.range(2, 18).boxed().toList(), ended());
        }
    }
}
