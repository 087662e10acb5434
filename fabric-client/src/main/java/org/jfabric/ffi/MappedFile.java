package org.jfabric.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.agrona.DirectBuffer;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Owner of the mapping of one whole shared file.
 *
 * <p>The mapping ends in one of two ways. By default its owner calls {@link #close()}; after that buffers and segments
 * taken from here must not be accessed any more: an access would end the process. After {@link #segment(Arena)} the
 * arena decides instead: with {@link Arena#ofAuto()} the mapping lives as long as anything reachable refers to it (this
 * object, segments, and buffers taken from then on).
 *
 * <p>If another process truncates the file, an access beyond its new end throws {@link InternalError}, possibly a
 * little later in the same thread; system calls on such addresses return {@code -EFAULT}.
 *
 * <p>Any thread may call; the owner must not close while another thread uses the memory.
 */
public final class MappedFile implements AutoCloseable {
    private static final int OWNER_ONLY = 0600;

    private final Mapping mapping;
    private final String path;
    private final boolean readOnly;
    private final FileStatus status;
    private final AtomicBoolean handedOver = new AtomicBoolean();
    private volatile MemorySegment owningSegment;

    private MappedFile(Mapping mapping, String path, boolean readOnly, FileStatus status) {
        this.mapping = mapping;
        this.path = path;
        this.readOnly = readOnly;
        this.status = status;
    }

    /**
     * Makes a new file with all of its blocks reserved and maps it for reading and writing; it reads as zeros and has
     * the permissions 0600.
     *
     * @param dirFd directory of {@link Libc#openDirectory}.
     * @param name name in the directory, without a slash; nothing may exist there, not even a symbolic link.
     * @param lengthBytes wanted length, at least 1; rounded up to whole pages.
     * @return owner of the mapping.
     * @throws NativeCallException with path and values: EEXIST; ENOSPC or EDQUOT (no file is left behind, the message
     *     names wanted and free bytes and the remedy); EMFILE; ENOMEM if the process has too many mappings.
     * @throws IllegalArgumentException for a length or a name that cannot be.
     */
    public static MappedFile create(int dirFd, String name, long lengthBytes) {
        return create(dirFd, name, lengthBytes, lengthBytes);
    }

    /**
     * The same with blocks for a part of the file. What is behind may be written after {@link #extend}.
     *
     * @param reservedBytes from the start, 1 to {@code lengthBytes}; rounded up to whole pages.
     * @return as above.
     * @throws NativeCallException as above.
     * @throws IllegalArgumentException as above.
     */
    public static MappedFile create(int dirFd, String name, long lengthBytes, long reservedBytes) {
        requirePlainName(name);
        long pageBytes = Libc.pageBytes();
        if (lengthBytes < 1 || lengthBytes > Long.MAX_VALUE - pageBytes) {
            throw new IllegalArgumentException(
                Libc.describe(dirFd, name) + ": length is " + lengthBytes + " bytes, must be at least 1");
        }
        long mappedBytes = lengthBytes + pageBytes - 1 & -pageBytes;
        int fd = Libc.openat(
            dirFd, name, Libc.O_RDWR | Libc.O_CREAT | Libc.O_EXCL | Libc.O_NOFOLLOW | Libc.O_CLOEXEC, OWNER_ONLY);
        if (fd < 0) {
            throw new NativeCallException("openat", -fd, Libc.describe(dirFd, name) + ", to be created");
        }
        boolean made = false;
        try {
            long blockBytes = Math.min(mappedBytes, reservedBytes + pageBytes - 1 & -pageBytes);
            int result = Libc.reserve(fd, 0, blockBytes);
            if (result < 0) {
                throw notReserved(dirFd, name, blockBytes, -result, fd);
            }
            if (blockBytes < mappedBytes) {
                result = Libc.ftruncate(fd, mappedBytes);
                if (result < 0) {
                    throw new NativeCallException(
                        "ftruncate", -result, Libc.describe(dirFd, name) + " to " + mappedBytes + " bytes");
                }
            }
            FileStatus status = FileStatus.of(fd);
            MappedFile file = map(fd, Libc.describe(dirFd, name), false, status, status.sizeBytes());
            made = true;
            return file;
        } finally {
            if (!made) {
                Libc.unlinkat(dirFd, name);
            }
            Libc.close(fd);
        }
    }

    /**
     * Maps an existing file of this user in its present length, without following a link.
     *
     * @param dirFd directory of {@link Libc#openDirectory}.
     * @param name name in the directory, without a slash.
     * @param readOnly true to map for reading only: a store into it ends the process.
     * @param minLengthBytes least length that is accepted.
     * @return owner of the mapping.
     * @throws NativeCallException with path, seen and needed values: ENOENT; ELOOP for a symbolic link; EINVAL if it is
     *     not a regular file or too short; EACCES if it belongs to another user; EMFILE; ENOMEM.
     * @throws IllegalArgumentException for a name that cannot be.
     */
    public static MappedFile open(int dirFd, String name, boolean readOnly, long minLengthBytes) {
        requirePlainName(name);
        // Non-blocking, or a pipe in place of the file would block the call.
        int flags = (readOnly ? Libc.O_RDONLY : Libc.O_RDWR) | Libc.O_NOFOLLOW | Libc.O_CLOEXEC | Libc.O_NONBLOCK;
        int fd = Libc.openat(dirFd, name, flags, 0);
        if (fd < 0) {
            throw new NativeCallException("openat", -fd, Libc.describe(dirFd, name));
        }
        try {
            return ofWhole(fd, Libc.describe(dirFd, name), readOnly, minLengthBytes, Libc.geteuid());
        } finally {
            Libc.close(fd);
        }
    }

    /**
     * Maps the beginning of an open file for reading and writing. The descriptor stays open and is the caller's.
     *
     * @param lengthBytes to be mapped, at least 1; the file must be as long.
     * @return owner of the mapping.
     * @throws NativeCallException with values: EINVAL if it is not a regular file or too short; EACCES if it belongs to
     *     another user; ENODEV, ENOMEM, EBADF.
     */
    public static MappedFile ofDescriptor(int fd, String path, long lengthBytes) {
        return ofDescriptor(fd, path, lengthBytes, Libc.geteuid());
    }

    /**
     * The same for a file of another user, who has passed the descriptor.
     *
     * @param lengthBytes to be mapped, at least 1; the file must be as long.
     * @param uid user that the file must belong to.
     * @return owner of the mapping.
     * @throws NativeCallException as {@link #ofDescriptor(int, String, long)}.
     */
    public static MappedFile ofDescriptor(int fd, String path, long lengthBytes, long uid) {
        FileStatus status = FileStatus.of(fd);
        check(path, status, lengthBytes, uid);
        return map(fd, path, false, status, lengthBytes);
    }

    /**
     * Maps a whole open file of a given user in its present length, as {@link #open} does by its name. The descriptor
     * stays open and is the caller's.
     *
     * @param fd descriptor open for reading, and for writing unless {@code readOnly} is true.
     * @param readOnly true to map for reading only.
     * @param minLengthBytes least length that is accepted.
     * @param uid user that the file must belong to.
     * @return owner of the mapping.
     * @throws NativeCallException with values: EINVAL if it is not a regular file or too short; EACCES if it belongs to
     *     another user or is open for less; ENODEV, ENOMEM, EBADF.
     */
    public static MappedFile ofWhole(int fd, String path, boolean readOnly, long minLengthBytes, long uid) {
        FileStatus status = FileStatus.of(fd);
        check(path, status, Math.max(1, minLengthBytes), uid);
        return map(fd, path, readOnly, status, status.sizeBytes());
    }

    /**
     * Unmaps the memory; idempotent. After {@link #segment(Arena)} it does nothing, because the arena unmaps.
     */
    @Override
    public void close() {
        if (handedOver.compareAndSet(false, true)) {
            mapping.unmap();
        }
    }

    /** Checks whether the memory is unmapped. */
    public boolean isUnmapped() {
        return mapping.unmapped.get();
    }

    public long address() {
        return mapping.address;
    }

    /**
     * Length of the file when it was mapped; for created files whole pages. Returns the bytes, may be more than 2 GiB.
     */
    public long lengthBytes() {
        return mapping.lengthBytes;
    }

    /** Path of the file at the time of mapping, for messages; its name may be deleted meanwhile. */
    public String path() {
        return path;
    }

    /** Checks whether stores are forbidden. Returns true if mapped for reading only. */
    public boolean isReadOnly() {
        return readOnly;
    }

    /**
     * Identity and size of the file when it was mapped. Returns the status, to notice a replaced file by {@link
     * FileStatus#isSameFile}.
     */
    public FileStatus status() {
        return status;
    }

    /**
     * Faults all pages in now, so that no first access takes a page fault; contents do not change. Returns 0 or a
     * negative errno, see {@link Libc#populate}; {@code -EFAULT} if the file was cut.
     */
    public int populate() {
        return populate(mapping.lengthBytes);
    }

    /**
     * The same for the first bytes.
     *
     * @param firstBytes of the file, rounded up to whole pages.
     * @return as {@link #populate()}.
     */
    public int populate(long firstBytes) {
        requireMapped();
        long pageBytes = Libc.pageBytes();
        return Libc.populate(
            mapping.address, Math.min(mapping.lengthBytes, firstBytes + pageBytes - 1 & -pageBytes), !readOnly);
    }

    /**
     * Reserves blocks for a range of the file that is not in use yet, by writing a zero to each page.
     *
     * @param fromBytes offset of the first byte without a block, or of one before it in the same page.
     * @param toBytes   offset behind the last one.
     * @throws NativeCallException ENOSPC if the file system has no room; some pages have blocks then.
     */
    public void extend(long fromBytes, long toBytes) {
        requireWritable();
        long pageBytes = Libc.pageBytes();
        long from = fromBytes + pageBytes - 1 & -pageBytes;
        long to = Math.min(mapping.lengthBytes, toBytes + pageBytes - 1 & -pageBytes);
        if (from >= to) {
            return;
        }
        if (Libc.populate(mapping.address + from, to - from, true) < 0
            || !touch(mapping.address, from, to, pageBytes)) {
            throw new NativeCallException("write", LinuxErrno.ENOSPC, path + " from byte " + from + " to byte " + to
                + ": the file system has no room for them. Free some, or use shorter files");
        }
    }

    /** For kernels that populate nothing: a store without room fails as one beyond the end of the file does. */
    private static boolean touch(long address, long from, long to, long pageBytes) {
        try {
            for (long at = from; at < to; at += pageBytes) {
                UnsafeApi.putLongVolatile(null, address + at, 0);
            }
            // compiled code raises a fault only at the next turn of a loop: the second one raises that of the last page
            for (long at = from; at < to; at += pageBytes) {
                UnsafeApi.getLongVolatile(null, address + at);
            }
            return true;
        } catch (InternalError e) {
            return false;
        }
    }

    /**
     * Checks whether the file is shorter now than when it was mapped, so that an access beyond its new end fails.
     * Returns true if its last page is gone.
     */
    public boolean isCut() {
        return isCut(mapping.lengthBytes);
    }

    /**
     * The same for a file that has no blocks behind its first bytes: a page without one cannot be told from one that is
     * gone where the file system is full.
     *
     * @param firstBytes of the file that have blocks.
     */
    public boolean isCut(long firstBytes) {
        requireMapped();
        long pageBytes = Libc.pageBytes();
        long lastPage = Math.min(firstBytes, mapping.lengthBytes) - 1 & -pageBytes;
        // the kernel reads the page for us: right also if the name was deleted or given to another file
        return Libc.populate(mapping.address + lastPage, pageBytes, false) == -LinuxErrno.EFAULT;
    }

    /**
     * The whole file as a buffer.
     *
     * @throws IllegalStateException if the file is longer than 2 GiB - 1, or closed, or mapped read-only: a store
     *     through the buffer would end the process, so take {@link #directBuffer} or {@link #segment()} there.
     */
    public UnsafeBuffer buffer() {
        requireWritable();
        if (mapping.lengthBytes > Integer.MAX_VALUE) {
            throw new IllegalStateException(path + " has " + mapping.lengthBytes +
                " bytes, more than one buffer can show: take parts by buffer(offset, length)");
        }
        return buffer(0, (int) mapping.lengthBytes);
    }

    /**
     * A part of the file as a buffer.
     *
     * @param offset first byte.
     * @throws IndexOutOfBoundsException if the part is not inside the file.
     * @throws IllegalStateException if closed, or mapped read-only as for {@link #buffer()}.
     */
    public UnsafeBuffer buffer(long offset, int lengthBytes) {
        requireWritable();
        return view(offset, lengthBytes);
    }

    private UnsafeBuffer view(long offset, int lengthBytes) {
        requireMapped();
        Objects.checkFromIndexSize(offset, lengthBytes, mapping.lengthBytes);
        MemorySegment owner = owningSegment;
        // A buffer made of a segment's byte buffer keeps the segment, and so the mapping, alive.
        return owner == null ? new UnsafeBuffer(mapping.address + offset, lengthBytes) :
            new UnsafeBuffer(owner.asSlice(offset, lengthBytes).asByteBuffer());
    }

    /**
     * A part of the file as a buffer for reading, to be handed out.
     *
     * @param offset first byte.
     * @throws IndexOutOfBoundsException if the part is not inside the file.
     * @throws IllegalStateException if closed.
     */
    public DirectBuffer directBuffer(long offset, int lengthBytes) {
        return view(offset, lengthBytes);
    }

    /**
     * The whole file as a segment: read-only if mapped so. Before {@link #segment(Arena)} its scope is global, so
     * that nothing guards an access after {@link #close()}; afterwards it is the arena's.
     *
     * @throws IllegalStateException if closed.
     */
    @SuppressWarnings("restricted")
    public MemorySegment segment() {
        requireMapped();
        MemorySegment owner = owningSegment;
        return owner != null ? owner :
            protect(MemorySegment.ofAddress(mapping.address).reinterpret(mapping.lengthBytes));
    }

    /**
     * Hands the mapping to an arena, once: it is unmapped when the arena closes, or with {@link Arena#ofAuto()} when
     * nothing reachable refers to it any more; {@link #close()} has no effect from now on.
     *
     * <p>Accesses through the segment after the arena's end throw instead of ending the process; accesses through
     * buffers are guarded only with an automatic arena, which they keep alive.
     *
     * @return the whole file, read-only if mapped so.
     * @throws IllegalStateException if it belongs to an arena already or is closed.
     */
    @SuppressWarnings("restricted")
    public MemorySegment segment(Arena arena) {
        if (!handedOver.compareAndSet(false, true)) {
            throw new IllegalStateException(path + " is closed or belongs to an arena already");
        }
        // The clean-up must not refer to this object, which refers to the segment.
        Mapping handedMapping = mapping;
        MemorySegment segment = protect(MemorySegment.ofAddress(handedMapping.address)
            .reinterpret(handedMapping.lengthBytes, arena, ended -> handedMapping.unmap()));
        owningSegment = segment;
        return segment;
    }

    /**
     * Returns an object that can release the file before the arena ends, for an owner that must not keep the mapping
     * alive by itself.
     *
     * @return an object that does not refer to the memory.
     * @throws IllegalStateException before {@link #segment(Arena)}.
     */
    public Discard discard() {
        MemorySegment owner = owningSegment;
        if (owner == null) {
            throw new IllegalStateException(path + " belongs to no arena");
        }
        return new Discard(mapping, owner.scope(), readOnly);
    }

    /** Releases a mapped file although buffers may still refer to its memory. */
    public static final class Discard {
        private final Mapping mapping;
        private final WeakReference<MemorySegment.Scope> scope;
        private final int prot;

        private Discard(Mapping mapping, MemorySegment.Scope scope, boolean readOnly) {
            this.mapping = mapping;
            this.scope = new WeakReference<>(scope);
            this.prot = readOnly ? Libc.PROT_READ : Libc.PROT_READ | Libc.PROT_WRITE;
        }

        public long lengthBytes() {
            return mapping.lengthBytes;
        }

        /** Checks whether nothing refers to the memory any more. */
        public boolean isOver() {
            return scope.refersTo(null);
        }

        /**
         * Replaces the file by zeros, which the kernel frees if this was its last mapping. Later accesses do
         * not fail: they read zeros, and their stores reach no process. The arena releases the addresses. Does
         * nothing if the arena has ended, or if the kernel has no memory for it.
         */
        public void run() {
            MemorySegment.Scope alive = scope.get();
            if (alive == null) {
                return;
            }
            try {
                if (!mapping.unmapped.get()) {
                    Libc.mapZeros(mapping.address, mapping.lengthBytes, prot);
                }
            } finally {
                // until here the arena cannot unmap, so the addresses cannot have been reused
                Reference.reachabilityFence(alive);
            }
        }
    }

    @Override
    public String toString() {
        return path + " (" + mapping.lengthBytes + " bytes" + (readOnly ? ", read-only" : "") +
            (isUnmapped() ? ", unmapped" : "") + ")";
    }

    private MemorySegment protect(MemorySegment segment) {
        return readOnly ? segment.asReadOnly() : segment;
    }

    private void requireWritable() {
        if (readOnly) {
            throw new IllegalStateException(path + " is mapped read-only: take directBuffer(offset, length)");
        }
    }

    private void requireMapped() {
        if (isUnmapped()) {
            throw new IllegalStateException(path + " is not mapped any more");
        }
    }

    private static void check(String path, FileStatus status, long minLengthBytes, long uid) {
        if (!status.isRegular()) {
            throw new NativeCallException("check of type", LinuxErrno.EINVAL,
                path + " is not a regular file (" + status + "): delete it");
        }
        if (status.uid() != uid) {
            throw new NativeCallException("check of owner", LinuxErrno.EACCES,
                path + " belongs to user " + status.uid() + ", must belong to " + uid);
        }
        if (status.sizeBytes() < minLengthBytes) {
            throw new NativeCallException("check of length", LinuxErrno.EINVAL,
                path + " has " + status.sizeBytes() + " bytes, needs " + minLengthBytes +
                ": it was cut, or is not completely made yet");
        }
    }

    private static MappedFile map(int fd, String path, boolean readOnly, FileStatus status, long lengthBytes) {
        int prot = readOnly ? Libc.PROT_READ : Libc.PROT_READ | Libc.PROT_WRITE;
        long address = Libc.mmap(lengthBytes, prot, Libc.MAP_SHARED, fd, 0);
        if (address < 0) {
            throw new NativeCallException("mmap", (int) -address, path + ", " + lengthBytes +
                " bytes: see vm.max_map_count and the limit of virtual memory (ulimit -v)");
        }
        return new MappedFile(new Mapping(address, lengthBytes), path, readOnly, status);
    }

    private static NativeCallException notReserved(int dirFd, String name, long wantedBytes, int errno, int fd) {
        String path = Libc.describe(dirFd, name);
        // The blocks reserved so far are freed first, so that the message shows the space that is really available.
        Libc.ftruncate(fd, 0);
        long freeBytes = Libc.freeBytes(fd);
        String free = freeBytes < 0 ? "unknown" : freeBytes == Long.MAX_VALUE ? "not limited" : freeBytes + " bytes";
        String remedy = errno == LinuxErrno.ENOSPC || errno == LinuxErrno.EDQUOT ?
            "; make room there, give the file system more (for /dev/shm: mount -o remount,size=... /dev/shm, or " +
                "--shm-size of the container), or configure smaller queues and regions" : "";
        return new NativeCallException("fallocate", errno,
            path + ": wanted " + wantedBytes + " bytes, free on its file system: " + free + remedy);
    }

    private static void requirePlainName(String name) {
        if (name.isEmpty() || name.indexOf('/') >= 0 || name.indexOf('\0') >= 0 ||
            name.equals(".") || name.equals("..")) {
            throw new IllegalArgumentException("'" + name + "' is not a plain file name");
        }
    }

    /** The mapped range and its state; the only object that the clean-up of an arena may refer to. */
    private static final class Mapping {
        private final long address;
        private final long lengthBytes;
        private final AtomicBoolean unmapped = new AtomicBoolean();

        Mapping(long address, long lengthBytes) {
            this.address = address;
            this.lengthBytes = lengthBytes;
        }

        void unmap() {
            if (unmapped.compareAndSet(false, true)) {
                Libc.munmap(address, lengthBytes);
            }
        }
    }
}
