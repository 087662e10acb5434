package org.jfabric;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import org.jfabric.client.ClientConductor;
import org.jfabric.client.DriverConnection;
import org.jfabric.client.PersistentFile;
import org.jfabric.codec.control.CardKeyReady;
import org.jfabric.codec.control.ObjectKind;
import org.jfabric.codec.control.PassFile;
import org.jfabric.codec.control.RegionReady;
import org.jfabric.codec.control.RegisterRegion;
import org.jfabric.codec.control.RegisterWithCard;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.layout.FileType;
import org.jfabric.layout.MemoryRegionDescriptor;

/**
 * The memory regions of one domain.
 *
 * <p>Owner: control calls, under the fabric's lock.
 */
final class DomainRegions {
    private static final long REMOTE_ACCESS = Flags.REMOTE_READ | Flags.REMOTE_WRITE;
    /** In place of a descriptor: the file of a region is passed over the socket. */
    private static final int PASSED_REGION = -1;
    private static final long LOCAL_ACCESS = Flags.SEND | Flags.RECV | Flags.READ | Flags.WRITE;

    private final Domain domain;
    private final ClientConductor conductor;
    private final Children.Kind<MemoryRegion> regions;
    private final LocalMemory memory = new LocalMemory();
    /** There was a persistent region. */
    private boolean hasPersistent;

    DomainRegions(Domain domain, Children children, ClientConductor conductor) {
        this.domain = domain;
        this.conductor = conductor;
        regions = children.kind(region -> region.bindings().requireUnused(), this::end)
            .inDriver(ObjectKind.MEMORY_REGION, MemoryRegion::index, this::release);
    }

    /** A region in a file of its own. */
    MemoryRegion allocate(long lengthBytes, MemoryRegionAttr attr) {
        return regions.open(() -> allocateFile(lengthBytes, attr));
    }

    private MemoryRegion allocateFile(long lengthBytes, MemoryRegionAttr attr) {
        RegionReady ready = register(lengthBytes, attr, 0);
        MemoryRegion region = null;
        try {
            MemorySegment file = conductor.connection().open(FileType.MEMORY_REGION, ready.fileNumber(),
                ready.generation(), MemoryRegionDescriptor.DATA_OFFSET + lengthBytes);
            region = new MemoryRegion(domain, file.asSlice(MemoryRegionDescriptor.DATA_OFFSET, lengthBytes),
                ready.regionIndex(), ready.generation(), attr, cardKey(ready, attr));
            region.file(file);
            if (domain.fabric().reconnects()) {
                region.descriptor(conductor.connection().openDescriptor(
                    FileType.MEMORY_REGION, ready.fileNumber()));
            }
            memory.add(region);
            return region;
        } finally {
            if (region == null) {
                domain.fabric().discard(ObjectKind.MEMORY_REGION, ready.regionIndex());
            }
        }
    }

    /**
     * Registers all with the next driver, in the same memory and under the same addresses and keys; only a card chooses
     * other keys.
     */
    void reopen() {
        DriverConnection connection = conductor.connection();
        for (MemoryRegion region : regions.all()) {
            MemoryRegionAttr attr = region.attr();
            boolean isPassed = region.descriptor() >= 0;
            if (isPassed || !connection.hasPassedMemory()) {
                passFile();
                if (isPassed) {
                    connection.pass(region.descriptor());
                } else {
                    connection.passMemory();
                }
            }
            RegionReady ready = register(region.lengthBytes(), wantedAccess(attr), attr.requestedKey(), attr.flags(),
                isPassed ? 0 : region.nativeAddress(region.address()), isPassed ? PASSED_REGION : 0, region.place());
            requirePlace(ready, region.place());
            long oldKey = region.key();
            CardKeyReady card = cardKey(ready, attr);
            if (card != null) {
                region.onKeyChanged(card);
                domain.fabric().onKeyChanged(region, oldKey);
            }
        }
    }

    /** After the endpoints: lets peers access the regions that are bound to objects. */
    void reopenBindings() {
        regions.all().forEach(region -> region.bindings().reopen());
    }

    /** A region over memory that an embedded driver sees as it is, and another one copies. */
    MemoryRegion register(MemorySegment memory, MemoryRegionAttr attr) {
        return regions.open(() -> registerOwn(memory, attr));
    }

    private MemoryRegion registerOwn(MemorySegment memory, MemoryRegionAttr attr) {
        DriverConnection connection = conductor.connection();
        boolean isCopied = connection.embedded() == null;
        if (isCopied && attr.isRemote() && domain.hasCardKeys()) {
            throw new FabricException(FabricErrno.EOPNOTSUPP,
                "a card cannot access memory of a process that does not run the driver",
                "Take memory for peers by allocate(), or embed the driver.");
        }
        if (isCopied && !connection.hasPassedMemory()) {
            passFile();
            connection.passMemory();
        }
        RegionReady ready = register(memory.byteSize(), attr, memory.address());
        MemoryRegion region = null;
        try {
            region = new MemoryRegion(
                domain, memory, ready.regionIndex(), ready.generation(), attr, cardKey(ready, attr));
            if (isCopied) {
                region.markCopied();
            }
            this.memory.add(region);
            return region;
        } finally {
            if (region == null) {
                domain.fabric().discard(ObjectKind.MEMORY_REGION, ready.regionIndex());
            }
        }
    }

