package org.jfabric.samples;

import org.jfabric.samples.book.MarketBook;
import org.jfabric.samples.connections.AskAndAccept;
import org.jfabric.samples.contexts.WorkersOfOneAddress;
import org.jfabric.samples.counters.CountedQuotes;
import org.jfabric.samples.doorbell.OrderDoorbell;
import org.jfabric.samples.echo.SocketEcho;
import org.jfabric.samples.errors.CompletionErrors;
import org.jfabric.samples.evolution.QuoteVersions;
import org.jfabric.samples.futures.FutureTransfers;
import org.jfabric.samples.gateway.OrderGateway;
import org.jfabric.samples.group.GroupFeed;
import org.jfabric.samples.hello.HelloFabric;
import org.jfabric.samples.images.BookImages;
import org.jfabric.samples.levels.CompletionLevels;
import org.jfabric.samples.log.PersistentLog;
import org.jfabric.samples.once.ExactlyOnce;
import org.jfabric.samples.market.MarketData;
import org.jfabric.samples.paths.TwoPaths;
import org.jfabric.samples.replicas.ReplicatedCounter;
import org.jfabric.samples.sequence.SequenceNumbers;
import org.jfabric.samples.sequencer.SequencedOrders;
import org.jfabric.samples.table.NewestPrices;
import org.jfabric.samples.tags.TagMatching;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

@Isolated("replaces standard output")
@Timeout(60)
class SamplesTest {
    private interface Main {
        void run() throws Exception;
    }

    @Test
    void shouldSayHelloWhenOneProcessEmbedsADriver() throws Exception {
        List<String> lines = run(() -> HelloFabric.main(new String[0]));

        assertEquals(3, lines.size(), lines::toString);
        assertTrue(lines.contains("done: operation 1"), lines::toString);
        assertTrue(lines.contains("done: operation 2"), lines::toString);
        assertEquals("received: hello, fabric", lines.get(2));
    }

    @Test
    void shouldGiveEachMessageToTheReceiveThatWantsItWhenTagsMatch() throws Exception {
        List<String> lines = run(() -> TagMatching.main(new String[0]));

        assertEquals(List.of(
            "receive 12 took tag 0x100000002",
            "receive 11 took tag 0x100000001",
            "receive 10 took tag 0x200000002"), lines);
    }

    @Test
    void shouldReadQuotesOfBothVersionsInBothVersions() throws Exception {
        List<String> lines = run(() -> QuoteVersions.main(new String[0]));

        assertEquals(List.of(
            "old reads new: EURUSD 1.083401 1.083601",
            "new reads old: EURUSD 1.083401 1.083601, sizes unknown",
            "new reads new: EURUSD 1.083401 1.083601, 3000000 and 1000000"), lines);
    }

    @Test
    void shouldCompleteTheFencedOrderLastWhenAllAreReceived() throws Exception {
        List<String> lines = run(() -> CompletionLevels.main(new String[0]));

        assertEquals(List.of(
            "order 1 is at the peer",
            "order 2 is at the peer",
            "received 3",
            "received 1",
            "received 2",
            "all orders are received"), lines);
    }

    @Test
    void shouldTellBothSidesOfAConnectionWhatHappens() throws Exception {
        List<String> lines = run(() -> AskAndAccept.main(new String[0]));

        assertEquals(List.of(
            "asked by desk 7",
            "received: over the connection",
            "the accepting side got SHUTDOWN: true",
            "a send without connection: FI_ENOTCONN"), lines);
    }

    @Test
    @DisplayName("link=tcp, the echo")
    @Requirement("SOCK-003")
    void shouldEchoToASocketChannel() throws Exception {
        assertEquals(List.of("the same again"), run(() -> SocketEcho.main(new String[0])));
    }

    @Test
    void shouldTakeAllOrdersByOneQueueOfReceives() throws Exception {
        List<String> lines = run(() -> OrderGateway.main(new String[0]));

        assertEquals(List.of(
            "desk 0 sent 4 orders",
            "desk 1 sent 4 orders",
            "desk 2 sent 4 orders",
            "receives of the gateway: 4, for 3 connections"), lines);
    }

