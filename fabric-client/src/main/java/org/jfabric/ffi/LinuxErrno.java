package org.jfabric.ffi;

/**
 * Errno numbers of Linux (x86_64 and aarch64 share them) as far as this package compares or names them. Constants and
 * pure functions; any thread.
 */
public final class LinuxErrno {
    static final int EPERM = 1;
    static final int ENOENT = 2;
    static final int EINTR = 4;
    static final int EBADF = 9;
    static final int EAGAIN = 11;
    static final int ENOMEM = 12;
    static final int EACCES = 13;
    static final int EFAULT = 14;
    public static final int EEXIST = 17;
    public static final int EXDEV = 18;
    static final int ENOTDIR = 20;
    static final int EINVAL = 22;
    static final int EMFILE = 24;
    static final int ENOSPC = 28;
    static final int EPIPE = 32;
    static final int ERANGE = 34;
    static final int ENAMETOOLONG = 36;
    static final int ENOSYS = 38;
    static final int ELOOP = 40;
    static final int EOPNOTSUPP = 95;
    static final int EADDRINUSE = 98;
    static final int ECONNRESET = 104;
    static final int ENOTCONN = 107;
    static final int ETIMEDOUT = 110;
    static final int ECONNREFUSED = 111;
    public static final int EDQUOT = 122;

    private LinuxErrno() {
    }

    /**
     * Name and meaning of an errno for messages.
     *
     * @param errno positive errno.
     * @return for example {@code ENOSPC (28, no space left on device)}; for a number without a name here
     *     {@code errno 200}.
     */
    public static String describe(int errno) {
        String text = text(errno);
        int space = text.indexOf(' ');
        return space < 0 ? "errno " + errno :
            text.substring(0, space) + " (" + errno + ", " + text.substring(space + 1) + ")";
    }

    /**
     * Symbolic name of an errno.
     *
     * @param errno positive errno.
     * @return for example {@code ENOTDIR}, or null for a number without a name here.
     */
    public static String name(int errno) {
        String text = text(errno);
        int space = text.indexOf(' ');
        return space < 0 ? null : text.substring(0, space);
    }

    private static String text(int errno) {
        return switch (errno) {
            case EPERM -> "EPERM operation not permitted";
            case ENOENT -> "ENOENT no such file or directory";
            case EINTR -> "EINTR interrupted by a signal";
            case 5 -> "EIO input/output error";
            case 6 -> "ENXIO no such device or address";
            case EBADF -> "EBADF bad file descriptor";
            case EAGAIN -> "EAGAIN try again, or locked by another process";
            case ENOMEM -> "ENOMEM out of memory or of mappings";
            case EACCES -> "EACCES permission denied";
            case EFAULT -> "EFAULT bad address";
            case 16 -> "EBUSY device or resource busy";
            case EXDEV -> "EXDEV another file system";
            case EEXIST -> "EEXIST file exists";
            case 19 -> "ENODEV no such device";
            case ENOTDIR -> "ENOTDIR not a directory";
            case 21 -> "EISDIR is a directory";
            case EINVAL -> "EINVAL invalid argument";
            case 23 -> "ENFILE too many open files in the system";
            case 24 -> "EMFILE too many open files in the process";
            case 26 -> "ETXTBSY file is being executed";
            case 27 -> "EFBIG file too large";
            case ENOSPC -> "ENOSPC no space left on device";
            case 30 -> "EROFS read-only file system";
            case EPIPE -> "EPIPE other end is closed";
            case ERANGE -> "ERANGE buffer too short";
            case ENAMETOOLONG -> "ENAMETOOLONG name too long";
            case ENOSYS -> "ENOSYS not known to this kernel";
            case 39 -> "ENOTEMPTY directory not empty";
            case ELOOP -> "ELOOP symbolic link refused";
            case 75 -> "EOVERFLOW value too large";
            case 88 -> "ENOTSOCK not a socket";
            case 91 -> "EPROTOTYPE wrong type of socket";
            case EOPNOTSUPP -> "EOPNOTSUPP not supported here";
            case EADDRINUSE -> "EADDRINUSE address in use";
            case 103 -> "ECONNABORTED connection aborted";
            case 104 -> "ECONNRESET connection reset by peer";
            case 105 -> "ENOBUFS no buffer space";
            case 106 -> "EISCONN already connected";
            case ENOTCONN -> "ENOTCONN not connected";
            case ETIMEDOUT -> "ETIMEDOUT timed out";
            case ECONNREFUSED -> "ECONNREFUSED no process listens there";
            case 116 -> "ESTALE stale file handle";
            case EDQUOT -> "EDQUOT disk quota exceeded";
            default -> "?";
        };
    }
}
