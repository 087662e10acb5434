package org.jfabric.perf.compare;

import org.agrona.BitUtil;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.AtomicRequest;
import org.jfabric.Completion;
import org.jfabric.CompletionError;
import org.jfabric.CompletionHandler;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.MemoryRegion;
import org.jfabric.MemoryRegionAttr;
import org.jfabric.RemoteMemory;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.info.AtomicDatatype;
import org.jfabric.info.AtomicOperation;
import org.jfabric.info.EndpointType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.tool.PingPongContents;
import org.jfabric.tool.ToolException;

/**
 * One of two processes with a driver each in mode INVOKER, over the link shm, that access each other's memory. A write
 * that may be injected is injected, so that no entry follows, as {@code ucx_perftest} needs none; all other operations
 * have an entry, which is read. The side that is accessed polls its queue, because its driver has no thread.
 *
 * <pre>
 *   a side's region:  payload | stop: the other side's passes that have ended | ready, taken: contents to compare
 * </pre>
 */
final class RemoteSide implements Side, CompletionHandler {
    private static final String LINK = "shm";
    private static final long KEY = 1;
    private static final int QUEUE_SIZE = 64;
    private static final int POLL_LIMIT = 16;
    private static final int CHUNK = 64;
    private static final int LINE = 64;

    private final SideSettings settings;
    private final InvokedEndpoint own;
    private final Domain domain;
    private final CompletionQueue queue;
    private final Endpoint endpoint;
    private final RemoteMemory remote;
    /** Bytes of the payload: a put ends with a counter of 8 bytes. */
    private final int sizeBytes;
    private final int stop;
    private final int ready;
    private final int taken;
    private final MemoryRegion memory;
    private final UnsafeBuffer seen;
    private final MemoryRegion local;
    private final UnsafeBuffer source;
    private final boolean injected;
    private final AtomicRequest add = new AtomicRequest();
    private long peer;
    private long puts;
    private long passes;
    private long underWay;

    /** Starts the driver. */
    RemoteSide(SideSettings settings) {
        this.settings = settings;
        sizeBytes = Math.max(Long.BYTES, settings.sizeBytes());
        stop = BitUtil.align(sizeBytes, LINE);
        ready = stop + LINE;
        taken = ready + LINE;
        Info hints = new Info().caps(Flags.RMA | Flags.ATOMIC).linkName(LINK);
        hints.epAttr().type(EndpointType.RDM);
        own = new InvokedEndpoint(DriverConfig.builder().directory(settings.ownDirectory()), hints, QUEUE_SIZE);
        domain = own.domain;
        queue = own.queue;
        memory = domain.allocate(taken + LINE,
            new MemoryRegionAttr().access(Flags.REMOTE_READ | Flags.REMOTE_WRITE).requestedKey(KEY));
        seen = memory.buffer();
        local = domain.allocate(taken + LINE);
        source = local.buffer();
        endpoint = own.endpoint;
        endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
        own.enable(settings.role().text());
        remote = endpoint.remoteMemory();
        injected = sizeBytes <= endpoint.injectSize();
    }

    @Override
    public void connect() {
        peer = own.peer(settings.other().text(), settings.other().text());
        add.operation(AtomicOperation.SUM, AtomicDatatype.INT64, 1)
            .operands(local.address(stop)).results(local.address(ready)).destAddr(peer).remote(0, KEY);
    }

    @Override
    public void cycle() {
        poll();
    }

    @Override
    public void arm(Pass pass) {
        passes++;
    }

    @Override
    public long run(Pass pass, long count) {
        if (settings.role() == SideRole.PONG) {
            return answer(pass, count);
        }
        passes++;
        long begin = System.nanoTime();
        long compared = 0;
        switch (pass) {
            case PUT -> inChunks(count, this::putAndAwait);
            case PUT_STREAM -> inChunks(count, this::stream);
            case GET -> inChunks(count, this::get);
            case FETCH_ADD -> fetchAdd(count);
            case VERIFY -> compared = verify(count);
            default -> throw new IllegalArgumentException(pass.name());
        }
        drain();
        long elapsedNs = System.nanoTime() - begin;
        if (pass != Pass.PUT && pass != Pass.VERIFY) {
            signal(stop, passes);
        }
        return pass == Pass.VERIFY ? compared : elapsedNs;
    }

    private long answer(Pass pass, long count) {
        switch (pass) {
            case PUT -> inChunks(count, this::awaitAndPut);
            case VERIFY -> {
                return compare(count);
            }
            default -> await(stop, passes);
        }
        drain();
        return 0;
    }

    /** The loop of a pass is compiled as a method of its own. */
    private interface Chunk {
        void run(int count);
    }