    @Test
    void shouldReadOnlyWholeImagesWhileTheBookIsWritten() throws Exception {
        List<String> lines = run(() -> MarketBook.main(new String[0]));

        assertEquals(2, lines.size(), lines::toString);
        for (int i = 0; i < 2; i++) {
            assertTrue(lines.get(i).matches(
                "reader " + (i + 1) + " has version 10000, broken images: 0, images read: [1-9][0-9]*"), lines.get(i));
        }
    }

    @Test
    void shouldShowEachOrderWhenTheDoorbellOfItsWriteRings() throws Exception {
        List<String> lines = run(() -> OrderDoorbell.main(new String[0]));

        assertEquals(List.of(
            "slot 0, 11 bytes: buy 100",
            "slot 1, 11 bytes: buy 200",
            "slot 2, 11 bytes: buy 300",
            "slot 3, 11 bytes: buy 400",
            "slot 4, 11 bytes: buy 500"), lines);
    }

    @Test
    void shouldShowTheNewestPriceToAReaderThatComesLate() throws Exception {
        List<String> lines = run(() -> NewestPrices.main(new String[0]));

        assertEquals(List.of(
            "instrument 0: 109999, change 10000 of 10000",
            "instrument 1: 109997, change 9998 of 10000",
            "instrument 2: 109998, change 9999 of 10000",
            "instrument 2 is gone: true"), lines);
    }

    @Test
    void shouldDrawEachNumberOnceWhenClientsShareASequence() throws Exception {
        List<String> lines = run(() -> SequenceNumbers.main(new String[0]));

        assertEquals(List.of(
            "client 1 drew 1000 numbers",
            "client 2 drew 1000 numbers",
            "client 3 drew 1000 numbers",
            "gaps: 0, duplicates: 0, the next number is 3000"), lines);
    }

