package org.jfabric.samples.contexts;

import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.AddressVector;
import org.jfabric.Completion;
import org.jfabric.CompletionHandler;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.Fabric;
import org.jfabric.MemoryRegion;
import org.jfabric.ScalableEndpoint;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Threading;

/**
 * A service with one address and a receive context for each worker, each of which is a thread with a completion queue
 * of its own. The client chooses the worker by the key of an order, so that all orders of a key are handled in order,
 * by one thread, without a lock between the workers.
 */
public final class WorkersOfOneAddress {
    private static final int WORKERS = 3;
    private static final int ORDERS = 30;
    private static final int LENGTH = 8;
    /** Enough for the number of workers. */
    private static final int BITS = 2;
    private static final long DEADLINE_NS = 10_000_000_000L;

    private WorkersOfOneAddress() {
    }

    /** One receive context, used by one thread. */
    private static final class Worker extends Thread {
        private final Endpoint context;
        private final CompletionQueue queue;
        private final UnsafeBuffer orders;
        private final CompletionHandler handler = this::onOrder;
        private final int expected;
        private int handled;
        private long sum;

        Worker(Domain domain, ScalableEndpoint service, int index, int expected) {
            super("worker " + index);
            this.expected = expected;
            queue = domain.openCompletionQueue(new CompletionQueueAttr().size(64));
            MemoryRegion memory = domain.allocate(expected * LENGTH);
            orders = memory.buffer();
            context = service.rxContext(index);
            context.bind(queue, Flags.RECV);
            context.enable();
            for (int i = 0; i < expected; i++) {
                context.trecv(memory.address(i * LENGTH), LENGTH, FabricAddress.ADDR_UNSPEC, 1, 0, i);
            }
        }

        @Override
        public void run() {
            long deadline = System.nanoTime() + DEADLINE_NS;
            while (handled < expected && System.nanoTime() - deadline < 0) {
                queue.poll(handler, 16);
                Thread.onSpinWait();
            }
        }

        private void onOrder(Completion entry) {
            sum += orders.getLong((int) entry.opContext() * LENGTH);
            handled++;
        }
    }

    /**
     * Runs it.
     *
     * @param args not used.
     * @throws InterruptedException if interrupted while the workers run.
     */
    public static void main(String[] args) throws InterruptedException {
        DriverConfig config = DriverConfig.builder()
            .set("jfabric.dir.name", "contexts-" + ProcessHandle.current().pid())
            .threadingMode(ThreadingMode.SHARED).build();
        Info hints = new Info().caps(Flags.TAGGED | Flags.NAMED_RX_CTX);
        hints.epAttr().txCtxCnt(1).rxCtxCnt(WORKERS);
        // one thread at a time uses what belongs to a completion queue
        hints.domainAttr().threading(Threading.COMPLETION);
        try (FabricDriver driver = FabricDriver.launchEmbedded(config); Fabric fabric = driver.fabric()) {
            Domain domain = fabric.domain(fabric.info(hints).best());
            AddressVector addresses = domain.openAddressVector(new AddressVectorAttr().rxCtxBits(BITS));
            ScalableEndpoint service = domain.openScalableEndpoint(domain.info());
            service.bind(addresses);
            service.enable();
            Worker[] workers = new Worker[WORKERS];
            for (int i = 0; i < WORKERS; i++) {
                workers[i] = new Worker(domain, service, i, ORDERS / WORKERS);
                workers[i].start();
            }
            CompletionQueue sent = domain.openCompletionQueue(new CompletionQueueAttr().size(64));
            Endpoint client = service.txContext(0);
            client.bind(sent, Flags.TRANSMIT);
            client.enable();
            long address = addresses.insert(service.name());
            send(client, sent, address);
            for (Worker worker : workers) {
                worker.join();
                System.out.println(worker.getName() + " handled " + worker.handled + " orders, sum " + worker.sum);
            }
        }
    }

    private static void send(Endpoint client, CompletionQueue sent, long address) {
        UnsafeBuffer order = new UnsafeBuffer(new byte[LENGTH]);
        long deadline = System.nanoTime() + DEADLINE_NS;
        for (int i = 0; i < ORDERS; i++) {
            order.putLong(0, i);
            long worker = FabricAddress.rxAddr(address, i % WORKERS, BITS);
            int result = client.tinject(order, 0, LENGTH, worker, 1);
            while (result == -FabricErrno.EAGAIN && System.nanoTime() - deadline < 0) {
                sent.poll(entry -> { }, 16);
                result = client.tinject(order, 0, LENGTH, worker, 1);
            }
            if (result != 0) {
                System.out.println("order " + i + ": " + FabricErrno.name(result));
                return;
            }
        }
    }
}
