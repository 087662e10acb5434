package org.jfabric.client;

import java.io.File;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.collections.Long2ObjectHashMap;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.MappedFile;
import org.jfabric.ffi.NativeCallException;
import org.jfabric.layout.FileHeaderDescriptor;
import org.jfabric.layout.FileType;
import org.jfabric.layout.LentPlaceDescriptor;
import org.jfabric.layout.MemoryRegionDescriptor;

/**
 * Regions of senders that one endpoint maps for reading, because messages from there were lent to it.
 *
 * <p>A region is mapped when its first message is read, and stays mapped for later ones. One whose owner has closed it
 * is unmapped when another region is mapped and none of its messages is open. A region that cannot be mapped is
 * remembered as well: its messages are claimed like other long ones.
 *
 * <p>Owner: the thread that reads the completion queue.
 */
public final class LentRegions {
    /** More than a receiver has senders in most applications; beyond it the least recently used one is unmapped. */
    private static final int MAX_REGIONS = 64;
    private static final int WINDOW_SHIFT = 30;
    private static final long WINDOW = 1L << WINDOW_SHIFT;

    private final Predicate<Region> isShown;
    private final Long2ObjectHashMap<Region> regions = new Long2ObjectHashMap<>();
    private Region latest;
    private long uses;

    public LentRegions(Predicate<Region> isShown) {
        this.isShown = isShown;
    }

    /**
     * A region of a sender, mapped here for reading.
     */
    public static final class Region {
        private final long number;
        private final long generation;
        private final String file;
        /** Overlapping parts of at most 2 GiB; null if the region cannot be mapped. */
        private final ByteBuffer[] windows;
        private final MappedFile.Discard discard;
        private final long lengthBytes;
        private long lastUse;

        private Region(long number, long generation, String file, MappedFile mapped) {
            this.number = number;
            this.generation = generation;
            this.file = file;
            if (mapped == null) {
                windows = null;
                discard = null;
                lengthBytes = 0;
                return;
            }
            long claimed = mapped.directBuffer(0, FileHeaderDescriptor.HEADER_LENGTH)
                .getLong(FileHeaderDescriptor.DATA_LENGTH_OFFSET, ByteOrder.LITTLE_ENDIAN);
            lengthBytes = Math.min(claimed, mapped.lengthBytes() - MemoryRegionDescriptor.DATA_OFFSET);
            MemorySegment data = mapped.segment(Arena.ofAuto())
                .asSlice(MemoryRegionDescriptor.DATA_OFFSET, Math.max(0, lengthBytes));
            discard = mapped.discard();
            List<ByteBuffer> parts = new ArrayList<>();
            for (long offset = 0; offset < lengthBytes || offset == 0; offset += WINDOW) {
                parts.add(data.asSlice(offset, Math.min(Integer.MAX_VALUE, data.byteSize() - offset)).asByteBuffer());
            }
            windows = parts.toArray(new ByteBuffer[0]);
        }

        /**
         * Shows bytes of the region.
         *
         * @param view   moved there; it must not be written through, the memory is read-only.
         * @param offset of the first byte in the region; any value.
         * @param length bytes; any value.
         * @return false if they are not in the region, or cannot be shown at once.
         */
        public boolean show(UnsafeBuffer view, long offset, long length) {
            // offset and length come from the sender, so that no sum may overflow
            if (offset < 0 || length < 0 || offset > lengthBytes || length > lengthBytes - offset || windows == null) {
                return false;
            }
            int window = (int) (offset >>> WINDOW_SHIFT);
            int start = (int) (offset & WINDOW - 1);
            if (window >= windows.length || length > windows[window].capacity() - start) {
                return false;
            }
            view.wrap(windows[window], start, (int) length);
            return true;
        }

        private boolean isMapped() {
            return windows != null;
        }
    }

    /**
     * Finds the region of a message, and maps it if it is not yet.
     *
     * @param place offset of the cell in it that says where the message is.
     * @return the region; its {@link Region#show} refuses everything if it cannot be mapped.
     */
    public Region find(UnsafeBuffer slab, int place) {
        long number = slab.getLong(place + LentPlaceDescriptor.NUMBER_OFFSET);
        long generation = slab.getLong(place + LentPlaceDescriptor.GENERATION_OFFSET);
        Region region = latest;
        if (region == null || region.generation != generation || region.number != number) {
            region = findOther(number, generation, slab, place);
            latest = region;
        }
        region.lastUse = ++uses;
        return region;
    }

    /** A close of the endpoint may be another thread's. */
    private synchronized Region findOther(long number, long generation, UnsafeBuffer slab, int place) {
        Region region = regions.get(generation);
        return region == null || region.number != number ? map(number, generation, slab, place) : region;
    }

    /** Unmaps all regions. Buffers that show their bytes read zeros from now on. Any thread. */
    public synchronized void close() {
        for (Region region : regions.values()) {
            drop(region);
        }
        regions.clear();
    }

    private Region map(long number, long generation, UnsafeBuffer slab, int place) {
        int pathLength = slab.getInt(place + LentPlaceDescriptor.PATH_LENGTH_OFFSET);
        String directory = pathLength < 0 || pathLength > slab.capacity() - place - LentPlaceDescriptor.PATH_OFFSET
            ? "" : slab.getStringWithoutLengthUtf8(place + LentPlaceDescriptor.PATH_OFFSET, pathLength);
        forgetClosed();
        String name = FileType.MEMORY_REGION.fileName(number);
        MappedFile mapped = number <= 0 || directory.isEmpty() ? null : open(directory, name, generation);
        Region region = new Region(number, generation, directory + '/' + name, mapped);
        Region before = regions.put(generation, region);
        if (before != null) {
            drop(before);
        }
        return region;
    }

    private static MappedFile open(String directory, String name, long generation) {
        int directoryFd = Libc.openDirectory(Path.of(directory));
        if (directoryFd < 0) {
            return null;
        }
        MappedFile file = null;
        try {
            file = MappedFile.open(directoryFd, name, true, MemoryRegionDescriptor.DATA_OFFSET);
            var header = file.directBuffer(0, FileHeaderDescriptor.HEADER_LENGTH);
            if (FileHeaderDescriptor.verify(header, FileType.MEMORY_REGION) == null
                && header.getLong(FileHeaderDescriptor.GENERATION_OFFSET, ByteOrder.LITTLE_ENDIAN) == generation) {
                return file;
            }
        } catch (NativeCallException | InternalError ex) {
            // closed or cut meanwhile, or of another user: the message is claimed, and the driver says why that fails
        } finally {
            Libc.close(directoryFd);
        }
        if (file != null) {
            file.close();
        }
        return null;
    }

    /** Unmaps what its owner has closed, and one more if there are too many. */
    private void forgetClosed() {
        Region oldest = null;
        List<Region> closed = new ArrayList<>();
        for (Region region : regions.values()) {
            if (isShown.test(region)) {
                continue;
            }
            if (!region.isMapped() || !new File(region.file).exists()) {
                closed.add(region);
            } else if (oldest == null || region.lastUse < oldest.lastUse) {
                oldest = region;
            }
        }
        if (closed.isEmpty() && oldest != null && regions.size() >= MAX_REGIONS) {
            closed.add(oldest);
        }
        for (Region region : closed) {
            regions.remove(region.generation);
            drop(region);
        }
    }

    private void drop(Region region) {
        if (region.isMapped() && !isShown.test(region)) {
            // the kernel can free the memory now, the addresses go with the last buffer that refers to them
            region.discard.run();
        }
    }
}
