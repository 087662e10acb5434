package org.jfabric.driver.conductor;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jfabric.codec.control.RegionReady;
import org.jfabric.codec.control.RegisterRegion;
import org.jfabric.driver.resource.ClientMemory;
import org.jfabric.driver.resource.MappedPersistentFile;
import org.jfabric.driver.resource.RegionBinding;
import org.jfabric.driver.resource.RegionKey;
import org.jfabric.driver.resource.RegionSync;
import org.jfabric.driver.resource.RegionTable;
import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.driver.resource.ResourceTask;
import org.jfabric.driver.resource.SharedFile;
import org.jfabric.driver.resource.SharedFiles;
import org.jfabric.driver.resource.SystemCounter;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.MappedFile;
import org.jfabric.info.Codes;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.layout.MemoryRegionDescriptor;

/**
 * {@code fi_mr_reg}: creates a file for the region and reserves its blocks, maps the file that the client has passed,
 * or registers memory of the client's process: in place if that embeds the driver, else with a file for copies. Owner:
 * conductor.
 */
final class RegisterRegionCommand extends Command {
    private enum State {
        CHECK,
        PASSED,
        MADE,
        ADDED
    }

    private static final long REMOTE_ACCESS = Flags.REMOTE_READ | Flags.REMOTE_WRITE;
    private static final long KNOWN_FLAGS = Flags.RMA_EVENT | Flags.RMA_PMEM;
    private static final int NO_DESCRIPTOR = -1;
    /** In place of a descriptor: the client passes the file of a region that a driver before this one has made. */
    private static final int PASSED_REGION = -1;
    private static final int GENERATION_BITS = 8;
    private static final int GENERATION_MASK = 0xFF;
    /** The descriptor is in the socket before the command is in the ring. */
    private static final long DESCRIPTOR_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(5);

    private final long length;
    private final long flags;
    private final RegionKey key;
    private final long nativeAddress;
    private final int descriptor;
    /** In the addresses of a client that was connected before; 0 if the region may be anywhere. */
    private final int place;
    private State state = State.CHECK;
    private long deadlineNs;
    /** Of the passed file, as long as it belongs to this command. */
    private int passedFd = NO_DESCRIPTOR;
    private MappedPersistentFile persistent;
    /** Of the client's process; null unless the region is copied. */
    private ClientMemory memory;
    /** It was passed for this command, and the session does not have it yet. */
    private boolean ownsMemory;
    private SharedFile file;
    /** By number of the progress thread; all of the same memory. */
    private RegisteredRegion[] copies;
    private int[] indices;

    RegisterRegionCommand(CommandRequest request, RegisterRegion message) {
        super(request);
        length = message.length();
        flags = message.flags();
        key = new RegionKey(message.domain(), message.requestedKey(), message.access() & REMOTE_ACCESS);
        nativeAddress = message.nativeAddress();
        descriptor = message.descriptor();
        place = message.place();
    }

    @Override
    protected Step step(long nowNs) {
        switch (state) {
            case CHECK -> {
                check();
                deadlineNs = nowNs + DESCRIPTOR_TIMEOUT_NS;
                memory = isCopied() ? session().memory() : null;
                boolean isAwaited = isPersistent() || isPassedRegion() || isCopied() && memory == null;
                state = isAwaited ? State.PASSED : State.MADE;
                if (!isAwaited && (nativeAddress == 0 || isCopied())) {
                    background(this::make, length);
                }
            }
            case PASSED -> {
                if (!takePassed(nowNs)) {
                    return Step.LATER;
                }
                state = State.MADE;
                background(isPersistent() ? this::open : isPassedRegion() ? this::adopt : this::openMemory, length);
            }
            case MADE -> {
                if (ownsMemory) {
                    ownsMemory = false;
                    session().memory(memory);
                }
                makeCopies();
                state = State.ADDED;
                onThreads(this::add);
            }
            default -> {
                RegionResource resource = new RegionResource(
                    indices[0], copies, isPassedRegion() ? null : file);
                session().regions().put(indices[0], resource);
                context().counters().add(SystemCounter.REGIONS, 1);
                return answer(new RegionReady(
                    correlationId(), copies[0].number(), copies[0].generation(), length, indices[0]));
            }
        }
        return Step.AGAIN;
    }

