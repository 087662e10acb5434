package org.jfabric.driver.engine;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.client.WorkRequest;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ShmConfig;
import org.jfabric.driver.engine.late.LateFault;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.loopback.LoopbackLinkProvider;
import org.jfabric.driver.link.scripted.Script;
import org.jfabric.driver.link.scripted.StepServices;
import org.jfabric.driver.link.shm.ShmLinkProvider;
import org.jfabric.driver.link.shm.TestLinkServices;
import org.jfabric.driver.link.support.FabricName;
import org.jfabric.driver.resource.RegionKey;
import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.info.Flags;
import org.jfabric.layout.MemoryRegionDescriptor;
import org.jfabric.test.TestDirectory;

/**
 * Endpoints on one thread that access each other's memory: clients of one engine over loopback, or each with an engine
 * and a real shm link of its own.
 */
final class RemoteRig implements AutoCloseable {
    static final int MEMORY = 1 << 19;
    static final long BOTH = Flags.REMOTE_READ | Flags.REMOTE_WRITE;
    static final byte UNTOUCHED = 0x5C;
    private static final int RING = 64 << 10;
    private static final int SEGMENT = 8 << 10;

    final List<Node> nodes = new ArrayList<>();
    final List<Throwable> errors = new ArrayList<>();
    private final boolean isShm;
    private final long caps;
    private final boolean isStrict;
    private final int driverShare;
    private final Path base;
    private Driver shared;

    RemoteRig(boolean isShm, long moreCaps, boolean isStrict, int driverShare) {
        this.isShm = isShm;
        this.caps = Flags.SOURCE | Flags.RMA | moreCaps;
        this.isStrict = isStrict;
        this.driverShare = driverShare;
        base = isShm ? TestDirectory.create() : null;
    }

    /** An engine with its link. */
    final class Driver {
        final TestLinkServices services;
        final Link link;
        final Engine engine;

        Driver(String name) {
            if (isShm) {
                services = new TestLinkServices(privateBase(), name);
                link = new ShmLinkProvider().open(services, DriverConfig.builder().directory(base.resolve(name))
                    .set(ShmConfig.RING_LENGTH_BYTES, RING).set(ShmConfig.SEGMENT_LENGTH_BYTES, SEGMENT).build());
            } else {
                services = null;
                link = new LoopbackLinkProvider().open(
                    new StepServices(new Script(1)), DriverConfig.builder().directory(Path.of("/tmp/rig")).build());
            }
            engine = new Engine(new EngineSettings(1 << 20, 1 << 14, 4, 4), List.of(link), errors::add);
        }

        /** As the progress agent does: a fault ends the cycle, the next one begins with the recovery. */
        void step() {
            try {
                if (engine.takeFault() != null) {
                    engine.recover(
                        nodes.stream().filter(node -> node.driver == this).map(node -> node.session).toList());
                }
                if (services != null) {
                    services.step(link);
                }
                engine.poll(16);
                LateFault.onFaultPoint();
            } catch (InternalError e) {
                engine.fault(e);
            }
        }

        private Path privateBase() {
            try {
                return Files.setPosixFilePermissions(base, PosixFilePermissions.fromString("rwx------"));
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }
    }

    /** A client with one endpoint and one region for its own use. */
    final class Node {
        final Driver driver;
        final String address;
        final CompletionReader completions = new CompletionReader(1024, driverShare);
        final AddressTable addresses = new AddressTable();
        final EngineSession session = new EngineSession(7, new Silent());
        final long memory = UnsafeApi.allocateMemory(MEMORY);
        final int index;
        final List<Long> allocated = new ArrayList<>();
        final EngineEndpoint endpoint;

        private Node(String name, int txSize) {
            driver = isShm ? new Driver(name) : shared();
            address = FabricName.of(isShm ? name : "rig", name);
            index = session.regions().add(new RegisteredRegion(1, 0x1_0000_0042L, memory, MEMORY, () -> { }));
            driver.engine.addCompletionQueue(completions.writer);
            endpoint = driver.engine.addEndpoint(
                session,
                new EndpointSettings(3, name, address, 0, txSize, 64, 64, MEMORY, caps, 8192, false, new byte[0])
                    .strict(isStrict, isStrict),
                List.of(isShm ? ShmLinkProvider.NAME : LoopbackLinkProvider.NAME), addresses, completions.writer,
                completions.writer);
        }

