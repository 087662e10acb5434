package org.jfabric.ffi;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Files, directories, mappings and locks: the control calls of the C library.
 *
 * <p>Each returns 0 or its result, or the negative errno. Any thread may call. Calls that may sleep (open, reserve) are
 * not for a duty cycle. Calls that a signal interrupts are repeated here, unless stated otherwise.
 */
public final class Libc {
    /** Stands for the current directory in place of a directory descriptor. */
    public static final int AT_FDCWD = -100;
    /** Open for reading. */
    public static final int O_RDONLY = 0;
    /** Open for reading and writing. */
    public static final int O_RDWR = 2;
    /** Make the file if there is none. */
    public static final int O_CREAT = 0x40;
    /** With O_CREAT: fail if there is one. */
    public static final int O_EXCL = 0x80;
    /** Do not block, in particular not on opening a pipe. */
    public static final int O_NONBLOCK = 0x800;
    /** Refuse anything but a directory; the number differs between processors. */
    public static final int O_DIRECTORY = Platform.AARCH64 ? 0x4000 : 0x10000;
    /** Refuse a symbolic link as last part of the name; the number differs between processors. */
    public static final int O_NOFOLLOW = Platform.AARCH64 ? 0x8000 : 0x20000;
    /** Close the descriptor in child processes. */
    public static final int O_CLOEXEC = 0x80000;

    /** Mapping can be read. */
    public static final int PROT_READ = 1;
    /** Mapping can be written. */
    public static final int PROT_WRITE = 2;
    /** Stores reach the file and all other processes that map it. */
    public static final int MAP_SHARED = 1;
    /** Stores stay in this mapping. */
    public static final int MAP_PRIVATE = 2;
    /** No file behind the mapping. */
    public static final int MAP_ANONYMOUS = 0x20;
    /** Exactly at the given address, in place of what is mapped there. */
    private static final int MAP_FIXED = 0x10;
    /** No memory is reserved for pages that are never written. */
    private static final int MAP_NORESERVE = 0x4000;

    /** Take huge pages that the administrator has reserved, of the system's default size unless another is added. */
    public static final int MAP_HUGETLB = 0x40000;
    /** With {@link #MAP_HUGETLB}: pages of 2 MiB, whatever the default is. */
    public static final int MAP_HUGE_2MB = 21 << 26;

    /** Back aligned parts by huge pages where there are some free. */
    public static final int MADV_HUGEPAGE = 14;
    /** Read every page in, without changing contents (Linux 5.14). */
    public static final int MADV_POPULATE_READ = 22;
    /** Make every page writable now, without changing contents (Linux 5.14). */
    public static final int MADV_POPULATE_WRITE = 23;

    private static final int F_DUPFD_CLOEXEC = 1030;
    private static final int F_GETFL = 3;
    private static final int F_SETFL = 4;
    private static final int F_OFD_GETLK = 36;
    private static final int F_OFD_SETLK = 37;
    private static final short F_WRLCK = 1;
    private static final short F_UNLCK = 2;
    private static final int SC_PAGESIZE = 30;
    private static final int AT_REMOVEDIR = 0x200;
    private static final int AT_SYMLINK_NOFOLLOW = 0x100;
    private static final int AT_EMPTY_PATH = 0x1000;
    private static final int UNCHANGED = -1;
    private static final int O_ACCMODE = 3;
    private static final long SMALLEST_RESERVE_BYTES = 64 * 1024;

