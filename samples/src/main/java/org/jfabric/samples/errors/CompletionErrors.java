package org.jfabric.samples.errors;

import org.jfabric.CompletionError;
import org.jfabric.Fabric;
import org.jfabric.Messenger;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;

/**
 * A transfer that cannot be done ends with an error entry: the read stops in front of it with {@code -FI_EAVAIL}, and
 * {@code readErr} takes it. Here: a buffer that is too short, a peer that does not exist, a receive that is cancelled.
 */
public final class CompletionErrors {
    private static final long TAG = 1;
    private static final long TOO_SHORT = 101;
    private static final long NO_PEER = 102;
    private static final long CANCELLED = 103;

    private CompletionErrors() {
    }

    /**
     * Runs it.
     *
     * @param args not used.
     */
    public static void main(String[] args) {
        DriverConfig config = DriverConfig.builder().set("jfabric.dir.name", "errors-" + ProcessHandle.current().pid())
            .threadingMode(ThreadingMode.INVOKER).build();
        try (FabricDriver driver = FabricDriver.launchEmbedded(config); Fabric fabric = driver.fabric()) {
            Messenger own = fabric.messenger().open();
            long self = own.peers().insert(own.endpoint().name());

            own.endpoint().trecv(own.memory().address(0), 10, FabricAddress.ADDR_UNSPEC, TAG, 0, TOO_SHORT);
            own.endpoint().tinject(own.memory().buffer(), 0, 64, self, TAG);
            show(own);

            long nobody = own.peers().insert("jfabric://" + fabric.driverName() + "/nobody");
            own.endpoint().tsend(own.memory().address(0), 64, nobody, TAG, NO_PEER);
            show(own);

            own.endpoint().trecv(own.memory().address(0), 64, FabricAddress.ADDR_UNSPEC, TAG, 0, CANCELLED);
            own.endpoint().cancel(CANCELLED);
            show(own);
        }
    }

    private static void show(Messenger own) {
        int result;
        do {
            result = own.queue().poll(entry -> System.out.println("unexpected: " + entry), 1);
        } while (result == -FabricErrno.EAGAIN);
        CompletionError error = new CompletionError();
        if (result == -FabricErrno.EAVAIL && own.queue().readErr(error, 0) == 1) {
            System.out.println("operation " + error.opContext() + ": " + FabricErrno.name(error.err()) + ", "
                + error.len() + " bytes placed, " + error.olen() + " dropped; "
                + own.queue().strerror(error.provErrno()));
        }
    }
}
