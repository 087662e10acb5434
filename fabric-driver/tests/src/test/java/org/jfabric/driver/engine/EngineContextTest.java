package org.jfabric.driver.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.jfabric.driver.link.scripted.Script;
import org.jfabric.info.FabricErrno;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Peers that are contexts of one scalable endpoint, and have one source. */
class EngineContextTest {
    private final Engines rig = new Engines(new Script(3));
    private Engines.Node receiver;
    private Engines.Node stranger;
    private Engines.Node first;
    private Engines.Node second;
    private long source;

    @BeforeEach
    void open() {
        rig.directed = true;
        receiver = rig.add("b");
        stranger = rig.add("s");
        Engines.Node other = rig.add("c");
        first = rig.add("a");
        second = rig.add("a#tx1");
        receiver.fiAddr(other);
        source = receiver.fiAddr(first);
        for (Engines.Node node : rig.nodes) {
            if (node != receiver) {
                arrive(node);
            }
        }
        // its place is empty from now on
        receiver.channel(stranger).kill(FabricErrno.ECONNRESET);
        rig.settle();
        assertNull(receiver.endpoint.peers().at(0));
        assertEquals(source, receiver.peer(second).peer().source());
    }

    @AfterEach
    void close() {
        rig.close();
    }

    private void arrive(Engines.Node node) {
        node.tsend(receiver, 0, 8, 1, 1);
        receiver.trecv(0, 8, 1, 1);
        assertEquals(0, receiver.next().errno());
        rig.settle();
    }

    private void lose(Engines.Node node) {
        receiver.channel(node).kill(FabricErrno.ECONNRESET);
        rig.settle();
    }

    private void receive(long from, long context) {
        assertEquals(0, receiver.receive(Engines.TAGGED, receiver.buf(0), 8, from, 2, 0, context));
    }

    @Test
    void shouldKeepADirectedReceiveWhileOneContextOfItsSourceIsThere() {
        receive(source, 5);
        lose(first);
        receiver.assertNoEntry();
        second.tsend(receiver, 0, 8, 2, 1);
        assertEquals(0, receiver.next().errno());
        receive(source, 6);
        lose(second);
        CompletionReader.Entry ended = receiver.next();
        assertEquals(6, ended.context());
        assertEquals(FabricErrno.ECONNRESET, ended.errno());
        receiver.assertNoEntry();
    }

    @Test
    void shouldKeepItWhenTheOtherContextIsTheOneThatIsLost() {
        receive(source, 5);
        lose(second);
        receiver.assertNoEntry();
        first.tsend(receiver, 0, 8, 2, 1);
        assertEquals(5, receiver.next().context());
    }
}
