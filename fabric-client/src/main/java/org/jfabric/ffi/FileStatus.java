package org.jfabric.ffi;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Status of a file at the moment of the call (statx).
 *
 * <p>Two files are the same if device and inode are equal. Immutable, any thread.
 */
public final class FileStatus {
    private static final int AT_EMPTY_PATH = 0x1000;
    private static final int AT_SYMLINK_NOFOLLOW = 0x100;
    private static final int STATX_BASIC_STATS = 0x7ff;
    private static final int S_IFMT = 0xf000;
    private static final int S_IFSOCK = 0xc000;
    private static final int S_IFLNK = 0xa000;
    private static final int S_IFREG = 0x8000;
    private static final int S_IFDIR = 0x4000;
    private static final int PERMISSIONS = 0xfff;

    private static final Downcall STATX = Downcall.of("statx", 5);

    private final int mode;
    private final long uid;
    private final long gid;
    private final long sizeBytes;
    private final long inode;
    private final long device;
    private final long linkCount;

    private FileStatus(MemorySegment segment, long offset) {
        mode = Short.toUnsignedInt(segment.get(ValueLayout.JAVA_SHORT, offset + Statx.MODE));
        uid = Integer.toUnsignedLong(segment.get(ValueLayout.JAVA_INT, offset + Statx.UID));
        gid = Integer.toUnsignedLong(segment.get(ValueLayout.JAVA_INT, offset + Statx.GID));
        sizeBytes = segment.get(ValueLayout.JAVA_LONG, offset + Statx.SIZE);
        inode = segment.get(ValueLayout.JAVA_LONG, offset + Statx.INODE);
        device = (long) segment.get(ValueLayout.JAVA_INT, offset + Statx.DEVICE_MAJOR) << Integer.SIZE |
            Integer.toUnsignedLong(segment.get(ValueLayout.JAVA_INT, offset + Statx.DEVICE_MINOR));
        linkCount = Integer.toUnsignedLong(segment.get(ValueLayout.JAVA_INT, offset + Statx.LINK_COUNT));
    }

    /**
     * Reads the status of an open file.
     *
     * @throws NativeCallException EBADF.
     */
    public static FileStatus of(int fd) {
        CallState state = CallState.current();
        state.scratch.set(ValueLayout.JAVA_BYTE, 0, (byte) 0);
        int result = statx(state, fd, AT_EMPTY_PATH);
        if (result < 0) {
            throw new NativeCallException("statx", -result, "descriptor " + fd);
        }
        return new FileStatus(state.scratch, CallState.STRUCT_OFFSET);
    }

    /**
     * Reads the status of a name; a symbolic link as its last part is not followed.
     *
     * @param dirFd directory that a relative name starts from, or {@link Libc#AT_FDCWD}.
     * @return its status, or null if there is no such name.
     * @throws NativeCallException EACCES, ENOTDIR, ENAMETOOLONG, EINVAL (empty name or one with a zero), EBADF.
     */
    public static FileStatus of(int dirFd, String name) {
        CallState state = CallState.current();
        int result = state.putName(name);
        if (result == 0) {
            result = statx(state, dirFd, AT_SYMLINK_NOFOLLOW);
        }
        if (result == -LinuxErrno.ENOENT) {
            return null;
        }
        if (result < 0) {
            throw new NativeCallException("statx", -result, Libc.describe(dirFd, name));
        }
        return new FileStatus(state.scratch, CallState.STRUCT_OFFSET);
    }

    private static int statx(CallState state, int dirFd, int flags) {
        return state.intResult(STATX.call(state, dirFd, state.scratchAddress, flags, STATX_BASIC_STATS,
            state.scratchAddress + CallState.STRUCT_OFFSET));
    }

    /** Permission bits. Returns 0 to 07777, for example 0600. */
    public int permissions() {
        return mode & PERMISSIONS;
    }

    /** Type and permission bits as the kernel has them. */
    public int mode() {
        return mode;
    }

    /** Owner. Returns the user id, 0 to 2^32 - 1. */
    public long uid() {
        return uid;
    }

    /** Group of the file. Returns the group id, 0 to 2^32 - 1. */
    public long gid() {
        return gid;
    }

    public long sizeBytes() {
        return sizeBytes;
    }

    /**
     * Number of the file on its device. Returns the inode; may be given to another file after this one is deleted and
     * no longer open or mapped.
     */
    public long inode() {
        return inode;
    }

    /** The file system. Returns the major number in the high, minor in the low 32 bits. */
    public long device() {
        return device;
    }

    /** Number of names. Returns 0 if every name was deleted. */
    public long linkCount() {
        return linkCount;
    }

    /** Checks whether it is a regular file. Returns true if so. */
    public boolean isRegular() {
        return (mode & S_IFMT) == S_IFREG;
    }

    /** Checks whether it is a directory. Returns true if so. */
    public boolean isDirectory() {
        return (mode & S_IFMT) == S_IFDIR;
    }

    /** Checks whether it is a local socket. Returns true if so. */
    public boolean isSocket() {
        return (mode & S_IFMT) == S_IFSOCK;
    }

    /** Checks whether it is a symbolic link itself. Returns true if so. */
    public boolean isSymbolicLink() {
        return (mode & S_IFMT) == S_IFLNK;
    }

    /**
     * Checks whether both describe the same file.
     *
     * @param other status of another moment or descriptor.
     * @return true if device and inode are equal.
     */
    public boolean isSameFile(FileStatus other) {
        return inode == other.inode && device == other.device;
    }

    @Override
    public String toString() {
        return "mode 0" + Integer.toOctalString(mode) + ", uid " + uid + ", gid " + gid + ", " + sizeBytes
            + " bytes, inode " + inode;
    }

    /**
     * {@code struct statx}, the same on every processor, 256 bytes.
     *
     * <pre>
     *   0 mask u32 | 4 blksize u32 | 8 attributes u64 | 16 nlink u32 | 20 uid u32 | 24 gid u32 | 28 mode u16
     *   32 ino u64 | 40 size u64 | 48 blocks u64 | … times | 128 rdev | 136 dev_major u32 | 140 dev_minor u32 | …
     * </pre>
     */
    private static final class Statx {
        static final long LINK_COUNT = 16;
        static final long UID = 20;
        static final long GID = 24;
        static final long MODE = 28;
        static final long INODE = 32;
        static final long SIZE = 40;
        static final long DEVICE_MAJOR = 136;
        static final long DEVICE_MINOR = 140;

        private Statx() {
        }
    }
}
