package org.jfabric.driver.hostile;

import org.jfabric.driver.kit.Effort;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestProcess;
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
    static final WatchedDriver DRIVER = new WatchedDriver();

    @Test
    void shouldReclaimAClientThatDiedBetweenClaimAndCommit() {
        FabricNode peer = DRIVER.opened(Bystanders.node("loopback", DRIVER.directory()));
        for (int point = 0; point <= 4; point++) {
            try (TestProcess child = ChildMain.start(
                "half", DRIVER.directory(), peer.endpoint.name(), Integer.toString(point))) {
                long toChild = peer.av.insert(child.hear("ready"));
                // large ones wait for a receive that will never come, one only from the child does too
                assertEquals(0, peer.endpoint.tsend(peer.memory.address(0), 1 << 20, toChild, 99, 1));
                assertEquals(0, peer.endpoint.trecv(peer.memory.address(1 << 20), 64, toChild, 3, 0, 2));
                FabricNode.awaitStep(peer.domain);
                child.say("go");
                child.ended();
                int seen = 0;
                for (int i = 0; i < 2; i++) {
                    FabricNode.Entry entry = Deadline.awaitValue("the end of both", peer::poll);
                    assertTrue(entry.err() != 0, "point " + point + ": " + entry);
                    seen |= 1 << (int) entry.context();
                }
                assertEquals(0b110, seen, "point " + point);
            }
            peer.assertQuiet(100);
            // what it had not received is nobody's any more
            Deadline.awaitParked(() -> "files " + DRIVER.files() + ' ' + DRIVER.view().counters(),
                () -> DRIVER.files().size() == 15 && DRIVER.view().counter("clients") == 3);
        }
        peer.close();
        DRIVER.assertReclaimed();
    }

    @Test
    void shouldNotSeeAMessageWhoseClientDiedWhileItWasEncodedInPlace() {
        FabricNode peer = DRIVER.opened(Bystanders.node("loopback", DRIVER.directory()));
        for (int i = 0; i < 2; i++) {
            assertEquals(0, peer.endpoint.trecv(peer.memory.address(64L * i), 64, -1L, 5, 0, i));
        }
        try (TestProcess child = ChildMain.start("claim", DRIVER.directory(), peer.endpoint.name())) {
            child.hear("ready");
            FabricNode.Entry entry = Deadline.awaitValue("the message that was committed", peer::poll);
            assertEquals(0, entry.err());
            assertEquals(8, entry.len());
            child.say("go");
            child.ended();
        }
        peer.assertQuiet(200);
        DRIVER.bystanders().assertUnharmed();
        long died = DRIVER.view().counter("clients that died");
        peer.close();
        DRIVER.assertReclaimed();
        assertEquals(died, DRIVER.view().counter("clients that died"), "who closes does not die");
    }

    @Test
    void shouldReclaimAClientThatIsKilledAtAnyMoment() {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        SplittableRandom random = new SplittableRandom(seed);
        FabricNode peer = DRIVER.opened(Bystanders.node("loopback", DRIVER.directory()));
        for (int round = 0; round < Effort.rounds(3, 6); round++) {
            try (TestProcess child = ChildMain.start(
                "burst", DRIVER.directory(), peer.endpoint.name(), Long.toString(random.nextLong()))) {
                long toChild = peer.av.insert(child.hear("ready"));
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
                long died = DRIVER.view().counter("clients that died");
                child.kill();
                DRIVER.assertLogged("client", "process " + child.process().pid() + " died");
                assertEquals(died + 1, DRIVER.view().counter("clients that died"));
                Deadline.awaitParked(() -> "the child's end, seed " + seed + ", " + DRIVER.view().counters(),
                    () -> DRIVER.view().counter("clients") == 3);
                // receives that the driver has read behind the child's end wait for its return: one cancel for each
                while (ended < posted) {
                    FabricNode.Entry entry = peer.poll();
                    if (entry == null) {
                        Deadline.awaitParked("room for a cancel, seed " + seed, () -> peer.endpoint.cancel(2) == 0);
                        Deadline.awaitValue((posted - ended) + " operations to end, seed " + seed, peer::poll);
                    }
                    ended++;
                }
                peer.assertQuiet(100);
            }
            DRIVER.bystanders().assertUnharmed();
        }
        peer.close();
        DRIVER.assertReclaimed();
    }

    @Test
    void shouldReclaimManyClientsThatAreKilledAtOnce() {
        TestProcess[] children = new TestProcess[3];
        FabricNode peer = DRIVER.opened(Bystanders.node("loopback", DRIVER.directory()));
        for (int i = 0; i < children.length; i++) {
            children[i] = DRIVER.opened(ChildMain.start("burst", DRIVER.directory(), peer.endpoint.name(), "" + i));
        }
        for (TestProcess child : children) {
            child.hear("ready");
        }
        for (TestProcess child : children) {
            child.process().destroyForcibly();
        }
        for (TestProcess child : children) {
            child.ended();
        }
        peer.close();
        DRIVER.assertReclaimed();
    }
}
