package org.jfabric.driver.conductor;

import java.util.List;
import org.jfabric.codec.control.RegisterRegionDecoder;
import org.jfabric.driver.resource.RegionBinding;
import org.jfabric.driver.resource.RegionKey;
import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.driver.resource.ResourceTask;
import org.jfabric.driver.resource.SharedFile;
import org.jfabric.driver.resource.SharedFiles;
import org.jfabric.driver.resource.SystemCounter;
import org.jfabric.info.Codes;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.layout.MemoryRegionDescriptor;

/**
 * {@code fi_mr_reg}: creates a file for the region and reserves its blocks, or registers memory of the embedding
 * process in place. Owner: conductor.
 */
final class RegisterRegionCommand extends Command {
    private enum State {
        CHECK,
        MADE,
        ADDED
    }

    private static final long REMOTE_ACCESS = Flags.REMOTE_READ | Flags.REMOTE_WRITE;

    private final long length;
    private final long flags;
    private final RegionKey key;
    private final long nativeAddress;
    private State state = State.CHECK;
    private SharedFile file;
    private RegisteredRegion region;
    private int index;

    /**
     * Decodes the command.
     *
     * @param request as it arrived; not kept.
     */
    RegisterRegionCommand(CommandRequest request) {
        super(request);
        RegisterRegionDecoder decoder = new RegisterRegionDecoder().wrap(
            request.body(), 0, RegisterRegionDecoder.BLOCK_LENGTH, RegisterRegionDecoder.SCHEMA_VERSION);
        length = decoder.length();
        flags = decoder.flags();
        key = new RegionKey(decoder.domain(), decoder.requestedKey(), decoder.access() & REMOTE_ACCESS);
        nativeAddress = decoder.nativeAddress();
    }

    @Override
    protected Step step(long nowNs) {
        switch (state) {
            case CHECK -> {
                check();
                state = State.MADE;
                if (nativeAddress == 0) {
                    background(this::make, length);
                }
            }
            case MADE -> {
                region = region();
                state = State.ADDED;
                onProgress(this::add);
            }
            default -> {
                RegionResource resource = new RegionResource(index, region, file);
                session().regions().put(index, resource);
                context().counters().add(SystemCounter.REGIONS, 1);
                session().proxy().regionReady(correlationId(), resource);
                return Step.ENDED;
            }
        }
        return Step.AGAIN;
    }

    @Override
    protected void undo() {
        if (file != null) {
            file.delete();
            unmapAfterwards(List.of(file));
        }
    }

    private void check() {
        if (length < 1 || length > MemoryRegionDescriptor.MAX_LENGTH) {
            throw new FabricException(FabricErrno.EINVAL,
                "a region of " + Long.toUnsignedString(length) + " bytes, allowed are 1 to "
                    + MemoryRegionDescriptor.MAX_LENGTH, "Register several smaller regions.");
        }
        if ((flags & ~Flags.RMA_EVENT) != 0) {
            throw new FabricException(FabricErrno.EBADFLAGS,
                "flags 0x" + Long.toHexString(flags) + " of a region, known is FI_RMA_EVENT",
                "Register it without flags, or with FI_RMA_EVENT to bind it.");
        }
        if (nativeAddress != 0 && !session().isEmbedded()) {
            throw new FabricException(FabricErrno.EINVAL,
                "memory at address 0x" + Long.toHexString(nativeAddress) + " cannot be registered with a driver that "
                    + "does not run in this process in INVOKER mode",
                "Let the driver allocate the region, or embed it in INVOKER mode.");
        }
    }

    private void make() {
        SharedFiles files = context().files();
        file = files.createRegion(
            session().id(),
            files.nextNumber(),
            SharedFiles.randomGeneration(),
            Math.addExact(MemoryRegionDescriptor.DATA_OFFSET, length),
            length);
    }

    private RegisteredRegion region() {
        if (file == null) {
            return new RegisteredRegion(0, SharedFiles.randomGeneration(), nativeAddress, length, key, () -> {
            });
        }
        ConductorContext context = context();
        SharedFile mapped = file;
        long generation = mapped.generation();
        return new RegisteredRegion(
            mapped.number(),
            generation,
            mapped.address() + MemoryRegionDescriptor.DATA_OFFSET,
            length,
            key,
            () -> context.resource().submit(new Unmap(mapped), context.inbox()));
    }

    private void add() {
        if ((flags & Flags.RMA_EVENT) != 0) {
            region.bind(RegionBinding.DISABLED);
        }
        index = session().progress().session().regions().add(region);
        if (index == -FabricErrno.ENOKEY) {
            throw new FabricException(FabricErrno.ENOKEY,
                "another region of the domain has the key " + Codes.hex(key.key()),
                "Request a key that no open region has.");
        }
        if (index < 0) {
            throw new FabricException(-index,
                "the client has " + MemoryRegionDescriptor.MAX_REGIONS + " regions, more cannot be addressed",
                "Register fewer, larger regions.");
        }
    }

    /** The last operation that used the region has ended. */
    private static final class Unmap extends ResourceTask {
        private final SharedFile file;

        Unmap(SharedFile file) {
            this.file = file;
        }

        @Override
        protected long sizeBytes() {
            return file.lengthBytes();
        }

        @Override
        protected void execute() {
            file.unmap();
        }

        @Override
        protected void onDone() {
            // no command waits for it
        }

        @Override
        protected void onFailed(Throwable cause) {
            throw new FabricException(FabricErrno.EIO, "unmapping " + file.name() + " met a fault",
                "Look in the error log for a file that was cut at that time.", cause);
        }
    }
}
