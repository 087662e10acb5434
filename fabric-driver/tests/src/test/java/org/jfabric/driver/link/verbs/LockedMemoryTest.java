package org.jfabric.driver.link.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.ffi.FakeVerbs;
import org.jfabric.driver.ffi.VerbsDevices;
import org.jfabric.driver.link.rxm.RxmLinkProvider;
import org.jfabric.info.Info;
import org.jfabric.info.Verdict;
import org.junit.jupiter.api.Test;

/** What discovery says of the memory that each peer pins. */
class LockedMemoryTest {
    private static final int PACKET = (16 << 10) + 64;
    /** 128 receives and 128 sends, in whole pages. */
    private static final int OWN = 2 * 128 * PACKET;
    /** The sends alone. */
    private static final int SENDS = 128 * PACKET;
    /** 1000 receives, in whole pages. */
    private static final int SHARED = (1000 * PACKET + 4095) / 4096 * 4096;

    private static VerbsSettings settings(int shared) {
        return VerbsSettings.ofPackets(
            DriverConfig.builder().set("jfabric.verbs.sharedReceives", Integer.toString(shared))
                .set("jfabric.verbs.ownConnections", "65536").build());
    }

    @Test
    void shouldCountPeersWithReceivesOfTheirOwn() {
        assertEquals("locked memory: seen " + (3L * OWN + 7) + " bytes, enough for 3 of them, needed " + OWN
            + " bytes for each peer. For more raise the limit (ulimit -l, LimitMEMLOCK), or lower "
            + "jfabric.verbs.packetReceives or sends, or set sharedReceives",
            settings(0).lockedMemory(3L * OWN + 7).toString());
        assertEquals("locked memory: seen no limit, needed " + OWN + " bytes for each peer.",
            settings(0).lockedMemory(Long.MAX_VALUE).toString());
    }

    @Test
    void shouldCountPeersThatShareReceives() {
        assertEquals("locked memory: seen " + (SHARED + 5L * SENDS) + " bytes, enough for 5 of them, needed " + SENDS
            + " bytes for each peer, and " + SHARED + " bytes that all of a device share. For more raise the limit "
            + "(ulimit -l, LimitMEMLOCK), or lower jfabric.verbs.sends or sharedReceives",
            settings(1000).lockedMemory(SHARED + 5L * SENDS).toString());
        assertEquals("0 of them", settings(1000).lockedMemory(SHARED - 1).seen().split("enough for ")[1]);
    }

    @Test
    void shouldCountPeersOfWhichTheLaterOnesShare() {
        long later = (32L * PACKET + 4095) / 4096 * 4096;
        long shared = (1024L * PACKET + 4095) / 4096 * 4096;
        VerbsSettings usual = VerbsSettings.ofPackets(DriverConfig.builder().build());
        assertTrue(later < 1 << 20, "each pins less than 1 MiB");
        assertEquals("locked memory: seen no limit, needed " + OWN + " bytes for each of the first 16 peers, " + later
            + " for each further one, and " + shared + " that these share.",
            usual.lockedMemory(Long.MAX_VALUE).toString());
        long limit = 16L * OWN + shared + 984 * later;
        assertTrue(usual.lockedMemory(limit).seen().endsWith("enough for 1000 of them"));
        assertTrue(usual.lockedMemory(limit - 1).seen().endsWith("enough for 999 of them"));
        assertTrue(usual.lockedMemory(3L * OWN + 7).seen().endsWith("enough for 3 of them"));
        VerbsSettings messages = VerbsSettings.ofMessages(DriverConfig.builder().build());
        assertTrue(messages.next(15).pinnedBytes() > 16 << 20);
        assertTrue(messages.next(16).pinnedBytes() < 1 << 20, "each pins less than 1 MiB");
    }

    @Test
    void shouldPinWhatIsSaid() {
        FakeVerbs.Network network = new FakeVerbs.Network();
        try (RxmNode server = new RxmNode(network, "10.0.0.1", "jfabric.verbs.sharedReceives", "32");
            RxmNode client = new RxmNode(network, "10.0.0.2")) {
            RxmTold told = client.connect(server.address);
            for (int i = 0; i < 1000 && !told.isUp(); i++) {
                client.step(true);
                server.step(true);
            }
            assertTrue(told.isUp());
            int packet = RxmNode.EAGER + 64;
            assertTrue(client.node.verbs.calls.contains("ibv_reg_mr " + PinnedMemory.pages(256L * packet)),
                client.node.verbs.calls::toString);
            assertTrue(server.node.verbs.calls.contains("ibv_reg_mr " + PinnedMemory.pages(128L * packet)),
                server.node.verbs.calls::toString);
            assertTrue(server.node.verbs.calls.contains("ibv_reg_mr " + PinnedMemory.pages(32L * packet)),
                server.node.verbs.calls::toString);
        }
    }

    @Test
    void shouldBePartOfTheVerdictOnALinkThatIsChosen() {
        FakeVerbs fake = new FakeVerbs(new FakeVerbs.Network(), "10.0.0.1");
        VerbsLinkProvider below = new VerbsLinkProvider(fake::libraries, VerbsSettings::ofPackets);
        Verdict verdict = new RxmLinkProvider("verbsrxm", below).verdict(
            new Info(), "driver", DriverConfig.builder().build());
        boolean isEnough = VerbsDevices.lockedMemoryLimitBytes() >= OWN;
        assertEquals(isEnough, verdict.chosen(), verdict::toString);
        assertTrue(verdict.toString().contains("needed " + OWN + " bytes for each "), verdict::toString);
    }
}
