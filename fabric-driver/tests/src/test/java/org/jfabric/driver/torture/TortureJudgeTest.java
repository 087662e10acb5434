package org.jfabric.driver.torture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What torture relies on finds what it is there to find. */
class TortureJudgeTest {
    @TempDir
    private Path folder;

    @Test
    void shouldNameWhatWasConfirmedAndNotReceived() throws IOException {
        try (Ledger sender = Ledger.open(folder, 1); Ledger receiver = Ledger.open(folder, 1)) {
            for (int i = 0; i < 20; i++) {
                sender.onPosted();
            }
            for (long i = 0; i < 18; i++) {
                assertTrue(i == 7 || i == 16 || receiver.onReceived(i));
                sender.onDelivered(i);
            }
            assertEquals(List.of(7L, 16L), receiver.lost());
            assertFalse(receiver.hasInvented());
            assertFalse(receiver.onReceived(3), "it came twice");
            // the last one may have been posted without being counted
            assertTrue(receiver.onReceived(20));
            assertFalse(receiver.hasInvented());
            assertTrue(receiver.onReceived(21));
            assertTrue(receiver.hasInvented());
        }
    }

    @Test
    void shouldFindAMessageInTheMemoryOfADeadReceiverOnlyIfItIsWhole() throws IOException {
        UnsafeBuffer memory = new UnsafeBuffer(new byte[TortureWorker.RECEIVES * Payload.LONGEST]);
        Payload.write(memory, 3 * Payload.LONGEST, 5, 42, 1003);
        assertNull(Payload.fault(memory, 3 * Payload.LONGEST, 1003));
        assertNotNull(Payload.fault(memory, 3 * Payload.LONGEST, 1002));
        Path file = folder.resolve("memory");
        Files.write(file, memory.byteArray());
        assertTrue(Worker.holds(file, 5, 42));
        assertFalse(Worker.holds(file, 5, 41));
        assertFalse(Worker.holds(file, 4, 42));
        int last = 3 * Payload.LONGEST + 1002;
        memory.putByte(last, (byte) (memory.getByte(last) + 1));
        assertNotNull(Payload.fault(memory, 3 * Payload.LONGEST, 1003));
        Files.write(file, memory.byteArray());
        assertFalse(Worker.holds(file, 5, 42));
    }

    @Test
    void shouldNameAccessesThatWereConfirmedAndAreNotThere() throws IOException {
        UnsafeBuffer area = new UnsafeBuffer(new byte[RemoteArea.LENGTH]);
        Path file = folder.resolve("area");
        try (Ledger ledger = Ledger.open(folder, 5)) {
            Files.write(file, area.byteArray());
            assertNull(RemoteArea.fault(file, 5, ledger, true));
            for (int i = 0; i < 3; i++) {
                ledger.onAdding();
            }
            ledger.onAdded();
            assertNotNull(RemoteArea.fault(file, 5, ledger, false), "one of at least one is missing");
            for (long value = 1; value <= 3; value++) {
                area.putLong(RemoteArea.counter(5), value);
                Files.write(file, area.byteArray());
                assertNull(RemoteArea.fault(file, 5, ledger, false));
            }
            assertNotNull(RemoteArea.fault(file, 5, ledger, true), "of those two that were confirmed");
            area.putLong(RemoteArea.counter(5), 4);
            Files.write(file, area.byteArray());
            assertNotNull(RemoteArea.fault(file, 5, ledger, false), "there is one more than were posted");
            area.putLong(RemoteArea.counter(5), 1);

            ledger.onWriting(2, 40);
            ledger.onWritten(2, 40);
            assertNotNull(RemoteArea.fault(area, 5, ledger, false));
            Payload.write(area, RemoteArea.slot(5, 2), 5, 40, 5003);
            assertNull(RemoteArea.fault(area, 5, ledger, false));
            area.putByte(RemoteArea.slot(5, 2) + 4000, (byte) (area.getByte(RemoteArea.slot(5, 2) + 4000) + 1));
            assertNotNull(RemoteArea.fault(area, 5, ledger, false));
            // a further write may have reached the slot in part
            ledger.onWriting(2, 48);
            assertNull(RemoteArea.fault(area, 5, ledger, false));
            Payload.write(area, RemoteArea.slot(5, 2), 5, 40, 5003);
            ledger.onWritten(2, 48);
            assertNotNull(RemoteArea.fault(area, 5, ledger, false), "an earlier write is there");
        }
    }

