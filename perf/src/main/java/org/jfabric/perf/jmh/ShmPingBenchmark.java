package org.jfabric.perf.jmh;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.jfabric.AddressVector;
import org.jfabric.Completion;
import org.jfabric.CompletionHandler;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.Fabric;
import org.jfabric.MemoryRegion;
import org.jfabric.MessageHandler;
import org.jfabric.RecvContext;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Mode;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * A message over the link shm through the public API: two embedded drivers in mode INVOKER, both run by one thread, so
 * all instructions of the way and no transfer of cache lines. Successful sends have no entries.
 */
@State(Scope.Thread)
@BenchmarkMode(org.openjdk.jmh.annotations.Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class ShmPingBenchmark {
    private static final int LIMIT = 4;
    private static final int QUEUE_SIZE = 64;
    private static final long TAG = 7;
    private static final long MAX_BYTES = 4096;
    /** Room for many messages in one receive; there are two, so that one is always posted. */
    private static final long MULTI_BYTES = 128 << 10;

    /** Payload in bytes. */
    @Param({"8", "64", "4096"})
    public int sizeBytes;

    private BenchmarkDirectory directory;
    private FabricDriver sendingDriver;
    private FabricDriver receivingDriver;
    private Node sender;
    private Node receiver;
    private Node inPlace;
    private Node lent;
    private Node packed;
    private long toReceiver;
    private long toInPlace;
    private long toLent;
    private long toPacked;

    /** Creates the state; {@link #open()} opens the endpoints. */
    public ShmPingBenchmark() {
    }

    /**
     * Opens both drivers, and sends a message to each endpoint.
     *
     * @throws IOException if the drivers' folder cannot be made.
     */
    @Setup(Level.Trial)
    public void open() throws IOException {
        directory = new BenchmarkDirectory();
        sendingDriver = launch("sending");
        receivingDriver = launch("receiving");
        sender = new Node(sendingDriver.fabric(), new Info(), 0);
        receiver = new Node(receivingDriver.fabric(), new Info(), 0);
        inPlace = new Node(receivingDriver.fabric(), new Info().mode(Mode.BUFFERED_RECV), 0);
        lent = new Node(receivingDriver.fabric(), new Info().mode(Mode.BUFFERED_RECV), 0);
        packed = new Node(receivingDriver.fabric(), new Info(), Flags.MULTI_RECV);
        packed.postMulti(0);
        packed.postMulti(1);
        toReceiver = sender.addresses.insert(receiver.endpoint.name());
        toInPlace = sender.addresses.insert(inPlace.endpoint.name());
        toLent = sender.addresses.insert(lent.endpoint.name());
        toPacked = sender.addresses.insert(packed.endpoint.name());
        tagged();
        lookedAtInPlace();
        lentFromTheRing();
        packedInMultiReceive();
    }

    private FabricDriver launch(String name) {
        return FabricDriver.launchEmbedded(DriverConfig.builder()
            .directory(directory.path().resolve(name)).threadingMode(ThreadingMode.INVOKER).build());
    }

    @TearDown(Level.Trial)
    public void close() {
        sendingDriver.fabric().close();
        receivingDriver.fabric().close();
        sendingDriver.close();
        receivingDriver.close();
        directory.close();
    }

    /** A receive, a send of the other driver, the receive's entry. */
    @Benchmark
    public long tagged() {
        check(receiver.endpoint.trecv(
            receiver.memory.address(), sizeBytes, FabricAddress.ADDR_UNSPEC, TAG, 0, 1));
        int result;
        while ((result = sender.endpoint.tsend(sender.memory.address(), sizeBytes, toReceiver, TAG, 2))
            == -FabricErrno.EAGAIN) {
            sender.poll();
        }
        check(result);
        return await(receiver);
    }

    /**
     * A send of the other driver to an endpoint with buffered receives; the message is read where the driver put it,
     * and released.
     */
    @Benchmark
    public long lookedAtInPlace() {
        send(toInPlace);
        return await(inPlace);
    }

    /** A send of the other driver to an endpoint with buffered receives; the message is read in place in the ring. */
    @Benchmark
    public long lentFromTheRing() {
        send(toLent);
        long before = lent.seen;
        for (;;) {
            lent.pollMessages();
            if (lent.seen != before) {
                return lent.seen;
            }
            sender.poll();
        }
    }

    /** A send of the other driver to an endpoint with multi-receive buffers, and the entry that says where it is. */
    @Benchmark
    public long packedInMultiReceive() {
        send(toPacked);
        return await(packed);
    }

    private void send(long destination) {
        int result;
        while ((result = sender.endpoint.send(sender.memory.address(), sizeBytes, destination, 2))
            == -FabricErrno.EAGAIN) {
            sender.poll();
        }
        check(result);
    }

    /** A poll that finds nothing, with the duty cycle that it runs. */
    @Benchmark
    public int pollEmpty() {
        return receiver.poll();
    }

    private long await(Node node) {
        long before = node.seen;
        for (;;) {
            node.poll();
            if (node.seen != before) {
                return node.seen;
            }
            // only while the connection is made
            sender.poll();
        }
    }

    private static void check(int result) {
        if (result != 0) {
            throw new IllegalStateException("a call answered " + result);
        }
    }

    /** An endpoint with a queue, addresses and memory of its own. */
    private static final class Node implements CompletionHandler, MessageHandler {
        private final CompletionQueue queue;
        private final AddressVector addresses;
        private final MemoryRegion memory;
        private final Endpoint endpoint;
        private long seen;
        private long sum;

        Node(Fabric fabric, Info hints, long multi) {
            hints.rxAttr().opFlags(multi);
            Info info = fabric.info(hints.caps(Flags.TAGGED | Flags.MSG | multi).linkName("shm")).best();
            Domain domain = fabric.domain(info);
            queue = domain.openCompletionQueue(new CompletionQueueAttr().size(QUEUE_SIZE));
            addresses = domain.openAddressVector(new AddressVectorAttr());
            memory = domain.allocate(multi == 0 ? MAX_BYTES : 2 * MULTI_BYTES);
            endpoint = domain.openEndpoint(info);
            endpoint.bind(queue, Flags.RECV);
            endpoint.bind(queue, Flags.TRANSMIT | Flags.SELECTIVE_COMPLETION);
            endpoint.bind(addresses);
            endpoint.enable();
        }

        void postMulti(long buffer) {
            check(endpoint.recv(
                memory.address(buffer * MULTI_BYTES), MULTI_BYTES, FabricAddress.ADDR_UNSPEC, buffer));
        }

        int poll() {
            return queue.poll(this, LIMIT);
        }

        int pollMessages() {
            return queue.pollMessages(this, this, LIMIT);
        }

        @Override
        public void onMessage(RecvContext message) {
            sum += message.buffer().getByte(0);
            seen++;
        }

        @Override
        public void onCompletion(Completion completion) {
            if (completion.flags() == Flags.MULTI_RECV) {
                postMulti(completion.opContext());
                return;
            }
            RecvContext message = queue.recvContext(completion);
            if (message != null) {
                sum += message.buffer().getByte(0);
            }
            seen++;
        }
    }
}
