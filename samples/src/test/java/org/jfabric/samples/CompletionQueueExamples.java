package org.jfabric.samples;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.concurrent.CompletableFuture;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.AddressVector;
import org.jfabric.Completion;
import org.jfabric.CompletionBatch;
import org.jfabric.CompletionError;
import org.jfabric.CompletionHandler;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.Fabric;
import org.jfabric.MemoryRegion;
import org.jfabric.WaitSet;
import org.jfabric.future.CompletionDispatcher;
import org.jfabric.future.CompletionRecord;
import org.jfabric.future.FutureEndpoint;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionFormat;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.ResourceManagement;
import org.jfabric.info.WaitCondition;
import org.jfabric.info.WaitObject;
import org.jfabric.info.WaitSetAttr;

/** The code of docs/completion-queues.md: each region between markers stands there, and is run by the page's test. */
final class CompletionQueueExamples {
    private static final long TAG = 7;

    final Fabric fabric;
    final Domain domain;
    final CompletionQueue queue;
    final AddressVector addresses;
    final MemoryRegion memory;
    final Endpoint endpoint;
    final long self;
    long bytes;

    CompletionQueueExamples(Fabric fabric) {
        this(fabric, new Info(), null);
    }

    CompletionQueueExamples(Fabric fabric, Info hints, CompletionQueueAttr attr) {
        this.fabric = fabric;
        this.domain = fabric.domain(fabric.info(hints).best());
        this.addresses = domain.openAddressVector(new AddressVectorAttr());
        this.memory = domain.allocate(1 << 20);
        this.endpoint = domain.openEndpoint(domain.info());
        this.queue = attr == null ? open() : openAs(attr);
        endpoint.bind(addresses);
        endpoint.enable();
        this.self = addresses.insert(endpoint.name());
    }

    private CompletionQueue openAs(CompletionQueueAttr attr) {
        CompletionQueue opened = domain.openCompletionQueue(attr);
        endpoint.bind(opened, Flags.TRANSMIT | Flags.RECV);
        return opened;
    }

    private CompletionQueue open() {
        // example: open
        CompletionQueue queue = domain.openCompletionQueue(new CompletionQueueAttr()
            .size(64)
            .format(CompletionFormat.TAGGED));
        endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
        // end
        return queue;
    }

    /** Two entries: the send's and the receive's. */
    void transfer(long length) {
        endpoint.trecv(memory.address(4096), 64, FabricAddress.ADDR_UNSPEC, TAG, 0, 1);
        endpoint.tsend(memory.address(), length, self, TAG, 2);
    }

    long read() {
        long sum = 0;
        // example: read
        UnsafeBuffer entries = new UnsafeBuffer(new byte[16 * CompletionFormat.TAGGED.entryLengthBytes()]);
        int count = queue.read(entries, 0, 16);
        for (int i = 0; i < count; i++) {
            int offset = i * CompletionFormat.TAGGED.entryLengthBytes();
            long opContext = entries.getLong(offset);
            long len = entries.getLong(offset + 16);
            sum += opContext + len;
        }
        // end
        return sum;
    }

    // example: poll
    private final CompletionHandler handler = this::onCompletion;

    int poll() {
        return queue.poll(handler, 16);
    }

    private void onCompletion(Completion completion) {
        bytes += completion.len();
    }
    // end

    // example: in-place
    private final CompletionBatch batch = new CompletionBatch();

    void readInPlace() {
        int count = queue.readInPlace(batch, 16);
        for (int i = 0; i < count; i++) {
            Completion completion = batch.entry(i);
            bytes += completion.len();
        }
        batch.release();
    }
    // end

    // example: errors
    private final CompletionError error = new CompletionError();

    String next() {
        int result = queue.poll(handler, 1);
        if (result == -FabricErrno.EAVAIL && queue.readErr(error, 0) == 1) {
            return "operation " + error.opContext() + ": " + FabricErrno.name(error.err());
        }
        return result > 0 ? "success" : FabricErrno.name(-result);
    }
    // end

    /** Posts until there is no room, twice. */
    int postAll(int receives) {
        // example: credit
        int posted = 0;
        while (posted < receives) {
            int result = endpoint.trecv(
                memory.address(64L * posted), 64, FabricAddress.ADDR_UNSPEC, TAG, 0, posted);
            if (result == -FabricErrno.EAGAIN) {
                break;
            }
            posted++;
        }
        // end
        return posted;
    }

    static Info unmanaged() {
        // example: unmanaged
        Info hints = new Info().caps(Flags.TAGGED);
        hints.domainAttr().resourceManagement(ResourceManagement.DISABLED);
        // end
        return hints;
    }

    static CompletionQueueAttr waiting() {
        // example: wait-open
        CompletionQueueAttr attr = new CompletionQueueAttr()
            .format(CompletionFormat.TAGGED)
            .waitObject(WaitObject.UNSPEC)
            .waitCondition(WaitCondition.THRESHOLD);
        // end
        return attr;
    }

    int sread() {
        UnsafeBuffer entries = new UnsafeBuffer(new byte[16 * CompletionFormat.TAGGED.entryLengthBytes()]);
        // example: sread
        int count = queue.sread(entries, 0, 16, 2, 1_000_000_000L);
        // end
        return count;
    }

    static CompletionQueueAttr selectable() {
        // example: fd-open
        CompletionQueueAttr attr = new CompletionQueueAttr().waitObject(WaitObject.FD);
        // end
        return attr;
    }

    int select(CompletionHandler handler) throws IOException {
        // example: select
        try (Selector selector = Selector.open()) {
            queue.channel().register(selector, SelectionKey.OP_READ);
            int seen = queue.poll(handler, 16);
            while (seen == -FabricErrno.EAGAIN) {
                if (queue.tryWait() == 0) {
                    selector.select(key -> { }, 1000);
                }
                seen = queue.poll(handler, 16);
            }
            return seen;
        }
        // end
    }

    static CompletionQueueAttr inSet(WaitSet waitSet) {
        // example: set-open
        CompletionQueueAttr attr = new CompletionQueueAttr().waitObject(WaitObject.SET).waitSetId(waitSet.id());
        // end
        return attr;
    }

    static WaitSet waitSet(Fabric fabric) {
        // example: wait-set
        WaitSet waitSet = fabric.openWaitSet(new WaitSetAttr().waitObject(WaitObject.UNSPEC));
        // end
        return waitSet;
    }

    int awaitSet(WaitSet waitSet, CompletionHandler handler) {
        // example: set-wait
        int result = waitSet.await(1_000_000_000L);
        while (result == 0 && queue.poll(handler, 16) == -FabricErrno.EAGAIN) {
            result = waitSet.await(1_000_000_000L);
        }
        // end
        return result;
    }

    long futures() {
        // example: futures
        try (CompletionDispatcher dispatcher = new CompletionDispatcher(queue)) {
            FutureEndpoint transfers = new FutureEndpoint(endpoint, dispatcher);
            CompletableFuture<CompletionRecord> received =
                transfers.trecv(memory.address(4096), 64, FabricAddress.ADDR_UNSPEC, TAG, 0);
            transfers.tsend(memory.address(), 40, self, TAG);
            return dispatcher.await(received, 1_000_000_000L).len();
        } catch (FabricException failed) {
            return -failed.errno();
        }
        // end
    }
}
