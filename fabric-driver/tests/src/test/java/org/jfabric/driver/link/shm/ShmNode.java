package org.jfabric.driver.link.shm;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.agrona.UnsafeApi;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ShmConfig;
import org.jfabric.driver.engine.AddressTable;
import org.jfabric.driver.engine.CompletionWriter;
import org.jfabric.driver.engine.EndpointSettings;
import org.jfabric.driver.engine.Engine;
import org.jfabric.driver.engine.EngineEndpoint;
import org.jfabric.driver.engine.EnginePassiveEndpoint;
import org.jfabric.driver.engine.EngineSession;
import org.jfabric.driver.engine.EngineSettings;
import org.jfabric.driver.engine.SessionListener;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.support.FabricName;
import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.ffi.MappedFile;
import org.jfabric.info.Flags;
import org.jfabric.layout.CompletionQueueDescriptor;
import org.jfabric.layout.FileHeaderDescriptor;
import org.jfabric.layout.FileType;
import org.jfabric.layout.MemoryRegionDescriptor;

/** An engine with one endpoint over a real shm link, and the completions that its client would read. */
final class ShmNode implements AutoCloseable {
    static final long TAGGED = Flags.TAGGED | Flags.COMPLETION;
    static final int MEMORY = 8 << 20;
    private static final int CQ_CAPACITY = 1024;
    private static final long GENERATION = 0x1234_5678_9abc_def1L;

    final TestLinkServices services;
    final Link link;
    final Engine engine;
    final EngineSession session;
    final AddressTable addresses = new AddressTable();
    final EngineEndpoint endpoint;
    final MappedFile regionFile;
    final long regionNumber;
    final long memory;
    final List<String> peersDown = new ArrayList<>();
    /** Events of the connections of this node's endpoints and passive endpoints, oldest first. */
    final List<String> connectionEvents = new ArrayList<>();
    long lastRequest;
    private final List<Region> addedRegions = new ArrayList<>();
    private final int region;
    private final CompletionWriter writer;
    private final long cq = UnsafeApi.allocateMemory(CompletionQueueDescriptor.fileLength(CQ_CAPACITY));
    private long read;

    /** One completion; err is 0 for success. */
    record Entry(long context, long flags, long length, long tag, long source, int err) {
    }

    ShmNode(Path base, String name) {
        this(base, name, ShmConfig.RING_LENGTH_BYTES.defaultValue());
    }

    ShmNode(Path base, String name, int ringLength) {
        this(base, name, ringLength, 256 << 10);
    }

    ShmNode(Path base, String name, int ringLength, int creditWindow) {
        services = new TestLinkServices(base, name);
        DriverConfig config = DriverConfig.builder().directory(base.resolve(name))
            .set(ShmConfig.RING_LENGTH_BYTES, ringLength).set(ShmConfig.SEGMENT_LENGTH_BYTES, ringLength / 8).build();
        link = new ShmLinkProvider().open(services, config);
        engine = new Engine(new EngineSettings(16 << 20, creditWindow, 64, 16), List.of(link), services::onError);
        session = new EngineSession(1, new SessionListener() {
            @Override
            public void onCorruption(long clientId, String reason) {
                throw new AssertionError(reason);
            }

            @Override
            public void onCompletionQueueOverrun(long clientId, long cqId) {
                throw new AssertionError("completion queue " + cqId + " overran");
            }

            @Override
            public void onPeerDown(
                long clientId, long endpointId, long fiAddr, int errno, int provErrno, String address) {
                peersDown.add(address + ' ' + errno);
            }

            @Override
            public void onConnectionRequest(
                long clientId, long passiveId, long requestId, String linkName, String address, byte[] cmData) {
                lastRequest = requestId;
                connectionEvents.add("request of " + address);
            }

            @Override
            public void onConnected(
                long clientId, long endpointId, String localAddress, String peerAddress, byte[] cmData) {
                connectionEvents.add("connected to " + peerAddress);
            }

            @Override
            public void onConnectionFailed(long clientId, long objectId, int errno, byte[] cmData) {
                connectionEvents.add("failed " + errno);
            }

            @Override
            public void onConnectionEnded(long clientId, long endpointId, int errno) {
                connectionEvents.add("ended " + errno);
            }
        });
        regionNumber = services.nextFileNumber();
        regionFile = MappedFile.create(
            services.directoryFd(),
            FileType.MEMORY_REGION.fileName(regionNumber),
            MemoryRegionDescriptor.DATA_OFFSET + (long) MEMORY);
        FileHeaderDescriptor.write(
            regionFile.buffer(0, 128), FileType.MEMORY_REGION, 0, services.ownerId(), GENERATION, MEMORY);
        memory = regionFile.address() + MemoryRegionDescriptor.DATA_OFFSET;
        region = session.regions().add(new RegisteredRegion(regionNumber, GENERATION, memory, MEMORY, () -> { }));
        UnsafeApi.setMemory(cq, CompletionQueueDescriptor.fileLength(CQ_CAPACITY), (byte) 0);
        writer = new CompletionWriter(cq, CQ_CAPACITY, null);
        engine.addCompletionQueue(writer);
        endpoint = addEndpoint(1, "ep");
    }