    @Override
    protected void undo() {
        if (file != null && !isPassedRegion()) {
            file.delete();
        }
        if (copies != null) {
            // the memory goes with the last of them: a thread that has added its copy may be using it
            for (int thread = 0; thread < copies.length; thread++) {
                remove(thread);
            }
            return;
        }
        if (file != null) {
            unmapAfterwards(List.of(file));
        }
        if (persistent != null) {
            afterwards(persistent::close);
        } else if (ownsMemory) {
            // the client passes it only once
            session().memory(memory);
        } else if (passedFd >= 0) {
            Libc.close(passedFd);
        }
    }

    private void check() {
        if (place < 0 || place != 0 && place >>> GENERATION_BITS == 0) {
            throw new FabricException(FabricErrno.EINVAL, "the place of a region is 0x" + Integer.toHexString(place)
                + ", needed is an index from 1 and 8 bits of generation, or 0", "Leave it 0 for a new region.");
        }
        if (length < 1 || length > MemoryRegionDescriptor.MAX_LENGTH) {
            throw new FabricException(FabricErrno.EINVAL,
                "a region of " + Long.toUnsignedString(length) + " bytes, allowed are 1 to "
                    + MemoryRegionDescriptor.MAX_LENGTH, "Register several smaller regions.");
        }
        if ((flags & ~KNOWN_FLAGS) != 0) {
            throw new FabricException(FabricErrno.EBADFLAGS,
                "flags 0x" + Long.toHexString(flags) + " of a region, known are FI_RMA_EVENT and FI_RMA_PMEM",
                "Register it without flags, with FI_RMA_EVENT to bind it, with FI_RMA_PMEM for a file.");
        }
        if (nativeAddress != 0 && isPersistent()) {
            throw new FabricException(FabricErrno.EINVAL,
                "a persistent region at address 0x" + Long.toHexString(nativeAddress), "Pass a file for it.");
        }
        if (isCopied() && (nativeAddress < 0 || nativeAddress > Long.MAX_VALUE - length)) {
            throw new FabricException(FabricErrno.EINVAL,
                "memory at address 0x" + Long.toHexString(nativeAddress) + " and " + length + " bytes");
        }
        if (isCopied() && session().memory() == null && !session().passedFile().isAnnounced()) {
            throw new FabricException(FabricErrno.EINVAL,
                "memory at address 0x" + Long.toHexString(nativeAddress)
                    + " of a client that has not passed the memory of its process",
                "Pass /proc/self/mem first, or let the driver allocate the region.");
        }
    }

    /** Whether its file was made by a driver before this one, and is passed by the client that has it mapped. */
    private boolean isPassedRegion() {
        return descriptor == PASSED_REGION && !isPersistent() && nativeAddress == 0 && !session().isEmbedded();
    }

    /** Whether it is memory of a process that is not this one. */
    private boolean isCopied() {
        return nativeAddress != 0 && !session().isEmbedded();
    }

    /** Reads the first and the last byte, so that an address without memory is found now. */
    private void requireMemory(long probe) {
        if (!memory.read(nativeAddress, probe, 1) || !memory.read(nativeAddress + length - 1, probe, 1)) {
            throw new FabricException(FabricErrno.EFAULT,
                length + " bytes at address 0x" + Long.toHexString(nativeAddress)
                    + " are not memory of the client's process", "Register memory that is mapped.");
        }
    }

    private boolean isPersistent() {
        return (flags & Flags.RMA_PMEM) != 0;
    }

    /** False if the descriptor has not arrived yet. */
    private boolean takePassed(long nowNs) {
        passedFd = session().isEmbedded() ? Libc.duplicate(descriptor) : session().passedFile().take();
        boolean isOver = session().isEmbedded() || session().isEnding() || nowNs - deadlineNs > 0;
        if (passedFd < 0 && isOver) {
            throw new FabricException(session().isEmbedded() ? -passedFd : FabricErrno.ETIMEDOUT,
                "the file of a region was not passed", "Pass its descriptor in front of the command.");
        }
        return passedFd >= 0;
    }

    private void open() {
        persistent = MappedPersistentFile.open(context().files(), session().id(), session().uid(), passedFd, length);
    }

    private void adopt() {
        String path = "the file of a region of client " + session().id();
        if (!Libc.isReadWrite(passedFd)) {
            throw new FabricException(FabricErrno.EINVAL, path + " is not open for reading and writing");
        }
        file = context().files().adopt(session().id(), MappedFile.ofDescriptor(
            passedFd, path, Math.addExact(MemoryRegionDescriptor.DATA_OFFSET, length)));
        Libc.close(passedFd);
        passedFd = NO_DESCRIPTOR;
    }

