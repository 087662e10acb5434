package org.jfabric.driver.conductor;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jfabric.codec.control.Done;
import org.jfabric.codec.control.EnableRegion;
import org.jfabric.driver.engine.CounterWriter;
import org.jfabric.driver.resource.RegionBinding;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * {@code fi_mr_enable}, with the {@code fi_mr_bind} that the client called before it. The counters may be closed later:
 * {@link CloseObjectCommand} takes them out of the region on the progress thread before their memory goes. Owner:
 * conductor.
 */
final class EnableRegionCommand extends Command {
    private final EnableRegion message;
    private final long[] endpointIds;
    private boolean bound;

    EnableRegionCommand(CommandRequest request, EnableRegion message) {
        super(request);
        this.message = message;
        endpointIds = endpointIds(message.endpointIds());
    }

    private static long[] endpointIds(byte[] bytes) {
        if (bytes.length % Long.BYTES != 0) {
            throw new FabricException(FabricErrno.EINVAL,
                "the ids of endpoints are " + bytes.length + " bytes", "Send 8 bytes for each.");
        }
        long[] ids = new long[bytes.length / Long.BYTES];
        ByteBuffer.wrap(bytes).order(LITTLE_ENDIAN).asLongBuffer().get(ids);
        return ids;
    }

    @Override
    protected Step step(long nowNs) {
        if (bound) {
            return answer(new Done(correlationId()));
        }
        bound = true;
        RegionResource region = region();
        for (long id : endpointIds) {
            session().requireEndpoint(id);
        }
        CounterResource reads = counter(message.readCounterId());
        CounterResource writes = counter(message.writeCounterId());
        keep(reads, region);
        keep(writes, region);
        RegionBinding[] bindings = new RegionBinding[context().threads().count()];
        Arrays.setAll(bindings, thread -> new RegionBinding(
            writer(reads, thread), writer(writes, thread), endpointIds.length == 0 ? null : endpointIds));
        // queued in this step, and so before the change of a later command that closes a counter
        onThreads(thread -> {
            if (region.copy(thread).binding() != RegionBinding.DISABLED) {
                throw new FabricException(FabricErrno.EOPBADSTATE,
                    "region " + message.regionIndex() + " is enabled already",
                    "Enable a region once, and only one that was registered with FI_RMA_EVENT.");
            }
            region.copy(thread).bind(bindings[thread]);
        });
        return Step.AGAIN;
    }

    private RegionResource region() {
        RegionResource region = session().regions().get(message.regionIndex());
        if (region == null) {
            throw new FabricException(
                FabricErrno.EINVAL, "region " + message.regionIndex() + " is not open", "Enable it before its close.");
        }
        return region;
    }

    private CounterResource counter(long id) {
        CounterResource counter = session().counters().get(id);
        if (counter == null && id != 0) {
            throw new FabricException(FabricErrno.EINVAL,
                "counter " + id + ", bound to region " + message.regionIndex() + ", is not open",
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