    private static final Downcall OPENAT = Downcall.variadic("openat", 3, 4);
    private static final Downcall CLOSE = Downcall.of("close", 1);
    private static final Downcall KILL = Downcall.of("kill", 2);
    private static final Downcall FTRUNCATE = Downcall.of("ftruncate", 2);
    private static final Downcall FALLOCATE = Downcall.of("fallocate", 4);
    private static final Downcall POSIX_FALLOCATE = Downcall.of("posix_fallocate", 3);
    private static final Downcall FSYNC = Downcall.of("fsync", 1);
    private static final Downcall FDATASYNC = Downcall.of("fdatasync", 1);
    private static final Downcall UNLINKAT = Downcall.of("unlinkat", 3);
    private static final Downcall LINKAT = Downcall.of("linkat", 5);
    private static final Downcall MKDIRAT = Downcall.of("mkdirat", 3);
    private static final Downcall FCHMOD = Downcall.of("fchmod", 2);
    private static final Downcall FCHMODAT = Downcall.of("fchmodat", 4);
    private static final Downcall FCHOWNAT = Downcall.of("fchownat", 5);
    private static final Downcall FSTATFS = Downcall.of("fstatfs", 2);
    private static final QuickDowncall PREAD = QuickDowncall.of("pread", 4);
    private static final QuickDowncall PWRITE = QuickDowncall.of("pwrite", 4);
    /** The same, for the errno of one that has failed. */
    private static final Downcall FAILED_PREAD = Downcall.of("pread", 4);
    private static final Downcall FAILED_PWRITE = Downcall.of("pwrite", 4);
    private static final Downcall MMAP = Downcall.of("mmap", 6);
    private static final Downcall MUNMAP = Downcall.of("munmap", 2);
    private static final Downcall MADVISE = Downcall.of("madvise", 3);
    private static final Downcall FCNTL = Downcall.variadic("fcntl", 2, 3);
    private static final Downcall GETEUID = Downcall.of("geteuid", 0);
    private static final Downcall SYSCONF = Downcall.of("sysconf", 1);

    private static final long PAGE_BYTES = readPageBytes();

    private Libc() {
    }

    /**
     * Opens a file.
     *
     * @param dirFd directory that a relative name starts from, or {@link #AT_FDCWD}.
     * @param name path, UTF-8, at most 4,095 bytes.
     * @param flags of the O constants; O_CLOEXEC is not added by itself.
     * @param mode permissions of a new file, reduced by the process's umask.
     * @return descriptor; {@code -ELOOP} for a symbolic link with O_NOFOLLOW ({@code -ENOTDIR} with O_DIRECTORY too);
     *     {@code -EEXIST}, {@code -ENOENT}, {@code -EACCES}, {@code -ENOTDIR}, {@code -EMFILE}, {@code -ENOSPC};
     *     {@code -EINVAL} for a name that is empty or contains a zero.
     */
    public static int openat(int dirFd, String name, int flags, int mode) {
        CallState state = CallState.current();
        int result = state.putName(name);
        if (result < 0) {
            return result;
        }
        do {
            result = state.intResult(OPENAT.call(state, dirFd, state.scratchAddress, flags, mode));
        } while (result == -LinuxErrno.EINTR);
        return result;
    }

