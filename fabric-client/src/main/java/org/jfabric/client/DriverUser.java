package org.jfabric.client;

import java.nio.file.Path;
import java.util.Map;
import org.jfabric.ffi.Accounts;
import org.jfabric.ffi.FileStatus;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.NativeAccess;
import org.jfabric.ffi.NativeCallException;
import org.jfabric.ffi.UnixSocket;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * The user whose driver a client trusts: a driver can read and write the memory that its clients register, and what
 * they send. It is the client's own user unless the application names another one, whose driver serves a group. A path
 * alone proves nothing: in a folder that others can write, any of them can make a directory with a socket in it.
 *
 * <p>Immutable; any thread.
 */
public record DriverUser(long uid) {
    private static final int WRITABLE_BY_OTHERS = 0022;

    public static DriverUser own() {
        // often the first native call of a process: say which flag is missing before the linker fails
        NativeAccess.check();
        return new DriverUser(Libc.geteuid());
    }

    /** The text of the system property, else of the environment variable, empty if neither is set. */
    public static String configured(Map<String, String> environment) {
        return System.getProperty(DefaultDirectory.USER_PROPERTY,
            environment.getOrDefault(DefaultDirectory.USER_VARIABLE, "")).strip();
    }

    /**
     * The user that property and environment of this process name.
     *
     * @return the own user if they name none.
     * @throws FabricException as {@link #of}.
     */
    public static DriverUser configured() {
        return of(configured(System.getenv()));
    }

    /**
     * Finds a user.
     *
     * @param nameOrNumber of a user; empty for the own one.
     * @throws FabricException {@link FabricErrno#EINVAL} if there is none.
     */
    public static DriverUser of(String nameOrNumber) {
        if (nameOrNumber.isBlank()) {
            return own();
        }
        NativeAccess.check();
        try {
            return new DriverUser(Accounts.userId(nameOrNumber.strip()));
        } catch (NativeCallException unknown) {
            throw new FabricException(FabricErrno.EINVAL, "the driver's user: " + unknown.getMessage(),
                "Set " + DefaultDirectory.USER_PROPERTY + " to the name or the number of a user, or leave it out.",
                unknown);
        }
    }

    /** Whether it is the user of this process, which then opens the driver's files by their names. */
    boolean isOwn() {
        return uid == Libc.geteuid();
    }

    /**
     * Checks that a connected socket and its directory are this user's, so that no other user can stand in for the
     * driver.
     *
     * @throws FabricException {@link FabricErrno#EACCES} with the users seen and needed.
     */
    void require(Path directory, int fd) {
        long driverUid = UnixSocket.peerCredentials(fd);
        FileStatus status = FileStatus.of(Libc.AT_FDCWD, directory.toString());
        if (status == null) {
            // a client that comes back gives up for another user's driver, but not for this
            throw new FabricException(FabricErrno.ENODEV, "the driver that was connected to has ended, and "
                + directory + " with it", "Connect again once a driver runs there.");
        }
        long directoryUid = status.uid();
        if (driverUid != uid || directoryUid != uid) {
            throw new FabricException(FabricErrno.EACCES, "the driver in " + directory + " runs as user " + driverUid
                + " in a directory of user " + directoryUid + ", this process is user " + Libc.geteuid()
                + (isOwn() ? "" : " and was configured for a driver of user " + uid),
                isOwn() ? "Driver and clients share memory and must be of one user; start a driver of your own. If its"
                    + " driver serves a group that you are in, and you trust that user, name the user with "
                    + DefaultDirectory.USER_PROPERTY + "."
                    : "Correct " + DefaultDirectory.USER_PROPERTY + " if you trust that user, or name another"
                    + " directory.");
        }
        if (!isOwn() && (status.permissions() & WRITABLE_BY_OTHERS) != 0) {
            throw new FabricException(FabricErrno.EACCES, directory + " of user " + uid + " has mode 0"
                + Integer.toOctalString(status.permissions()) + ", needed is 0750; this process is user "
                + Libc.geteuid(), "Let that user start the driver in a directory that no other user can write.");
        }
    }

    /**
     * Describes who may connect, for a client that may not. Returns the owner, mode and group of the first folder of
     * the path that is closed to this process, and its own user.
     */
    static String describeRefusal(Path directory) {
        Path shown = directory;
        FileStatus status = null;
        while (shown != null && status == null) {
            try {
                status = FileStatus.of(Libc.AT_FDCWD, shown.toString());
            } catch (NativeCallException closed) {
                // a folder above is closed
                status = null;
            }
            if (status == null) {
                shown = shown.getParent();
            }
        }
        return status == null ? "this process is user " + Libc.geteuid()
            : shown + " belongs to user " + status.uid() + " and group " + status.gid() + " with mode 0"
            + Integer.toOctalString(status.permissions()) + ", this process is user " + Libc.geteuid();
    }
}
