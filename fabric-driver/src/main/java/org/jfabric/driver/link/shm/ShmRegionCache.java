package org.jfabric.driver.link.shm;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import org.agrona.collections.Long2ObjectHashMap;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.RemotePayload;
import org.jfabric.driver.resource.PeerFile;
import org.jfabric.driver.resource.ResourceTask;
import org.jfabric.driver.resource.UnmapTask;
import org.jfabric.ffi.FileStatus;
import org.jfabric.ffi.MappedFile;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.layout.FileHeaderDescriptor;
import org.jfabric.layout.FileType;
import org.jfabric.layout.MemoryRegionDescriptor;
import org.jfabric.layout.OwnerId;

/**
 * Regions of one peer driver that are mapped here, read-only, for single copy. A region is opened by number, relative
 * to the directory that was checked when the connection was made, without following links; type, owner, size, magic,
 * owner id and generation are verified. Until a region is mapped its payloads arrive in segments.
 *
 * <p>The number of mapped regions is limited; it includes those that the resource thread is mapping. The least recently
 * used one is evicted. Owner: progress agent.
 */
final class ShmRegionCache {
    private final LinkServices services;
    private final int peerDirectoryFd;
    private final OwnerId peerOwner;
    private final int maxEntries;
    private final Long2ObjectHashMap<Entry> entries = new Long2ObjectHashMap<>();
    private Entry latest;
    private long uses;
    private boolean closed;

    private static final class Entry {
        final long number;
        final long generation;
        long lastUse;
        /** The resource thread is mapping it, so that it counts as mapped and cannot be evicted. */
        boolean isBeingMapped = true;
        /** Null while it is being mapped, and if that has failed for this generation. */
        MappedFile file;
        long address;
        long lengthBytes;

        Entry(long number, long generation) {
            this.number = number;
            this.generation = generation;
        }
    }

    ShmRegionCache(LinkServices services, int peerDirectoryFd, OwnerId peerOwner, int maxEntries) {
        this.services = services;
        this.peerDirectoryFd = peerDirectoryFd;
        this.peerOwner = peerOwner;
        this.maxEntries = maxEntries;
    }

    /**
     * Finds the addresses of a payload's pieces in this process.
     *
     * @param addresses filled with the native address of each piece that holds some of them.
     * @return false if one of these pieces is not mapped (yet).
     */
    boolean find(RemotePayload payload, long length, long[] addresses) {
        boolean found = true;
        long covered = 0;
        // continues after a piece that is not mapped: all missing ones are mapped at once. The addresses are used only
        // if nothing had to be mapped, so that none of them can have been evicted
        for (int i = 0; i < payload.count() && covered < length; i++) {
            long bytes = payload.length(i);
            addresses[i] = find(
                payload.regionNumber(i), payload.regionGeneration(i), payload.regionOffset(i), bytes);
            found &= addresses[i] != 0;
            covered += bytes;
        }
        return found;
    }

    /**
     * Finds a range of a region in this process, and has the region mapped if it is not yet.
     *
     * @param number     of the region's file; any value.
     * @param generation of the region; any value.
     * @param offset     of the first byte in the region; any value.
     * @param length     bytes; any value.
     * @return native address, or 0 if the range is not mapped (yet).
     */
    long find(long number, long generation, long offset, long length) {
        Entry entry = latest;
        if (entry == null || entry.number != number) {
            entry = entries.get(number);
            if (entry == null) {
                map(number, generation);
                return 0;
            }
            latest = entry;
        }
        if (entry.generation != generation && !entry.isBeingMapped) {
            // the number names another region now, or did when it was mapped
            drop(entry);
            map(number, generation);
            return 0;
        }
        entry.lastUse = ++uses;
        // offset and length come from the peer, so that no sum may overflow
        if (entry.address == 0 || entry.generation != generation
            || offset < 0 || length < 0 || offset > entry.lengthBytes || length > entry.lengthBytes - offset) {
            return 0;
        }
        return entry.address + offset;
    }

    /** Drops regions whose files were truncated: later payloads from them arrive in segments, from their own driver. */
    void dropCut() {
        latest = null;
        for (Entry entry : entries.values()) {
            if (entry.address != 0 && entry.file.isCut()) {
                entry.address = 0;
                services.onError(new FabricException(FabricErrno.EIO,
                    "region " + entry.file.path() + " of a peer was truncated while " + entry.lengthBytes
                        + " bytes of it were mapped here", "Only messages from this region are concerned."));
            }
        }
    }