    /** The key under which peers access the region; null if the application chooses keys, or peers have no rights. */
    private CardKeyReady cardKey(RegionReady ready, MemoryRegionAttr attr) {
        return attr.isRemote() && domain.hasCardKeys() ? conductor.commands().call(
            "registering a region with a card", new RegisterWithCard(ready.regionIndex(), attr.access() & REMOTE_ACCESS,
            domain.info().linkName(), domain.info().srcAddr(), domain.info().destAddr())) : null;
    }

    /** A region in a file of the application. */
    MemoryRegion allocatePersistent(Path path, long lengthBytes, MemoryRegionAttr attr) {
        return regions.open(() -> mapPersistent(path, lengthBytes, attr));
    }

    private MemoryRegion mapPersistent(Path path, long lengthBytes, MemoryRegionAttr attr) {
        long access = access(attr);
        requireKnown(attr, Flags.RMA_EVENT | Flags.RMA_PMEM);
        domain.fabric().requireRestartable(false, "a persistent region", "Allocate the region in memory");
        if (domain.hasCardKeys()) {
            throw new FabricException(FabricErrno.EOPNOTSUPP, "the card does not commit writes to a file",
                "Open the domain over a link that offers RMA_PMEM.");
        }
        try (PersistentFile file = PersistentFile.open(path, lengthBytes)) {
            MemorySegment bytes = file.map();
            DriverConnection connection = conductor.connection();
            if (connection.embedded() == null) {
                passFile();
                connection.pass(file.fd());
            }
            RegionReady ready = register(lengthBytes, access, attr.requestedKey(), attr.flags() | Flags.RMA_PMEM, 0,
                file.fd(), 0);
            MemoryRegion region = new MemoryRegion(
                domain, bytes, ready.regionIndex(), ready.generation(), attr, null);
            memory.add(region);
            hasPersistent = true;
            return region;
        }
    }

    private void end(MemoryRegion region) {
        region.markClosed();
        memory.remove(region);
    }

    private void release(MemoryRegion region) {
        if (region.file() != null) {
            conductor.connection().release(region.file(), region.isShown());
        }
    }

    /** Where the open regions are in this process. */
    LocalMemory memory() {
        return memory;
    }

    /** The one kind of regions in files that are not the driver's. */
    boolean hasPersistent() {
        return hasPersistent;
    }

    List<MemoryRegion> all() {
        return regions.all();
    }

    private RegionReady register(long lengthBytes, MemoryRegionAttr attr, long nativeAddress) {
        access(attr);
        requireKnown(attr, Flags.RMA_EVENT);
        if (attr.isBindable() && domain.hasCardKeys()) {
            throw new FabricException(FabricErrno.EOPNOTSUPP,
                "the flags are RMA_EVENT, but a card does not report accesses to a region",
                "Register it without flags, or open the domain over another link.");
        }
        return domain.fabric().withRoom(() -> register(
            lengthBytes, wantedAccess(attr), attr.requestedKey(), attr.flags(), nativeAddress, 0, 0));
    }

    /** Registers memory of this process, a file, or, if both are 0, has the driver make one. */
    private RegionReady register(
        long length, long access, long requestedKey, long flags, long nativeAddress, int descriptor, int place) {
        return conductor.commands().call("registering " + length + " bytes", new RegisterRegion(
            length, access, requestedKey, flags, nativeAddress, domain.number(), descriptor, place));
    }

    /** Announces that a descriptor is passed over the socket. */
    private void passFile() {
        conductor.commands().call("passing a file", new PassFile());
    }

    /** The addresses of a region have its index and generation in their upper 24 bits. */
    private static void requirePlace(RegionReady ready, int place) {
        if (ready.regionIndex() << Byte.SIZE != (place & ~0xFF) || ((ready.generation() ^ place) & 0xFF) != 0) {
            throw new FabricException(FabricErrno.EOPNOTSUPP, "the driver gave a region index " + ready.regionIndex()
                + " instead of " + (place >>> Byte.SIZE), "Connect again, with a driver that keeps addresses.");
        }
    }

    /** Only the card has keys in a domain with a card: the driver's table would give a second way to the region. */
    private long wantedAccess(MemoryRegionAttr attr) {
        long access = access(attr);
        return domain.hasCardKeys() ? access & LOCAL_ACCESS : access;
    }

    private static long access(MemoryRegionAttr attr) {
        long access = attr.access() | LOCAL_ACCESS;
        if ((access & ~(LOCAL_ACCESS | REMOTE_ACCESS)) != 0) {
            throw new FabricException(FabricErrno.EINVAL, "the rights are "
                + Flags.toString(attr.access(), Flags.Kind.MR_ACCESS) + ", known are "
                + Flags.toString(LOCAL_ACCESS | REMOTE_ACCESS, Flags.Kind.MR_ACCESS), "Leave the others out.");
        }
        return access;
    }

    private static void requireKnown(MemoryRegionAttr attr, long known) {
        if ((attr.flags() & ~known) != 0) {
            throw new FabricException(FabricErrno.EBADFLAGS, "the flags are "
                + Flags.toString(attr.flags(), Flags.Kind.MR_REGISTER) + ", known are "
                + Flags.toString(known, Flags.Kind.MR_REGISTER),
                "Leave the others out; a persistent region is made by allocatePersistent().");
        }
    }
}