    /** Registered memory besides that of every node. */
    record Region(MappedFile file, long memory, int index) {
        long buf(long offset) {
            return MemoryRegionDescriptor.address(index, (int) GENERATION & 0xFF, offset);
        }
    }

    Region addRegion(long length) {
        long number = services.nextFileNumber();
        MappedFile file = MappedFile.create(services.directoryFd(), FileType.MEMORY_REGION.fileName(number),
            MemoryRegionDescriptor.DATA_OFFSET + length);
        FileHeaderDescriptor.write(
            file.buffer(0, 128), FileType.MEMORY_REGION, 0, services.ownerId(), GENERATION, length);
        long address = file.address() + MemoryRegionDescriptor.DATA_OFFSET;
        Region added = new Region(file, address,
            session.regions().add(new RegisteredRegion(number, GENERATION, address, length, () -> { })));
        addedRegions.add(added);
        return added;
    }

    /** One more endpoint, with the same completion queue and address vector. */
    EngineEndpoint addEndpoint(int id, String endpointName) {
        return engine.addEndpoint(
            session,
            new EndpointSettings(id, endpointName, FabricName.of(services.driverName(), endpointName), 0, 256, 256, 128,
                1L << 40, Flags.DIRECTED_RECV | Flags.SOURCE, 8192, false, new byte[0]),
            List.of(ShmLinkProvider.NAME),
            addresses,
            writer,
            writer);
    }

    /** A connection-oriented endpoint. */
    EngineEndpoint addConnecting(int id, String endpointName) {
        return engine.addEndpoint(
            session,
            new EndpointSettings(id, endpointName, FabricName.of(services.driverName(), endpointName), 0, 256, 256, 128,
                1L << 40, 0, 8192, false, new byte[0]).connectionOriented(),
            List.of(ShmLinkProvider.NAME),
            new AddressTable(),
            writer,
            writer);
    }

    /** A passive endpoint that listens. */
    EnginePassiveEndpoint listen(int id, String name, int backlog) {
        EnginePassiveEndpoint passive = engine.addPassiveEndpoint(session, id);
        passive.listen(List.of(link), FabricName.of(services.driverName(), name), null, new byte[0], backlog,
            new EnginePassiveEndpoint.Listening() {
                @Override
                public void onListening(String address) {
                    connectionEvents.add("listening at " + address);
                }

                @Override
                public void onFailed(int errno) {
                    connectionEvents.add("not listening " + errno);
                }
            });
        return passive;
    }

    static String address(String driver) {
        return FabricName.of(driver, "ep");
    }

    long buf(long offset) {
        return MemoryRegionDescriptor.address(region, (int) GENERATION & 0xFF, offset);
    }

    int step() {
        try {
            if (engine.takeFault() != null) {
                engine.recover(List.of(session));
            }
            return services.step(link) + engine.poll(64);
        } catch (InternalError ex) {
            engine.fault(ex);
            return 1;
        }
    }

    /** The next completion, or null. */
    Entry poll() {
        long record = cq + CompletionQueueDescriptor.RECORDS_OFFSET + (read & (CQ_CAPACITY - 1)) * 64;
        long word = UnsafeApi.getLongAcquire(null, record);
        if ((int) word != (int) (read + 1)) {
            return null;
        }
        boolean failed = (int) (word >>> 48 & 0xFF) == CompletionQueueDescriptor.KIND_ERROR;
        long cell = cq + CompletionQueueDescriptor.errorCellsOffset(CQ_CAPACITY) + (read & (CQ_CAPACITY - 1)) * 128;
        Entry entry = new Entry(
            UnsafeApi.getLong(record + 8),
            UnsafeApi.getLong(record + 16),
            UnsafeApi.getLong(record + 24),
            UnsafeApi.getLong(record + 48),
            UnsafeApi.getLong(record + 56),
            failed ? UnsafeApi.getInt(cell + 8) : 0);
        read++;
        UnsafeApi.putLongRelease(null, cq + CompletionQueueDescriptor.READ_POSITION_OFFSET, read);
        return entry;
    }

    void fill(long offset, int length, int seed) {
        for (int i = 0; i < length; i++) {
            UnsafeApi.putByte(memory + offset + i, (byte) (seed + i * 7 + (i >> 8)));
        }
    }

    boolean isFilled(long offset, int length, int seed) {
        for (int i = 0; i < length; i++) {
            if (UnsafeApi.getByte(memory + offset + i) != (byte) (seed + i * 7 + (i >> 8))) {
                return false;
            }
        }
        return true;
    }

    @Override
    public void close() {
        engine.close();
        services.close();
        regionFile.close();
        addedRegions.forEach(added -> added.file.close());
        UnsafeApi.freeMemory(cq);
    }
}