    @Test
    void shouldContinueTheLogThatIsInTheFile() throws Exception {
        Path file = Files.createDirectories(Path.of("target")).resolve("log-" + ProcessHandle.current().pid());
        try {
            assertEquals(List.of("found 0 records", "committed 1", "committed 2",
                "a late reader replayed 2 records, the last one is: order 2"),
                run(() -> PersistentLog.main(new String[] {file.toString(), "2"})));
            assertEquals(List.of("found 2 records", "committed 3", "committed 4", "committed 5",
                "a late reader replayed 5 records, the last one is: order 5"),
                run(() -> PersistentLog.main(new String[] {file.toString(), "3"})));
            // an interrupted write of the last record but one
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                channel.write(ByteBuffer.wrap(new byte[] {1}), 3 * 64 + 40);
            }
            assertEquals(List.of("found 3 records", "committed 4",
                "a late reader replayed 5 records, the last one is: order 5"),
                run(() -> PersistentLog.main(new String[] {file.toString(), "1"})));
        } finally {
            Files.deleteIfExists(file);
        }
    }

    @Test
    void shouldCountQuotesInsteadOfReadingAnEntryForEach() throws Exception {
        List<String> lines = run(() -> CountedQuotes.main(new String[0]));

        assertEquals(List.of("sent 1000, received 1000, failed 0", "the last quote is 999"), lines);
    }

    @Test
    void shouldGiveEachReaderOfAGroupEveryQuote() throws Exception {
        List<String> lines = run(() -> GroupFeed.main(new String[0]));

        assertEquals(List.of("reader 1 has 1000 quotes in order", "reader 2 has 1000 quotes in order",
            "reader 3 has 1000 quotes in order"), lines);
    }

    @Test
    void shouldGoOnWhereTheConsumerBeforeHasEnded() throws Exception {
        List<String> lines = run(() -> ExactlyOnce.main(new String[0]));

        assertEquals(List.of(
            "consumer 1 ends with 500 orders, quantities [61250, 61125, 62000, 61875]",
            "consumer 2 ends with 1500 orders, quantities [186250, 185875, 187500, 187125]",
            "consumer 3 ends with 3000 orders, quantities [375000, 374250, 376500, 375750]"), lines);
    }

    @Test
    void shouldPublishEachOrderOnceWhenASequencerFollowsAnotherOne() throws Exception {
        List<String> lines = run(() -> SequencedOrders.main(new String[0]));

        assertEquals(List.of("the first sequencer has ended in the middle",
            "all orders are confirmed, published: 3000", "desk 0 has orders 1 to 1000", "desk 1 has orders 1 to 1000",
            "desk 2 has orders 1 to 1000"), lines);
    }

    @Test
    void shouldDeliverQuotesOverTwoPathsOnce() throws Exception {
        List<String> lines = run(() -> TwoPaths.main(new String[0]));

        assertEquals(List.of("1000 quotes in order, 0 lost; the first path was cut after 500"), lines);
    }

    @Test
    void shouldBringAllMarketDataToHostsThatAreInTimeSlowAndLate() throws Exception {
        List<String> lines = run(() -> MarketData.main(new String[0]));

        assertEquals(List.of("late", "prompt", "slow"),
            lines.stream().map(line -> line.substring(0, line.indexOf(':'))).sorted().toList());
        assertTrue(lines.stream().allMatch(line -> line.endsWith(": 200000 quotes in order, 0 lost")), lines::toString);
    }

    @Test
    void shouldLendEachImageToThreeReaders() throws Exception {
        String line = "200 images in order, 200 of them read in the writer's memory, best price 10199";
        assertEquals(List.of(line, line, line), run(() -> BookImages.main(new String[0])));
    }

    @Test
    void shouldGiveEachWorkerOfOneAddressItsOrders() throws Exception {
        List<String> lines = run(() -> WorkersOfOneAddress.main(new String[0]));

        assertEquals(List.of("worker 0 handled 10 orders, sum 135", "worker 1 handled 10 orders, sum 145",
            "worker 2 handled 10 orders, sum 155"), lines);
    }

    @Test
    void shouldHaveEachAdditionAtPrimaryAndBackup() throws Exception {
        assertEquals(List.of("acknowledged 1000, missing at the primary 0, at the backup 0"),
            run(() -> ReplicatedCounter.main(new String[0])));
    }

    @Test
    void shouldExplainEachFailureWhenTransfersCannotBeDone() throws Exception {
        List<String> lines = run(() -> CompletionErrors.main(new String[0]));

        assertEquals(3, lines.size(), lines::toString);
        assertTrue(lines.get(0).startsWith("operation 101: FI_ETRUNC, 10 bytes placed, 54 dropped; "), lines.get(0));
        assertTrue(lines.get(1).startsWith("operation 102: FI_ECONNREFUSED, 0 bytes placed, 0 dropped; "),
            lines.get(1));
        assertTrue(lines.get(2).startsWith("operation 103: FI_ECANCELED, 0 bytes placed, 0 dropped; "), lines.get(2));
    }

    @Test
    void shouldCompleteFuturesWhenTransfersEnd() throws Exception {
        List<String> lines = run(() -> FutureTransfers.main(new String[0]));

        assertEquals(List.of("reply: WHO IS THERE?", "failed: FI_ETRUNC, 9 bytes dropped"), lines);
    }

    @Test
    void shouldListTheSamplesWhenNoneIsNamed() throws Exception {
        List<String> lines = run(() -> Samples.main(new String[0]));

        assertEquals(lines, run(() -> Samples.main(new String[] {"--help"})));
        assertEquals("Usage: fabric sample NAME [ARGUMENTS]", lines.get(0));
        assertEquals(
            List.of("hello", "pong", "ping", "quotes", "versions", "tags", "levels", "connect", "echo", "gateway",
                "book", "doorbell", "sequence", "log", "counters", "group", "once", "stream", "sequencer", "table",
                "paths", "market", "images", "contexts", "restart", "replicas", "errors", "futures"),
            lines.subList(1, lines.size()).stream().map(line -> line.strip().split(" ")[0]).toList());
    }

    @Test
    void shouldRunTheSampleThatIsNamed() throws Exception {
        List<String> lines = run(() -> Samples.main(new String[] {"hello"}));

        assertTrue(lines.contains("received: hello, fabric"), lines::toString);
    }

    private static List<String> run(Main sample) throws Exception {
        PrintStream before = System.out;
        ByteArrayOutputStream captured = new ByteArrayOutputStream();
        System.setOut(new PrintStream(captured, true, StandardCharsets.UTF_8));
        try {
            sample.run();
        } finally {
            System.setOut(before);
        }
        return captured.toString(StandardCharsets.UTF_8).lines().toList();
    }
}