    /**
     * Opens a directory as starting point of names; a symbolic link as the last part of the path is refused. Returns
     * the descriptor, close-on-exec; {@code -ENOTDIR} for anything else, also a symbolic link; {@code -ENOENT}, {@code
     * -EACCES}.
     */
    public static int openDirectory(Path path) {
        return openat(AT_FDCWD, path.toString(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
    }

    /**
     * Closes a descriptor. It is gone even if an error is returned, so closing is never repeated. Returns 0 or {@code
     * -EBADF}, {@code -EIO}.
     */
    public static int close(int fd) {
        CallState state = CallState.current();
        int result = state.intResult(CLOSE.call(state, fd));
        return result == -LinuxErrno.EINTR ? 0 : result;
    }

    /** Sends a signal to a process. Returns 0; {@code -ESRCH} if there is none; {@code -EPERM}, {@code -EINVAL}. */
    public static int kill(int pid, int signal) {
        CallState state = CallState.current();
        return state.intResult(KILL.call(state, pid, signal));
    }

    /**
     * Makes another descriptor of the same open file, which is closed in child processes. Returns the new descriptor;
     * {@code -EBADF}, {@code -EMFILE}.
     */
    public static int duplicate(int fd) {
        CallState state = CallState.current();
        return state.intResult(FCNTL.call(state, fd, F_DUPFD_CLOEXEC, 0));
    }

    /**
     * Writes a file or directory to stable storage with all that is known of it, and waits for that. Returns 0; {@code
     * -EIO}, {@code -ENOSPC}, {@code -EDQUOT} if something could not be written: a later call does not show that again;
     * {@code -EROFS}, {@code -EINVAL}, {@code -EBADF}.
     */
    public static int fsync(int fd) {
        CallState state = CallState.current();
        int result;
        do {
            result = state.intResult(FSYNC.call(state, fd));
        } while (result == -LinuxErrno.EINTR);
        return result;
    }

    /**
     * Writes the bytes of a file to stable storage, also those that were stored by mappings, with what is needed to
     * read them back, and waits for that. The answers are those of {@link #fsync}.
     */
    public static int fdatasync(int fd) {
        CallState state = CallState.current();
        int result;
        do {
            result = state.intResult(FDATASYNC.call(state, fd));
        } while (result == -LinuxErrno.EINTR);
        return result;
    }

    /**
     * Whether the file system of an open file or directory keeps its files in memory only.
     *
     * @return the name of the kind of file system: {@code tmpfs}, {@code ramfs}, {@code hugetlbfs}; null for others.
     * @throws NativeCallException EBADF.
     */
    public static String volatileFileSystem(int fd) {
        CallState state = CallState.current();
        int result = state.intResult(FSTATFS.call(state, fd, state.scratchAddress));
        if (result < 0) {
            throw new NativeCallException("fstatfs", -result, "descriptor " + fd);
        }
        return Statfs.volatileName(state.scratch);
    }

    /**
     * Whether an open file is one of those by which the system shows processes.
     *
     * @return false also for one that is not open.
     */
    public static boolean isInProcFileSystem(int fd) {
        CallState state = CallState.current();
        int result = state.intResult(FSTATFS.call(state, fd, state.scratchAddress));
        return result == 0 && Statfs.isProc(state.scratch);
    }

    /**
     * Reads bytes of a file at a place, without a retry.
     *
     * @param address     native address for the bytes.
     * @param lengthBytes at most.
     * @param offset      of the first byte in the file.
     * @return number of bytes, perhaps fewer; 0 at the end; -1 for any error, among them memory that is not mapped.
     */
    public static long pread(int fd, long address, long lengthBytes, long offset) {
        return PREAD.call(fd, address, lengthBytes, offset);
    }

    /**
     * Writes bytes of a file at a place, without a retry.
     *
     * @param address     native address of the bytes.
     * @param lengthBytes at most.
     * @param offset      of the first byte in the file.
     * @return number of bytes, perhaps fewer; -1 for any error, among them memory that is not mapped.
     */
    public static long pwrite(int fd, long address, long lengthBytes, long offset) {
        return PWRITE.call(fd, address, lengthBytes, offset);
    }

    /**
     * Reads bytes of a file at a place, until all are there or the file ends. Allocates nothing unless it fails.
     *
     * @return number of bytes, fewer at the end of the file; {@code -EIO}, {@code -EBADF}, {@code -EISDIR}.
     */
    public static long readFully(int fd, long address, long lengthBytes, long offset) {
        long done = 0;
        while (done < lengthBytes) {
            long count = pread(fd, address + done, lengthBytes - done, offset + done);
            if (count < 0) {
                CallState state = CallState.current();
                count = state.result(
                    FAILED_PREAD.call(state, fd, address + done, lengthBytes - done, offset + done));
            }
            if (count == 0) {
                return done;
            }
            if (count > 0) {
                done += count;
            } else if (count != -LinuxErrno.EINTR) {
                return count;
            }
        }
        return done;
    }

    /**
     * Writes all bytes into a file at a place. Allocates nothing unless it fails.
     *
     * @return 0; {@code -ENOSPC}, {@code -EDQUOT}, {@code -EIO}, {@code -EFBIG}, {@code -EBADF}: some bytes may be
     *     written.
     */
    public static int writeFully(int fd, long address, long lengthBytes, long offset) {
        long done = 0;
        while (done < lengthBytes) {
            long count = pwrite(fd, address + done, lengthBytes - done, offset + done);
            if (count < 0) {
                CallState state = CallState.current();
                count = state.result(
                    FAILED_PWRITE.call(state, fd, address + done, lengthBytes - done, offset + done));
            }
            if (count >= 0) {
                done += count;
            } else if (count != -LinuxErrno.EINTR) {
                return (int) count;
            }
        }
        return 0;
    }

    /**
     * Whether a descriptor was opened for reading and writing.
     *
     * @return false also for one that is not open.
     */
    public static boolean isReadWrite(int fd) {
        CallState state = CallState.current();
        int flags = state.intResult(FCNTL.call(state, fd, F_GETFL, 0));
        return flags >= 0 && (flags & O_ACCMODE) == O_RDWR;
    }

    /**
     * Sets the length of a file; what is added is a hole, see {@link #reserve} for blocks. Returns 0 or {@code
     * -EINVAL}, {@code -EBADF}, {@code -EFBIG}.
     */
    public static int ftruncate(int fd, long lengthBytes) {
        CallState state = CallState.current();
        int result;
        do {
            result = state.intResult(FTRUNCATE.call(state, fd, lengthBytes));
        } while (result == -LinuxErrno.EINTR);
        return result;
    }

    /**
     * Calls fallocate once, without a retry.
     *
     * @param mode 0 to reserve blocks and extend the file.
     * @param offset first byte.
     * @param lengthBytes number of bytes, at least 1.
     * @return 0; {@code -ENOSPC}, {@code -EDQUOT}, {@code -EFBIG}, {@code -EOPNOTSUPP}, {@code -EINTR} (nothing done).
     */
    public static int fallocate(int fd, int mode, long offset, long lengthBytes) {
        CallState state = CallState.current();
        return state.intResult(FALLOCATE.call(state, fd, mode, offset, lengthBytes));
    }

    /**
     * Reserves the blocks of a part of a file, so that no later store into a mapping of it can fail for want of space;
     * contents stay, the file is extended if it ends before.
     *
     * <p>File systems without fallocate get the blocks by writing (posix_fallocate). If signals keep interrupting the
     * call (tmpfs gives up the whole call then) it continues in smaller pieces. After an error some blocks may be
     * reserved, but none if the file system has less room than the file is to grow by.
     *
     * @param offset first byte.
     * @param lengthBytes number of bytes, at least 1.
     * @return 0; {@code -ENOSPC} or {@code -EDQUOT} if there is no room; {@code -EFBIG}, {@code -EBADF},
     *     {@code -EINVAL}.
     */
    public static int reserve(int fd, long offset, long lengthBytes) {
        if (offset < 0 || lengthBytes < 1 || offset + lengthBytes < 0) {
            return -LinuxErrno.EINVAL;
        }
        long end = offset + lengthBytes;
        long free = freeBytes(fd);
        if (free < 0) {
            return (int) free;
        }
        // a disk is filled completely before fallocate finds that it is too small: other writers get ENOSPC meanwhile
        if (end - FileStatus.of(fd).sizeBytes() > free) {
            return -LinuxErrno.ENOSPC;
        }
        long position = offset;
        long pieceBytes = lengthBytes;
        while (position < end) {
            long wanted = Math.min(pieceBytes, end - position);
            int result = fallocate(fd, 0, position, wanted);
            if (result == -LinuxErrno.EOPNOTSUPP || result == -LinuxErrno.ENOSYS) {
                result = posixFallocate(fd, position, wanted);
            }
            if (result == 0) {
                position += wanted;
            } else if (result == -LinuxErrno.EINTR) {
                pieceBytes = Math.max(SMALLEST_RESERVE_BYTES, wanted / 2);
            } else {
                return result;
            }
        }
        return 0;
    }

    /**
     * Deletes the name of a file, a socket or a symbolic link (not of what it points to). Mappings and open descriptors
     * stay valid.
     *
     * @param dirFd directory that a relative name starts from, or {@link #AT_FDCWD}.
     * @return 0 or {@code -ENOENT}, {@code -EISDIR}, {@code -EACCES}.
     */
    public static int unlinkat(int dirFd, String name) {
        return unlinkat(dirFd, name, 0);
    }

    /**
     * Gives a file a further name. Control path.
     *
     * @param dirFd    directory of its name.
     * @param newDirFd directory of the new name, on the same file system.
     * @return 0 or {@code -EEXIST} (whatever is there), {@code -ENOENT}, {@code -EXDEV}, {@code -EACCES},
     *     {@code -EPERM} (a file of another user), {@code -ENOSPC}.
     */
    public static int linkat(int dirFd, String name, int newDirFd, String newName) {
        CallState state = CallState.current();
        int result = state.putName(newName);
        if (result < 0) {
            return result;
        }
        try (Arena arena = Arena.ofConfined()) {
            long from = arena.allocateFrom(name).address();
            return state.intResult(LINKAT.call(state, dirFd, from, newDirFd, state.scratchAddress, 0));
        }
    }

    /**
     * Deletes an empty directory.
     *
     * @param dirFd directory that a relative name starts from, or {@link #AT_FDCWD}.
     * @return 0 or {@code -ENOENT}, {@code -ENOTEMPTY}, {@code -ENOTDIR}, {@code -EACCES}.
     */
    public static int rmdirat(int dirFd, String name) {
        return unlinkat(dirFd, name, AT_REMOVEDIR);
    }

    /**
     * Makes a directory.
     *
     * @param dirFd directory that a relative name starts from, or {@link #AT_FDCWD}.
     * @param mode permissions, reduced by the process's umask.
     * @return 0 or {@code -EEXIST} (whatever is there), {@code -ENOENT}, {@code -EACCES}, {@code -ENOSPC}.
     */
    public static int mkdirat(int dirFd, String name, int mode) {
        CallState state = CallState.current();
        int result = state.putName(name);
        if (result < 0) {
            return result;
        }
        return state.intResult(MKDIRAT.call(state, dirFd, state.scratchAddress, mode));
    }

    /** Sets the permissions of an open file, whatever the umask. Returns 0 or {@code -EPERM}, {@code -EBADF}. */
    public static int fchmod(int fd, int mode) {
        CallState state = CallState.current();
        return state.intResult(FCHMOD.call(state, fd, mode));
    }

    /**
     * Gives an open file or directory to a group; its owner stays. Returns 0; {@code -EPERM} if this process is neither
     * privileged nor in the group; {@code -EBADF}, {@code -EROFS}.
     */
    public static int changeGroup(int fd, long gid) {
        CallState state = CallState.current();
        state.scratch.set(ValueLayout.JAVA_BYTE, 0, (byte) 0);
        return state.intResult(FCHOWNAT.call(state, fd, state.scratchAddress, UNCHANGED, (int) gid, AT_EMPTY_PATH));
    }

    /**
     * Gives a named file to a group and sets its permissions, whatever the umask; its owner stays. In between it has
     * the new group and the old permissions.
     *
     * @param path to the file; a symbolic link is not followed to set the group.
     * @return 0; {@code -EPERM} if this process is neither privileged nor in the group; {@code -ENOENT}, {@code
     *     -EACCES}, {@code -EROFS}.
     */
    static int shareWithGroup(Path path, long gid, int mode) {
        CallState state = CallState.current();
        int result = state.putName(path.toString());
        if (result == 0) {
            result = state.intResult(FCHOWNAT.call(
                state, AT_FDCWD, state.scratchAddress, UNCHANGED, (int) gid, AT_SYMLINK_NOFOLLOW));
        }
        return result < 0 ? result : state.intResult(FCHMODAT.call(state, AT_FDCWD, state.scratchAddress, mode, 0));
    }

    /**
     * Free bytes of the file system that holds an open file or directory, as an unprivileged user may use them. Returns
     * the bytes; {@link Long#MAX_VALUE} if the file system has no limit of its own (tmpfs with size 0); {@code -EBADF}.
     */
    public static long freeBytes(int fd) {
        CallState state = CallState.current();
        int result = state.intResult(FSTATFS.call(state, fd, state.scratchAddress));
        return result < 0 ? result : Statfs.freeBytes(state.scratch);
    }

    /**
     * Maps a file, or memory without a file, at an address that the kernel chooses. {@link #munmap} removes the
     * mapping: see {@link MappedFile} for an owner.
     *
     * @param lengthBytes at least 1; the kernel rounds up to whole pages.
     * @param fd descriptor, -1 with MAP_ANONYMOUS; may be closed afterwards.
     * @param offset in the file, a multiple of the page size.
     * @return address, positive; {@code -ENOMEM}, {@code -EACCES}, {@code -EINVAL}, {@code -EBADF}, {@code -ENODEV}.
     */
    public static long mmap(long lengthBytes, int prot, int flags, int fd, long offset) {
        CallState state = CallState.current();
        return state.result(MMAP.call(state, 0L, lengthBytes, prot, flags, fd, offset));
    }

    /**
     * Replaces a mapping by memory without a file, in one step: it reads as zeros, and stores into it reach no other
     * process. Accesses by the address still succeed, and the file that was mapped there is released.
     *
     * @param address of a page, the first of a mapping of the caller's own.
     * @return 0 or {@code -ENOMEM}, {@code -EINVAL}.
     */
    public static int mapZeros(long address, long lengthBytes, int prot) {
        CallState state = CallState.current();
        long result = state.result(MMAP.call(
            state, address, lengthBytes, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0L));
        return result < 0 ? (int) result : 0;
    }

    /**
     * Removes a mapping. Any later access through its addresses ends the process.
     *
     * @param lengthBytes at least 1, rounded up to whole pages.
     * @return 0 (also if nothing was mapped there) or {@code -EINVAL}.
     */
    public static int munmap(long address, long lengthBytes) {
        CallState state = CallState.current();
        return state.intResult(MUNMAP.call(state, address, lengthBytes));
    }

    /**
     * Calls madvise once, without a retry. Returns 0; {@code -EINVAL} if the kernel does not know the advice or the
     * address is not that of a page; {@code -ENOMEM} if something of it is not mapped; {@code -EFAULT} if the file ends
     * before; {@code -EINTR}.
     */
    public static int madvise(long address, long lengthBytes, int advice) {
        CallState state = CallState.current();
        return state.intResult(MADVISE.call(state, address, lengthBytes, advice));
    }

    /**
     * Faults the pages of a mapping in now instead of at the first access; contents do not change.
     *
     * @param writable true if the mapping can be written and shall be without a fault.
     * @return 0, also where the kernel is older than 5.14 and pages are faulted in by their first access as usual;
     *     {@code -ENOMEM}, {@code -EFAULT}.
     */
    public static int populate(long address, long lengthBytes, boolean writable) {
        int advice = writable ? MADV_POPULATE_WRITE : MADV_POPULATE_READ;
        int result;
        do {
            result = madvise(address, lengthBytes, advice);
        } while (result == -LinuxErrno.EINTR);
        return result == -LinuxErrno.EINVAL ? 0 : result;
    }

    /**
     * Locks a whole file for its open file description (not for the process, as POSIX locks are): closing another
     * descriptor of the same file does not unlock it, and a second open in the same process conflicts.
     *
     * <p>The lock ends with {@link #unlock(int)} or when the last copy of the descriptor is closed, also by death.
     *
     * @return 0; {@code -EAGAIN} if another holds a lock; {@code -EBADF}.
     */
    public static int lockExclusive(int fd) {
        return setLock(fd, F_WRLCK);
    }

    /** Gives up the lock of {@link #lockExclusive(int)}. Returns 0, also if it was not locked; {@code -EBADF}. */
    public static int unlock(int fd) {
        return setLock(fd, F_UNLCK);
    }

    /**
     * Whether another open file holds a lock of {@link #lockExclusive(int)}; takes none itself.
     *
     * @return 1 or 0; {@code -EBADF}.
     */
    public static int isLockedElsewhere(int fd) {
        CallState state = CallState.current();
        Flock.putWholeFile(state.scratch, F_WRLCK);
        int result = state.intResult(FCNTL.call(state, fd, F_OFD_GETLK, state.scratchAddress));
        return result < 0 ? result : Flock.type(state.scratch) == F_UNLCK ? 0 : 1;
    }

    /** User id that this process has the rights of. Returns the user id, 0 to 2^32 - 1. */
    public static long geteuid() {
        CallState state = CallState.current();
        return Integer.toUnsignedLong((int) GETEUID.call(state));
    }

    /** Size of a page of memory. Returns the bytes, a power of two (4,096 on x86_64; up to 65,536 on aarch64). */
    public static long pageBytes() {
        return PAGE_BYTES;
    }

    /** Makes a descriptor non-blocking. Returns 0 or {@code -EBADF}. */
    public static int setNonBlocking(int fd) {
        CallState state = CallState.current();
        int flags = state.intResult(FCNTL.call(state, fd, F_GETFL, 0));
        return flags < 0 ? flags : state.intResult(FCNTL.call(state, fd, F_SETFL, flags | O_NONBLOCK));
    }

    /**
     * Path of a name in an open directory, for messages.
     *
     * @param dirFd directory descriptor or {@link #AT_FDCWD}.
     * @return absolute path if the system shows the directory's path, otherwise a text with both.
     */
    static String describe(int dirFd, String name) {
        if (dirFd == AT_FDCWD) {
            return name;
        }
        try {
            return Files.readSymbolicLink(Path.of("/proc/self/fd/" + dirFd)) + "/" + name;
        } catch (IOException unknown) {
            return "directory descriptor " + dirFd + ", " + name;
        }
    }

    private static int posixFallocate(int fd, long offset, long lengthBytes) {
        CallState state = CallState.current();
        // Returns the errno instead of setting it.
        return -(int) POSIX_FALLOCATE.call(state, fd, offset, lengthBytes);
    }

    private static int unlinkat(int dirFd, String name, int flags) {
        CallState state = CallState.current();
        int result = state.putName(name);
        if (result < 0) {
            return result;
        }
        return state.intResult(UNLINKAT.call(state, dirFd, state.scratchAddress, flags));
    }

    private static int setLock(int fd, short type) {
        CallState state = CallState.current();
        Flock.putWholeFile(state.scratch, type);
        int result = state.intResult(FCNTL.call(state, fd, F_OFD_SETLK, state.scratchAddress));
        return result == -LinuxErrno.EACCES ? -LinuxErrno.EAGAIN : result;
    }

    private static long readPageBytes() {
        CallState state = CallState.current();
        return SYSCONF.call(state, SC_PAGESIZE);
    }

    /**
     * {@code struct flock} with 64-bit offsets.
     *
     * <pre>
     *   0 l_type s16 | 2 l_whence s16 | 4 padding | 8 l_start s64 | 16 l_len s64 | 24 l_pid s32 | 28 padding
     * </pre>
     */
    private static final class Flock {
        private static final long BYTES = 32;

        private Flock() {
        }

        static void putWholeFile(MemorySegment segment, short type) {
            // Start 0 and length 0 from SEEK_SET (0) are the whole file; l_pid must be 0 for these locks.
            segment.asSlice(0, BYTES).fill((byte) 0);
            segment.set(ValueLayout.JAVA_SHORT, 0, type);
        }

        static short type(MemorySegment segment) {
            return segment.get(ValueLayout.JAVA_SHORT, 0);
        }
    }

    /**
     * {@code struct statfs} of 64-bit Linux, as far as it is used.
     *
     * <pre>
     *   0 f_type | 8 f_bsize | 16 f_blocks | 24 f_bfree | 32 f_bavail | … | 72 f_frsize | … | 120 end
     * </pre>
     */
    private static final class Statfs {
        private static final long BLOCK_BYTES = 8;
        private static final long BLOCKS = 16;
        private static final long BLOCKS_AVAILABLE = 32;
        private static final long FRAGMENT_BYTES = 72;

        private static final long TMPFS_MAGIC = 0x0102_1994L;
        private static final long RAMFS_MAGIC = 0x8584_58F6L;
        private static final long HUGETLBFS_MAGIC = 0x9584_58F6L;
        private static final long PROC_MAGIC = 0x9FA0L;

        private Statfs() {
        }

        static boolean isProc(MemorySegment segment) {
            return type(segment) == PROC_MAGIC;
        }

        private static long type(MemorySegment segment) {
            return segment.get(ValueLayout.JAVA_LONG, 0) & 0xFFFF_FFFFL;
        }

        static String volatileName(MemorySegment segment) {
            long type = type(segment);
            if (type == TMPFS_MAGIC) {
                return "tmpfs";
            }
            return type == RAMFS_MAGIC ? "ramfs" : type == HUGETLBFS_MAGIC ? "hugetlbfs" : null;
        }

        static long freeBytes(MemorySegment segment) {
            if (segment.get(ValueLayout.JAVA_LONG, BLOCKS) == 0) {
                return Long.MAX_VALUE;
            }
            long fragmentBytes = segment.get(ValueLayout.JAVA_LONG, FRAGMENT_BYTES);
            long unitBytes = fragmentBytes > 0 ? fragmentBytes : segment.get(ValueLayout.JAVA_LONG, BLOCK_BYTES);
            return segment.get(ValueLayout.JAVA_LONG, BLOCKS_AVAILABLE) * unitBytes;
        }
    }
}
