package org.jfabric.perf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Collection;
import java.util.Set;
import java.util.stream.Collectors;
import org.jfabric.perf.loss.LossLatency;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/** Runs each benchmark for a moment in this process: what they need is there and nothing fails; no figures. */
@Tag("slow")
@Timeout(600)
class BenchmarksSmokeTest {
    private static final Set<String> CLASSES = Set.of("BaselineBenchmark", "CompletionQueueBenchmark",
        "DowncallBenchmark", "EngineBenchmark", "LogBenchmark", "LoopbackPingBenchmark", "ManyPeersBenchmark",
        "RandomWalkBenchmark",
        "ShmPingBenchmark", "ShmRemoteBenchmark", "ShmRingBenchmark", "TagMatcherBenchmark", "TcpSocketBenchmark",
        "TransmitQueueBenchmark", "VerbsLinkBenchmark");

    @Test
    void shouldRunEachBenchmarkWithoutFailure() throws RunnerException {
        System.setProperty("jmh.ignoreLock", "true");
        Options options = new OptionsBuilder()
            .forks(0)
            .warmupIterations(0)
            .measurementIterations(1)
            .measurementTime(TimeValue.milliseconds(10))
            .param("depth", "1")
            .param("sizeBytes", "64")
            .param("injectBytes", "64")
            .param("mayPark", "true")
            .param("peers", "2")
            .verbosity(VerboseMode.SILENT)
            .shouldFailOnError(true)
            .build();
        Collection<RunResult> results = new Runner(options).run();

        Set<String> seen = results.stream().map(BenchmarksSmokeTest::className).collect(Collectors.toSet());
        assertEquals(CLASSES, seen);
        for (RunResult result : results) {
            assertTrue(result.getPrimaryResult().getScore() > 0, () -> result.getParams().getBenchmark());
        }
    }

    @Test
    void shouldMeasureTheWakeUpOfADaemon() throws Exception {
        WakeUpLatency.main(new String[] {"3"});
    }

    @Test
    void shouldMeasureTheWakeUpOfASleepingReader() throws Exception {
        SleepLatency.main(new String[] {"3"});
    }

    @Test
    void shouldMeasureStreamsThroughANetworkThatLoses() throws Exception {
        LossLatency.main(new String[] {"jfabric", "0.05", "10000"});
    }

    private static String className(RunResult result) {
        String[] parts = result.getParams().getBenchmark().split("\\.");
        return parts[parts.length - 2];
    }
}