    private void openMemory() {
        memory = ClientMemory.open(passedFd);
        ownsMemory = true;
        passedFd = NO_DESCRIPTOR;
        make();
    }

    private void make() {
        SharedFiles files = context().files();
        file = files.createRegion(
            session().id(),
            files.nextNumber(),
            generation(),
            Math.addExact(MemoryRegionDescriptor.DATA_OFFSET, length),
            length);
        if (memory != null) {
            requireMemory(file.address() + MemoryRegionDescriptor.DATA_OFFSET);
        }
    }

    private void makeCopies() {
        ConductorContext context = context();
        RegisteredRegion[] made = new RegisteredRegion[context.threads().count()];
        indices = new int[made.length];
        long generation = file != null && !isPassedRegion() ? file.generation() : generation();
        Runnable release = release(made.length);
        int count = 0;
        try {
            for (; count < made.length; count++) {
                made[count] = copy(generation, release);
                if (persistent != null) {
                    made[count].sync(new RegionSync(persistent, context.resource(),
                        context.threads().get(count).proxy().inbox(), context.counters(), context.log()));
                }
            }
            copies = made;
        } finally {
            if (copies == null) {
                // of the client's memory; the mapping is given back by whoever undoes the command
                for (int i = 0; i < count; i++) {
                    made[i].close();
                }
            }
        }
    }

    /** Random, but for the bits that the client's addresses have already. */
    private long generation() {
        long generation = context().files().randomGeneration();
        return place == 0 ? generation : generation & ~GENERATION_MASK | place & GENERATION_MASK;
    }

    private RegisteredRegion copy(long generation, Runnable release) {
        if (isCopied()) {
            ClientMemory of = memory;
            of.retain();
            return RegisteredRegion.copied(file, length, key, of, nativeAddress, () -> {
                of.release();
                release.run();
            });
        }
        if (file != null && !isPassedRegion()) {
            return RegisteredRegion.inFile(file, length, key, release);
        }
        // without a name in the directory peers cannot map it
        long address = isPassedRegion() ? file.address() + MemoryRegionDescriptor.DATA_OFFSET
            : persistent != null ? persistent.address() : nativeAddress;
        return new RegisteredRegion(0, generation, address, length, key, release);
    }

    /** Frees the memory, once no progress thread uses it any more. */
    private Runnable release(int users) {
        ConductorContext context = context();
        SharedFile mapped = file;
        MappedPersistentFile opened = persistent;
        if (mapped == null && opened == null) {
            return () -> {
            };
        }
        AtomicInteger left = new AtomicInteger(users);
        return () -> {
            if (left.decrementAndGet() == 0) {
                // a file of the application has no number, because other drivers cannot open it
                context.resource().submit(mapped != null
                    ? new Unmap(mapped.name(), mapped.lengthBytes(), mapped::unmap)
                    : new Unmap("a persistent file", opened.lengthBytes(), opened::close), context.inbox());
            }
        };
    }

    /** Behind a failure; the thread may have added its copy or not. */
    private void remove(int thread) {
        int index = indices[thread];
        if (index < 1) {
            // in no table, so that no other thread knows it
            copies[thread].close();
            return;
        }
        RegionTable table = session().progress(thread).session().regions();
        aheadOnThread(thread, () -> table.close(index));
    }

    private void add(int thread) {
        if ((flags & Flags.RMA_EVENT) != 0) {
            copies[thread].bind(RegionBinding.DISABLED);
        }
        RegionTable table = session().progress(thread).session().regions();
        int index = place == 0 ? table.add(copies[thread]) : table.add(copies[thread], place >>> GENERATION_BITS);
        indices[thread] = index;
        if (index == -FabricErrno.EBUSY) {
            throw new FabricException(FabricErrno.EBUSY, "another region of the client has index "
                + (place >>> GENERATION_BITS), "Register the regions of a connection before in any order, each once.");
        }
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
        private final String name;
        private final long lengthBytes;
        private final Runnable unmap;

        Unmap(String name, long lengthBytes, Runnable unmap) {
            this.name = name;
            this.lengthBytes = lengthBytes;
            this.unmap = unmap;
        }

        @Override
        protected long sizeBytes() {
            return lengthBytes;
        }

        @Override
        protected void execute() {
            unmap.run();
        }

        @Override
        protected void onDone() {
            // no command waits for it
        }

        @Override
        protected void onFailed(Throwable cause) {
            throw new FabricException(FabricErrno.EIO, "unmapping " + name + " met a fault",
                "Look in the error log for a file that was cut at that time.", cause);
        }
    }
}