    @Test
    void shouldNoticeThatADescriptorOfAnotherOwnerWasClosed() throws IOException {
        List<String> faults = new ArrayList<>();
        Canaries canaries = new Canaries(folder, faults::add);
        for (int i = 0; i < 30; i++) {
            canaries.step();
        }
        assertEquals(List.of(), faults);
        canaries.lose();
        canaries.step();
        assertTrue(faults.getFirst().contains("of another owner was closed"), faults::toString);
    }

    @Test
    void shouldNotKeepALedgerOfEachConversation() throws IOException {
        Expected expected = new Expected();
        for (int i = 0; i < 20; i++) {
            expected.listen(i, Ledger.open(folder, i));
        }
        String kept = Census.details(ProcessHandle.current().pid());
        for (int i = 0; i < 20; i++) {
            boolean isKept = i >= 20 - Expected.KEPT;
            assertEquals(isKept, kept.contains(Ledger.path(folder, i).toString()), "ledger " + i + ": " + kept);
            assertEquals(isKept, expected.get(i) != null, "conversation " + i);
        }
        expected.get(19).ledger.onReceived(4);
        try (Ledger sender = Ledger.open(folder, 19)) {
            assertEquals(1, sender.received());
        }
    }

    @Test
    void shouldExcuseAConnectionThatAStopMadeFail() {
        Set<Integer> during = Set.of(4, 5);
        assertTrue(World.excuses(List.of(), Set.of()));
        assertTrue(World.excuses(List.of("failed 4 FI_ETIMEDOUT"), during));
        assertTrue(World.excuses(List.of("failed 4 FI_ETIMEDOUT", "failed 5 FI_ECONNRESET"), during));
        assertFalse(World.excuses(List.of("failed 4 FI_ECONNRESET"), during), "no attempt has reached its limit");
        assertFalse(World.excuses(List.of("failed 6 FI_ETIMEDOUT"), during), "no stop overlapped it");
        assertFalse(World.excuses(List.of("failed 4 FI_ETIMEDOUT", "failed 5 FI_EIO"), during));
    }

    @Test
    void shouldExcuseOnlyAttemptsThatAStopLongerThanTheirLimitOverlapped() throws IOException {
        try (Ledger ledger = Ledger.open(folder, 1)) {
            Conversation conversation = new Conversation(1, null, null, ledger);
            ledger.onPosted();
            assertTrue(conversation.isExcusedBy(Conversation.CONNECT_TIMEOUT_NS));
            assertFalse(conversation.isExcusedBy(Conversation.CONNECT_TIMEOUT_NS - 1));
            ledger.onDelivered(0);
            assertFalse(conversation.isExcusedBy(Conversation.CONNECT_TIMEOUT_NS), "there was a connection");
        }
        try (Ledger ledger = Ledger.open(folder, 2)) {
            ledger.onCompared();
            assertFalse(new Conversation(2, null, null, ledger).isExcusedBy(Conversation.CONNECT_TIMEOUT_NS));
        }
    }

    @Test
    void shouldNameTheLongestDelayOfASleeperInAPeriod() {
        long ms = 1_000_000;
        try (Sleeper sleeper = new Sleeper()) {
            assertEquals(0, sleeper.latest(0, 1_000 * ms));
            sleeper.woke(100 * ms, 102 * ms);
            assertEquals(0, sleeper.latest(0, 1_000 * ms), "so late is each thread");
            sleeper.woke(100 * ms, 130 * ms);
            sleeper.woke(200 * ms, 220 * ms);
            assertEquals(30 * ms, sleeper.latest(0, 1_000 * ms));
            assertEquals(20 * ms, sleeper.latest(150 * ms, 1_000 * ms));
            assertEquals(5 * ms, sleeper.latest(0, 105 * ms), "only a part of it was in that period");
            assertEquals(0, sleeper.latest(140 * ms, 190 * ms));
        }
    }

    @Test
    void shouldAskForTheHeapAgainWhileItIsTooLarge() {
        Iterator<Long> falling = List.of(30L, 20L, 10L).iterator();
        Fleet.requireHeap("one", falling::next, 10, () -> "");
        assertFalse(falling.hasNext());
    }
}
