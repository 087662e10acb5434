package org.jfabric.samples.futures;

import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Fabric;
import org.jfabric.Messenger;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.future.CompletionDispatcher;
import org.jfabric.future.CompletionRecord;
import org.jfabric.future.FutureEndpoint;
import org.jfabric.future.TransferException;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;

/**
 * Transfers as futures: a request that is answered by what depends on its receive, and a receive that fails.
 * Dispatching is the program's own work, here done by {@code await}.
 */
public final class FutureTransfers {
    private static final long REQUEST = 1;
    private static final long REPLY = 2;
    private static final long TOO_LONG = 3;
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);

    private static final int ASKED = 0;
    private static final int HEARD = 1024;
    private static final int ANSWERED = 2048;

    private FutureTransfers() {
    }

    /**
     * Runs it.
     *
     * @param args not used.
     */
    public static void main(String[] args) {
        DriverConfig config = DriverConfig.builder().set("jfabric.dir.name", "futures-" + ProcessHandle.current().pid())
            .threadingMode(ThreadingMode.INVOKER).build();
        try (FabricDriver driver = FabricDriver.launchEmbedded(config); Fabric fabric = driver.fabric()) {
            Messenger own = fabric.messenger().open();
            long self = own.peers().insert(own.endpoint().name());
            UnsafeBuffer bytes = own.memory().buffer();
            try (CompletionDispatcher dispatcher = new CompletionDispatcher(own.queue())) {
                FutureEndpoint transfers = new FutureEndpoint(own.endpoint(), dispatcher);

                receive(own, transfers, HEARD, 512, REQUEST).thenCompose(request -> {
                    String text = bytes.getStringWithoutLengthAscii(HEARD, (int) request.len());
                    int length = bytes.putStringWithoutLengthAscii(HEARD, text.toUpperCase(Locale.ROOT));
                    return transfers.tsend(own.memory().address(HEARD), length, self, REPLY);
                });

                CompletableFuture<CompletionRecord> reply = receive(own, transfers, ANSWERED, 512, REPLY);
                int length = bytes.putStringWithoutLengthAscii(ASKED, "who is there?");
                transfers.tsend(own.memory().address(ASKED), length, self, REQUEST);
                int replyLength = (int) dispatcher.await(reply, TIMEOUT_NS).len();
                System.out.println("reply: " + bytes.getStringWithoutLengthAscii(ANSWERED, replyLength));

                CompletableFuture<CompletionRecord> tooShort = receive(own, transfers, ANSWERED, 4, TOO_LONG);
                transfers.tsend(own.memory().address(ASKED), length, self, TOO_LONG);
                try {
                    dispatcher.await(tooShort, TIMEOUT_NS);
                } catch (TransferException failed) {
                    System.out.println("failed: " + FabricErrno.name(failed.errno()) + ", "
                        + failed.error().olen() + " bytes dropped");
                }
            }
        }
    }

    private static CompletableFuture<CompletionRecord> receive(
        Messenger own, FutureEndpoint transfers, int offset, int length, long tag) {
        return transfers.trecv(own.memory().address(offset), length, FabricAddress.ADDR_UNSPEC, tag, 0);
    }
}
