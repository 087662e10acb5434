package org.jfabric.driver;

import java.nio.file.Path;
import org.jfabric.driver.config.DirectoryConfig;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.ffi.Accounts;
import org.jfabric.ffi.FileStatus;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.NativeCallException;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * Who can reach a driver's directory: its user alone, or a group too. Members of the group can list the directory and
 * connect to the socket in it. They cannot change it, and all files in it are the owner's alone.
 *
 * @param gid group id, {@link #NO_GROUP} for the user alone.
 */
record DirectoryAccess(long gid) {
    /** No group has this number. */
    static final long NO_GROUP = -1;
    /** The driver's user alone. */
    static final DirectoryAccess OWNER = new DirectoryAccess(NO_GROUP);

    private static final int EPERM = 1;
    private static final int GROUP_MODE = 0750;
    private static final int GROUP_AND_OTHERS = 0077;
    /** Rights by which a group could change a directory, and any right of all others. */
    private static final int BEYOND_GROUP_MODE = 0027;
    private static final int WRITABLE_BY_OTHERS = 0022;
    private static final int SEARCHABLE_BY_GROUP = 0010;
    private static final int SEARCHABLE_BY_OTHERS = 0001;

    /**
     * The access that the options configure.
     *
     * @throws FabricException {@code FI_EINVAL} if there is no such group.
     */
    static DirectoryAccess of(DriverConfig config) {
        String group = config.get(DirectoryConfig.USERS_GROUP);
        if (group.equals(DirectoryConfig.NO_GROUP)) {
            return OWNER;
        }
        try {
            return new DirectoryAccess(Accounts.groupId(group));
        } catch (NativeCallException unknown) {
            throw new FabricException(FabricErrno.EINVAL, DirectoryConfig.USERS_GROUP.name() + ": "
                + unknown.getMessage(), "Name a group of this system (getent group), or give its number.", unknown);
        }
    }

    /** Whether a group can reach it. */
    boolean hasGroup() {
        return gid != NO_GROUP;
    }

    /**
     * Whether the permissions of a directory are those of a driver, with or without a group.
     *
     * @param status of the directory.
     * @return false if its group can write there, or all others can reach it.
     */
    static boolean fitsDriver(FileStatus status) {
        return (status.permissions() & BEYOND_GROUP_MODE) == 0;
    }

    /** Refuses a folder of drivers' directories in which others could replace them, or that the group cannot reach. */
    void requireBase(Path base, FileStatus status) {
        if (!hasGroup()) {
            requirePrivate(base, status);
            return;
        }
        if ((status.permissions() & WRITABLE_BY_OTHERS) != 0) {
            throw new FabricException(FabricErrno.EACCES, base + " has mode " + octal(status)
                + ", needed is 0750: others could replace the driver's directory",
                "Choose a folder that does not exist yet with jfabric.dir.base, or take the right to write there from"
                    + " all but its owner.");
        }
        boolean reachable = (status.permissions() & SEARCHABLE_BY_OTHERS) != 0
            || status.gid() == gid && (status.permissions() & SEARCHABLE_BY_GROUP) != 0;
        if (!reachable) {
            throw new FabricException(FabricErrno.EACCES, base + " has group " + status.gid() + " and mode "
                + octal(status) + ", so that group " + gid + " cannot reach a driver's directory in it",
                "Run chgrp " + gid + ' ' + base + " && chmod 0750 " + base + " if all drivers there serve that group,"
                    + " or choose a folder that does not exist yet with jfabric.dir.base.");
        }
    }

    /** Refuses a driver's directory that others could change or read. */
    void requireDirectory(Path path, FileStatus status) {
        if (!hasGroup() || !fitsDriver(status)) {
            requirePrivate(path, status);
        }
    }

    private void requirePrivate(Path path, FileStatus status) {
        if ((status.permissions() & GROUP_AND_OTHERS) != 0) {
            throw new FabricException(FabricErrno.EACCES,
                path + " has mode " + octal(status) + ", needed is " + (hasGroup() ? "0750" : "0700") + ": others"
                    + " could read or replace the shared files",
                "Choose a directory that does not exist yet with jfabric.dir.base or --dir: the driver makes it and"
                    + " the one above private." + (!hasGroup() && fitsDriver(status)
                        ? " A directory for group " + status.gid() + " needs " + DirectoryConfig.USERS_GROUP.name()
                            + "; chmod 0700 makes it private again." : ""));
        }
    }

    /**
     * Gives a directory of this user to the group; does nothing without a group.
     *
     * @param path for messages.
     * @param fd   open directory.
     * @throws FabricException {@code FI_EACCES} if this user is not in the group.
     */
    void share(Path path, int fd) {
        FileStatus status = FileStatus.of(fd);
        if (!hasGroup() || status.gid() == gid && status.permissions() == GROUP_MODE) {
            return;
        }
        // in this order: the former group never has the rights of the new one
        int result = Libc.changeGroup(fd, gid);
        if (result == 0) {
            result = Libc.fchmod(fd, GROUP_MODE);
        }
        if (result < 0) {
            throw new FabricException(result == -EPERM ? FabricErrno.EACCES : -result,
                path + " cannot be given to group " + gid + ": this driver runs as user " + Libc.geteuid(),
                "Let that user be in the group: usermod -aG, or SupplementaryGroups= of a systemd unit.");
        }
    }

    private static String octal(FileStatus status) {
        return "0" + Integer.toOctalString(status.permissions());
    }
}
