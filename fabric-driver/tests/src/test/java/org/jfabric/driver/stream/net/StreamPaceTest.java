package org.jfabric.driver.stream.net;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.UUID;
import org.jfabric.driver.kit.Effort;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How much of a path that carries less than its writer has a stream takes; in simulated time, with a seed. */
class StreamPaceTest {
    private static final int RING = 64 << 20;
    private static final long STEP_NS = 10_000;
    private static final int MESSAGE_BYTES = 1_300;
    private static final int DATAGRAM_BYTES = DataWriter.DATA_HEADER + DataWriter.aligned(
        DataWriter.headBytes(0) + MESSAGE_BYTES);
    private static final UUID LOG = new UUID(1, 2);
    private static final double SECOND_NS = 1e9;

    private final SimulatedPaths network = new SimulatedPaths(new SplittableRandom(1));
    private final ListSource source = new ListSource(LOG, 1, 0, RING);
    private final StreamNet writing = new StreamNet(network.random::nextLong, SimulatedPaths.SILENCE_NS, 0);
    private final StreamNet reading = new StreamNet(network.random::nextLong, SimulatedPaths.SILENCE_NS, 0);
    private final ListSink sink = new ListSink("reader", Map.of(LOG, source));
    private final ListSource.Message message = new ListSource.Message(0, 0, 0, new byte[MESSAGE_BYTES]);

    @ParameterizedTest
    @CsvSource({
        "20000000, 100000000, 1048576,  1",
        "20000000, 100000000, 4194304,  1",
        "  100000, 100000000, 1048576,  1",
        "20000000,  10000000,  262144, 10",
        "20000000, 100000000,  200000,  1"})
    void shouldFillAPathThatIsNarrow(long delayNs, long bytesPerSecond, int queueBytes, int lostPerMille) {
        network.delayNs = delayNs;
        source.writer = writing.publish("quotes", source, StreamPolicy.reliable(),
            List.of(new StreamPath(writing.open(network.open("10.0.0.1", 4100)), null)));
        StreamReader reader = reading.subscribe("quotes", "reader", null, sink, List.of(new StreamPath(
            reading.open(network.open("10.0.1.1", 4200)), SimulatedPaths.name("10.0.0.1", 4100))));
        while (source.writer.readers().isEmpty() || source.writer.readers().getFirst().window() == 0) {
            run(STEP_NS);
        }
        network.bytesPerSecond = bytesPerSecond;
        network.queueBytes = queueBytes;
        network.lostPerMille = lostPerMille;
        run(2_000_000_000);
        long before = sink.next;
        long durationNs = Effort.rounds(1_500, 3_000) * 1_000_000L;
        run(durationNs);
        double taken = (sink.next - before) * DATAGRAM_BYTES * SECOND_NS / durationNs / bytesPerSecond;
        String state = "took " + taken + " of it with " + source.writer.datagrams() + " datagrams, of these "
            + source.writer.repairs() + " repairs, " + reader.duplicates() + " messages twice; at the end "
            + source.writer.bytesPerSecond() + " bytes per second, " + reader;
        assertTrue(taken > 0.9, state);
        assertTrue(reader.duplicates() < sink.next / 20, state);
    }

    private void run(long durationNs) {
        for (long end = network.nowNs + durationNs; network.nowNs < end;) {
            for (int i = 0; i < 40 && source.offer(message); i++) {
                // as many as the ring takes
            }
            network.advance(network.nowNs + STEP_NS);
            writing.step(network.nowNs);
            reading.step(network.nowNs);
            sink.consume(1000);
        }
    }
}
