package org.jfabric.samples.restart;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntSupplier;
import org.jfabric.CompletionError;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.FabricListener;
import org.jfabric.Messenger;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * An application that outlives its driver: it sends itself a number twice a second, over every restart of the driver.
 * The argument is how many numbers, 20 without one.
 */
public final class Heartbeat {
    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final long NAP_NS = TimeUnit.MICROSECONDS.toNanos(100);

    private final Messenger own;
    private final long self;
    private final CompletionError error = new CompletionError();
    private long attempts;

    private Heartbeat(Messenger own) {
        this.own = own;
        this.self = own.peer(own.address()).number();
    }

    // example: listener
    private static final FabricListener LISTENER = new FabricListener() {
        @Override
        public void onDriverAway(FabricException why) {
            System.out.println("the driver is away: " + why.getMessage());
        }

        @Override
        public void onReconnected() {
            System.out.println("connected to the next driver");
        }

        @Override
        public void onDriverGone(FabricException why) {
            System.out.println("gave up: " + why.getMessage());
        }
    };
    // end

    /** Runs it with the daemon in the default directory. */
    // example: connect
    public static void main(String[] args) {
        long beats = args.length == 0 ? 20 : Long.parseLong(args[0]);
        FabricConfig config =
            new FabricConfig().reconnectTimeoutNs(TimeUnit.MINUTES.toNanos(5)).listener(LISTENER);
        try (Fabric fabric = Fabric.connect(config); Messenger own = fabric.messenger().name("heartbeat").open()) {
            Heartbeat heartbeat = new Heartbeat(own);
            for (long number = 1; number <= beats; number++) {
                heartbeat.beat(number);
                LockSupport.parkNanos(PAUSE_NS);
            }
        }
    }
    // end

    // example: again
    private void beat(long number) {
        own.memory().buffer().putLong(0, number);
        while (!isExchanged(++attempts)) {
            System.out.println("beat " + number + " was lost with its driver, once more");
        }
        System.out.println("beat " + own.memory().buffer().getLong(8));
    }

    private boolean isExchanged(long tag) {
        long to = own.memory().address(8);
        post(() -> own.endpoint().trecv(to, 8, FabricAddress.ADDR_UNSPEC, tag, 0, 1));
        post(() -> own.endpoint().tsend(own.memory().address(), 8, self, tag, 2));
        boolean isExchanged = true;
        for (int ended = 0; ended < 2; ) {
            int read = own.queue().poll(entry -> { }, 2);
            if (read == -FabricErrno.EAVAIL) {
                // the driver ended before the operation did
                own.queue().readErr(error, 0);
                isExchanged = false;
                ended++;
            } else if (read > 0) {
                ended += read;
            } else {
                retryLater(read);
            }
        }
        return isExchanged;
    }

    private static void post(IntSupplier operation) {
        for (int result = operation.getAsInt(); result != 0; result = operation.getAsInt()) {
            retryLater(result);
        }
    }

    private static void retryLater(int result) {
        if (result != -FabricErrno.EAGAIN) {
            throw new FabricException(result, "the heartbeat ends", "See docs/restart.md.");
        }
        LockSupport.parkNanos(NAP_NS);
    }
    // end
}