    private static void inChunks(long count, Chunk chunk) {
        for (long done = 0; done < count; done += CHUNK) {
            chunk.run((int) Math.min(CHUNK, count - done));
        }
    }

    private void putAndAwait(int count) {
        int counter = sizeBytes - Long.BYTES;
        for (int i = 0; i < count; i++) {
            source.putLong(counter, ++puts);
            put();
            await(counter, puts);
        }
    }

    private void awaitAndPut(int count) {
        int counter = sizeBytes - Long.BYTES;
        for (int i = 0; i < count; i++) {
            await(counter, ++puts);
            source.putLong(counter, puts);
            put();
        }
    }

    /** The bytes of an earlier write may be changed, because its entry was read. */
    private void put() {
        if (!injected) {
            drain();
        }
        write();
    }

    private void stream(int count) {
        for (int i = 0; i < count; i++) {
            while (underWay >= SideSettings.WINDOW) {
                poll();
            }
            write();
        }
    }

    private void write() {
        int result;
        do {
            result = injected ? remote.injectWrite(source, 0, sizeBytes, peer, 0, KEY)
                : remote.write(local.address(0), sizeBytes, peer, 0, KEY, 0);
        } while (isAgain(result));
        underWay += injected ? 0 : 1;
    }

    private void get(int count) {
        for (int i = 0; i < count; i++) {
            read(local.address(0));
        }
    }

    private void read(long address) {
        int result;
        do {
            result = remote.read(address, sizeBytes, peer, 0, KEY, 0);
        } while (isAgain(result));
        underWay++;
        drain();
    }

    private void fetchAdd(long count) {
        source.putLong(stop, 1);
        inChunks(1, this::fetchAndAdd);
        long first = source.getLong(ready);
        inChunks(count, this::fetchAndAdd);
        if (source.getLong(ready) != first + count) {
            throw new ToolException("After " + count + " fetch-and-add operations the word has grown by "
                + (source.getLong(ready) - first) + "; this is a defect of JFabric, please report it.");
        }
    }

    private void fetchAndAdd(int count) {
        for (int i = 0; i < count; i++) {
            int result;
            do {
                result = endpoint.atomics().fetchAtomicmsg(add);
            } while (isAgain(result));
            underWay++;
            drain();
        }
    }

    /** Writes contents, reads them back, and has the other side compare them as well. */
    private long verify(long count) {
        MemoryRegion back = domain.allocate(sizeBytes);
        for (long i = 1; i <= count; i++) {
            PingPongContents.fill(local.segment(), sizeBytes, i);
            write();
            drain();
            read(back.address());
            check(PingPongContents.mismatch(back.segment(), sizeBytes, i), i);
            signal(ready, i);
            await(taken, i);
        }
        signal(ready, 0);
        await(taken, 0);
        back.close();
        return count;
    }

    private long compare(long count) {
        for (long i = 1; i <= count; i++) {
            await(ready, i);
            check(PingPongContents.mismatch(memory.segment(), sizeBytes, i), i);
            signal(taken, i);
        }
        await(ready, 0);
        signal(taken, 0);
        return count;
    }

    private static void check(long position, long message) {
        if (position >= 0) {
            throw new ToolException("Byte " + position + " of access " + message
                + " is not as written; this is a defect of JFabric, please report it.");
        }
    }

    /** Writes a word of the other side's memory. */
    private void signal(int offset, long value) {
        source.putLong(offset, value);
        int result;
        do {
            result = remote.injectWrite(source, offset, Long.BYTES, peer, offset, KEY);
        } while (isAgain(result));
        // the connection carries it without further calls, unless it waits
        poll();
    }

    private void await(int offset, long value) {
        while (seen.getLongVolatile(offset) != value) {
            poll();
        }
    }

    private void drain() {
        while (underWay > 0) {
            poll();
        }
    }

    private boolean isAgain(int result) {
        if (result == -FabricErrno.EAGAIN) {
            poll();
            return true;
        }
        check(result);
        return false;
    }

    private void poll() {
        int result = queue.poll(this, POLL_LIMIT);
        if (result == -FabricErrno.EAVAIL) {
            CompletionError error = new CompletionError();
            queue.readErr(error, 0);
            throw new ToolException("A remote access failed with " + FabricErrno.name(error.err()) + '.');
        }
        if (result != -FabricErrno.EAGAIN) {
            check(result);
        }
    }

    private static void check(int result) {
        if (result < 0) {
            throw new ToolException("A remote access was refused with " + FabricErrno.name(-result) + '.');
        }
    }

    @Override
    public void onCompletion(Completion completion) {
        underWay--;
    }

    @Override
    public void close() {
        own.close();
    }
}