    /** Unmaps everything, later, on the resource thread. */
    void close() {
        closed = true;
        latest = null;
        for (Entry entry : entries.values()) {
            unmap(entry.file);
        }
        entries.clear();
    }

    private void map(long number, long generation) {
        if (number <= 0) {
            return;
        }
        if (entries.size() >= maxEntries && !evict()) {
            // all of them are being mapped: one more would exceed the limit
            return;
        }
        Entry entry = new Entry(number, generation);
        entry.lastUse = ++uses;
        entries.put(number, entry);
        long[] others = new long[entries.size() - 1];
        int count = 0;
        for (Entry other : entries.values()) {
            if (other != entry) {
                others[count++] = other.number;
            }
        }
        services.submit(new MapTask(entry, others));
    }

    /**
     * Returns whether a region cannot be mapped, or not any more.
     *
     * @param number of the region's file; any value.
     * @return false also while it is being mapped, and if that was never tried.
     */
    boolean cannotMap(long number) {
        Entry entry = entries.get(number);
        return entry != null && !entry.isBeingMapped && entry.address == 0;
    }

    /** Makes room for one region; the resource thread unmaps the old one before it maps later ones. */
    private boolean evict() {
        Entry oldest = null;
        for (Entry entry : entries.values()) {
            if (!entry.isBeingMapped && (oldest == null || entry.lastUse < oldest.lastUse)) {
                oldest = entry;
            }
        }
        if (oldest != null) {
            drop(oldest);
        }
        return oldest != null;
    }

    private void drop(Entry entry) {
        entries.remove(entry.number);
        if (latest == entry) {
            latest = null;
        }
        unmap(entry.file);
    }

    private void unmap(MappedFile file) {
        if (file != null) {
            services.submit(new UnmapTask(file));
        }
    }

    private final class MapTask extends ResourceTask {
        private final Entry entry;
        private final long[] others;
        private int closedOnes;
        private MappedFile mapped;

        MapTask(Entry entry, long[] others) {
            this.entry = entry;
            this.others = others;
        }

        @Override
        protected void execute() {
            findClosed();
            String name = FileType.MEMORY_REGION.fileName(entry.number);
            mapped = services.environment().openFile(peerDirectoryFd, name, MemoryRegionDescriptor.DATA_OFFSET);
            PeerFile.verify(mapped, FileType.MEMORY_REGION, peerOwner, "of a peer", name);
        }

        /**
         * Finds closed regions: a region that its owner has closed has no name any more, but keeps its memory while it
         * is mapped here.
         */
        private void findClosed() {
            for (long number : others) {
                if (FileStatus.of(peerDirectoryFd, FileType.MEMORY_REGION.fileName(number)) == null) {
                    others[closedOnes++] = number;
                }
            }
        }

        private void dropClosed() {
            for (int i = 0; i < closedOnes; i++) {
                Entry gone = entries.get(others[i]);
                if (gone != null && !gone.isBeingMapped) {
                    drop(gone);
                }
            }
        }

        @Override
        protected void onDone() {
            entry.isBeingMapped = false;
            dropClosed();
            if (closed || entries.get(entry.number) != entry) {
                unmap(mapped);
                return;
            }
            var header = mapped.directBuffer(0, FileHeaderDescriptor.HEADER_LENGTH);
            long generation = header.getLong(FileHeaderDescriptor.GENERATION_OFFSET, LITTLE_ENDIAN);
            if (generation != entry.generation) {
                unmap(mapped);
                return;
            }
            long claimed = header.getLong(FileHeaderDescriptor.DATA_LENGTH_OFFSET, LITTLE_ENDIAN);
            entry.file = mapped;
            entry.lengthBytes = Math.min(claimed, mapped.lengthBytes() - MemoryRegionDescriptor.DATA_OFFSET);
            entry.address = mapped.address() + MemoryRegionDescriptor.DATA_OFFSET;
        }

        @Override
        protected void onFailed(Throwable cause) {
            entry.isBeingMapped = false;
            dropClosed();
            // the region's payloads arrive in segments
            int errno = PeerFile.errnoOf(cause);
            if (errno != FabricErrno.ENOENT) {
                // a region that was closed in the meantime has no name any more, which is no error
                services.onError(new FabricException(errno,
                    "region " + entry.number + " of a client of driver " + peerOwner + " cannot be mapped: "
                        + cause.getMessage(),
                    "Its messages arrive in segments instead; find the process that replaces files there.", cause));
            }
        }
    }
}
