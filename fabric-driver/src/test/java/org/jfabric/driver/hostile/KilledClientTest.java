package org.jfabric.driver.hostile;

import org.jfabric.driver.kit.FabricNode;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

import java.util.SplittableRandom;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Clients that die: everything of theirs is given back at once, their peers see error entries, others nothing. */
@Tag("hostile")
@Timeout(120)
class KilledClientTest {
    @RegisterExtension
    static final Rig RIG = new Rig();

    @Test
    void shouldReclaimAClientThatDiedBetweenClaimAndCommit() {
        FabricNode peer = RIG.opened(Bystanders.node("loopback", RIG.directory()));
        for (int point = 0; point <= 4; point++) {
            try (ChildClient child = new ChildClient(
                "half", RIG.directory(), peer.endpoint.name(), Integer.toString(point))) {
                long toChild = peer.av.insert(child.await("ready"));
                // large ones wait for a receive that will never come, one only from the child does too
                assertEquals(0, peer.endpoint.tsend(peer.memory.address(0), 1 << 20, toChild, 99, 1));
                assertEquals(0, peer.endpoint.trecv(peer.memory.address(1 << 20), 64, toChild, 3, 0, 2));
                FabricNode.awaitStep(peer.domain);
                child.say("go");
                child.awaitEnd();
                int seen = 0;
                for (int i = 0; i < 2; i++) {
                    FabricNode.Entry entry = Await.value("the end of both", peer::poll);
                    assertTrue(entry.err() != 0, "point " + point + ": " + entry);
                    seen |= 1 << (int) entry.context();
                }
                assertEquals(0b110, seen, "point " + point);
            }
            peer.assertQuiet(100);
            // what it had not received is nobody's any more
            Await.until(() -> "files " + RIG.files() + ' ' + RIG.view().counters(),
                () -> RIG.files().size() == 15 && RIG.view().counter("clients") == 3);
        }
        peer.close();
        RIG.assertReclaimed();
    }

    @Test
    void shouldNotSeeAMessageWhoseClientDiedWhileItWasEncodedInPlace() {
        FabricNode peer = RIG.opened(Bystanders.node("loopback", RIG.directory()));
        for (int i = 0; i < 2; i++) {
            assertEquals(0, peer.endpoint.trecv(peer.memory.address(64L * i), 64, -1L, 5, 0, i));
        }
        try (ChildClient child = new ChildClient("claim", RIG.directory(), peer.endpoint.name())) {
            child.await("ready");
            FabricNode.Entry entry = Await.value("the message that was committed", peer::poll);
            assertEquals(0, entry.err());
            assertEquals(8, entry.len());
            child.say("go");
            child.awaitEnd();
        }
        peer.assertQuiet(200);
        RIG.bystanders().assertUnharmed();
        long died = RIG.view().counter("clients that died");
        peer.close();
        RIG.assertReclaimed();
        assertEquals(died, RIG.view().counter("clients that died"), "who closes does not die");
    }

    @Test
    void shouldReclaimAClientThatIsKilledAtAnyMoment() {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        SplittableRandom random = new SplittableRandom(seed);
        FabricNode peer = RIG.opened(Bystanders.node("loopback", RIG.directory()));
        for (int round = 0; round < 6; round++) {
            try (ChildClient child = new ChildClient(
                "burst", RIG.directory(), peer.endpoint.name(), Long.toString(random.nextLong()))) {
                long toChild = peer.av.insert(child.await("ready"));
                long deadline = System.nanoTime() + random.nextLong(300_000_000);
                long posted = 0;
                long ended = 0;
                while (System.nanoTime() - deadline < 0) {
                    int length = random.nextInt(4) == 0 ? random.nextInt(200_000) : random.nextInt(100);
                    posted += peer.endpoint.tsend(
                        peer.memory.address(0), length, toChild, random.nextInt(4), 1) == 0 ? 1 : 0;
                    posted += peer.endpoint.trecv(
                        peer.memory.address(1 << 20), 200_000, toChild, random.nextInt(4), 0, 2) == 0 ? 1 : 0;
                    while (peer.poll() != null) {
                        ended++;
                    }
                }
                long died = RIG.view().counter("clients that died");
                child.kill();
                RIG.assertLogged("client", "process " + child.process().pid() + " died");
                assertEquals(died + 1, RIG.view().counter("clients that died"));
                Await.until(() -> "the child's end, seed " + seed + ", " + RIG.view().counters(),
                    () -> RIG.view().counter("clients") == 3);
                // receives that the driver has read behind the child's end wait for its return: one cancel for each
                while (ended < posted) {
                    FabricNode.Entry entry = peer.poll();
                    if (entry == null) {
                        Await.until("room for a cancel, seed " + seed, () -> peer.endpoint.cancel(2) == 0);
                        Await.value((posted - ended) + " operations to end, seed " + seed, peer::poll);
                    }
                    ended++;
                }
                peer.assertQuiet(100);
            }
            RIG.bystanders().assertUnharmed();
        }
        peer.close();
        RIG.assertReclaimed();
    }

    @Test
    void shouldReclaimManyClientsThatAreKilledAtOnce() {
        ChildClient[] children = new ChildClient[3];
        FabricNode peer = RIG.opened(Bystanders.node("loopback", RIG.directory()));
        for (int i = 0; i < children.length; i++) {
            children[i] = RIG.opened(new ChildClient("burst", RIG.directory(), peer.endpoint.name(), "" + i));
        }
        for (ChildClient child : children) {
            child.await("ready");
        }
        for (ChildClient child : children) {
            child.process().destroyForcibly();
        }
        for (ChildClient child : children) {
            child.awaitEnd();
        }
        peer.close();
        RIG.assertReclaimed();
    }
}
