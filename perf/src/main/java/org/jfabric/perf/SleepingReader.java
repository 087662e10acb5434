package org.jfabric.perf;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.ffi.Futex;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.WaitObject;

/** The process of {@link SleepLatency} that sleeps, on a bare futex and in a blocking read in turn. */
final class SleepingReader {
    private static final int ENTRY_LENGTH = 48;

    private SleepingReader() {
    }

    /**
     * Sleeps and answers.
     *
     * @param args driver's directory, file of words, samples in a block, number of blocks.
     * @throws IOException if the words cannot be mapped.
     */
    public static void main(String[] args) throws IOException {
        int samples = Integer.parseInt(args[2]);
        int blocks = Integer.parseInt(args[3]);
        try (Arena arena = Arena.ofShared();
            Fabric fabric = Fabric.connect(new FabricConfig().directory(Path.of(args[0])).waitSpinNs(0))) {
            long words = SleepLatency.map(Path.of(args[1]), arena).address();
            CompletionQueue queue = open(fabric);
            UnsafeBuffer entry = new UnsafeBuffer(new byte[ENTRY_LENGTH]);
            System.out.println("ready");
            int seen = 0;
            long answers = 0;
            for (int block = 0; block < blocks; block++) {
                for (int i = 0; i < samples; i++) {
                    seen = sleep(words + SleepLatency.FUTEX_OFFSET, seen);
                    UnsafeApi.putLongRelease(null, words + SleepLatency.ANSWER_OFFSET, ++answers);
                }
                for (int i = 0; i < samples; i++) {
                    if (queue.sread(entry, 0, 1, 0, -1) != 1) {
                        throw new IllegalStateException("sread did not return an entry");
                    }
                    UnsafeApi.putLongRelease(null, words + SleepLatency.ANSWER_OFFSET, ++answers);
                }
            }
        }
    }

    private static int sleep(long word, int seen) {
        int now = UnsafeApi.getIntAcquire(null, word);
        while (now == seen) {
            Futex.wait(word, seen, -1);
            now = UnsafeApi.getIntAcquire(null, word);
        }
        return now;
    }

    private static CompletionQueue open(Fabric fabric) {
        Info info = fabric.info(new Info().caps(Flags.TAGGED).linkName("loopback")).best();
        Domain domain = fabric.domain(info);
        CompletionQueue queue = domain.openCompletionQueue(
            new CompletionQueueAttr().size(SleepLatency.CAPACITY_SHARE).waitObject(WaitObject.UNSPEC));
        // a queue may be read once an endpoint that reports to it is enabled
        Endpoint endpoint = domain.openEndpoint(info);
        endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
        endpoint.bind(domain.openAddressVector(new AddressVectorAttr()));
        endpoint.enable();
        return queue;
    }
}
