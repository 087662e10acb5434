package org.jfabric.driver.conductor;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.codec.control.EnableRegionDecoder;
import org.jfabric.driver.engine.CounterWriter;
import org.jfabric.driver.resource.RegionBinding;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

import java.util.Arrays;

/**
 * {@code fi_mr_enable}, with the {@code fi_mr_bind} that the client called before it. The counters may be closed later:
 * {@link CloseObjectCommand} takes them out of the region on the progress thread before their memory goes. Owner:
 * conductor.
 */
final class EnableRegionCommand extends Command {
    private final int regionIndex;
    private final long readCounterId;
    private final long writeCounterId;
    private final long[] endpointIds;
    private boolean bound;

    /**
     * Decodes the command.
     *
     * @param request as it arrived; not kept.
     */
    EnableRegionCommand(CommandRequest request) {
        super(request);
        EnableRegionDecoder decoder = new EnableRegionDecoder().wrap(
            request.body(), 0, EnableRegionDecoder.BLOCK_LENGTH, EnableRegionDecoder.SCHEMA_VERSION);
        regionIndex = decoder.regionIndex();
        readCounterId = decoder.readCounterId();
        writeCounterId = decoder.writeCounterId();
        UnsafeBuffer ids = new UnsafeBuffer();
        decoder.wrapEndpointIds(ids);
        endpointIds = endpointIds(ids);
    }

    private static long[] endpointIds(DirectBuffer bytes) {
        if (bytes.capacity() % Long.BYTES != 0) {
            throw new FabricException(FabricErrno.EINVAL,
                "the ids of endpoints are " + bytes.capacity() + " bytes", "Send 8 bytes for each.");
        }
        long[] ids = new long[bytes.capacity() / Long.BYTES];
        for (int i = 0; i < ids.length; i++) {
            ids[i] = bytes.getLong(i * Long.BYTES, LITTLE_ENDIAN);
        }
        return ids;
    }

    @Override
    protected Step step(long nowNs) {
        if (bound) {
            session().proxy().done(correlationId());
            return Step.ENDED;
        }
        bound = true;
        RegionResource region = region();
        for (long id : endpointIds) {
            session().requireEndpoint(id);
        }
        CounterResource reads = counter(readCounterId);
        CounterResource writes = counter(writeCounterId);
        keep(reads, region);
        keep(writes, region);
        RegionBinding[] bindings = new RegionBinding[context().threads().count()];
        Arrays.setAll(bindings, thread -> new RegionBinding(
            writer(reads, thread), writer(writes, thread), endpointIds.length == 0 ? null : endpointIds));
        // queued in this step, and so before the change of a later command that closes a counter
        onThreads(thread -> {
            if (region.copy(thread).binding() != RegionBinding.DISABLED) {
                throw new FabricException(FabricErrno.EOPBADSTATE, "region " + regionIndex + " is enabled already",
                    "Enable a region once, and only one that was registered with FI_RMA_EVENT.");
            }
            region.copy(thread).bind(bindings[thread]);
        });
        return Step.AGAIN;
    }

    private RegionResource region() {
        RegionResource region = session().regions().get(regionIndex);
        if (region == null) {
            throw new FabricException(
                FabricErrno.EINVAL, "region " + regionIndex + " is not open", "Enable it before its close.");
        }
        return region;
    }

    private CounterResource counter(long id) {
        CounterResource counter = session().counters().get(id);
        if (counter == null && id != 0) {
            throw new FabricException(FabricErrno.EINVAL,
                "counter " + id + ", bound to region " + regionIndex + ", is not open",
                "Bind an open counter of this client.");
        }
        return counter;
    }

    private static void keep(CounterResource counter, RegionResource region) {
        if (counter != null) {
            counter.regions().add(region);
        }
    }

    private static CounterWriter writer(CounterResource counter, int thread) {
        return counter == null ? null : counter.writer(thread);
    }
}