        void closeEndpoint() {
            driver.engine.removeEndpoint(endpoint);
        }

        long to(Node other) {
            return addresses.insert(other.address);
        }

        long buf(long offset) {
            return MemoryRegionDescriptor.address(index, 0x42, offset);
        }

        /** A region that peers may access, filled with {@link #UNTOUCHED}. */
        Exposed expose(long key, int length) {
            long place = UnsafeApi.allocateMemory(length);
            allocated.add(place);
            UnsafeApi.setMemory(place, length, UNTOUCHED);
            int at = session.regions().add(new RegisteredRegion(
                2, 0x1_0000_0043L, place, length, new RegionKey(0, key, BOTH), () -> { }));
            return new Exposed(this, key, place, length, at);
        }

        void write(long offset, int value) {
            UnsafeApi.putByte(memory + offset, (byte) value);
        }

        int access(long flags, long offset, long length, long to, long remote, long key, long data, long context) {
            return access(flags, new long[] {buf(offset), length}, to, remote, key, data, context);
        }

        int access(long flags, long[] pieces, long to, long remote, long key, long data, long context) {
            WorkRequest work = request(flags, to, remote, key, data, context);
            System.arraycopy(pieces, 0, work.pieces, 0, pieces.length);
            work.count = pieces.length / 2;
            return endpoint.post(work);
        }

        int inject(long flags, long offset, int length, long to, long remote, long key, long data, long context) {
            WorkRequest work = request(flags | Flags.INJECT, to, remote, key, data, context);
            work.inject(memory + offset, length);
            return endpoint.post(work);
        }

        private static WorkRequest request(long flags, long to, long remote, long key, long data, long context) {
            WorkRequest work = new WorkRequest().begin(WorkRequest.ACCESS);
            work.flags = Flags.RMA | Flags.COMPLETION | flags;
            work.address = to;
            work.remoteAddr = remote;
            work.key = key;
            work.data = data;
            work.context = context;
            return work;
        }
    }

    /** A region that peers access. */
    record Exposed(Node owner, long key, long address, int length, int index) {
        void close() {
            owner.session.regions().close(index);
        }

        byte[] bytes(int from, int count) {
            byte[] bytes = new byte[count];
            new UnsafeBuffer(address + from, count).getBytes(0, bytes);
            return bytes;
        }
    }

    private static final class Silent extends SessionListener {
        @Override
        public void onCorruption(long clientId, String reason) {
            throw new AssertionError(reason);
        }

        @Override
        public void onCompletionQueueOverrun(long clientId, long cqId) {
            throw new AssertionError("completion queue " + cqId + " overran");
        }

        @Override
        public void onPeerDown(long clientId, long endpointId, long fiAddr, int errno, int provErrno, String peer) {
        }
    }

    private Driver shared() {
        if (shared == null) {
            shared = new Driver("rig");
        }
        return shared;
    }

    Node add(String name) {
        return add(name, 16);
    }

    /** With so many operations outstanding at most. */
    Node add(String name, int txSize) {
        Node node = new Node(name, txSize);
        nodes.add(node);
        return node;
    }

    /** One cycle of that node's driver. */
    void step(Node node) {
        node.driver.step();
    }

    void steps(int count) {
        for (int i = 0; i < count; i++) {
            nodes.forEach(this::step);
        }
    }

    /** What the drivers have logged, those of the links too. */
    List<Throwable> logged() {
        List<Throwable> all = new ArrayList<>(errors);
        nodes.stream().filter(node -> node.driver.services != null).forEach(
            node -> all.addAll(node.driver.services.errors));
        return all;
    }

    @Override
    public void close() {
        for (Node node : nodes) {
            node.driver.engine.closeSession(node.session);
        }
        for (Node node : nodes) {
            if (node.driver.services != null) {
                node.driver.link.close();
                node.driver.services.close();
            }
            node.completions.free();
            UnsafeApi.freeMemory(node.memory);
            node.allocated.forEach(UnsafeApi::freeMemory);
        }
        if (base != null) {
            TestDirectory.delete(base);
        }
    }
}
