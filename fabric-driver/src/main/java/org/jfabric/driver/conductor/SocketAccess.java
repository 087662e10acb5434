package org.jfabric.driver.conductor;

import org.jfabric.driver.config.DirectoryConfig;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.UnixSocket;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * Who may connect to the driver's socket: processes of its own user, and clients of the configured group. The kernel
 * compares the same by the mode of the socket, except for privileged processes. Owner: conductor.
 *
 * @param gid group whose users are served, -1 for none.
 */
record SocketAccess(long uid, long gid) {
    private static final long NO_GROUP = -1;

    /** For a driver of the user of this process. */
    static SocketAccess of(long gid) {
        return new SocketAccess(Libc.geteuid(), gid);
    }

    /** Whether a connection is of the driver's own user, which may do everything. */
    boolean isOwn(ClientSocket socket) {
        return socket.uid() == uid;
    }

    /**
     * Checks the other end of a connection. Returns null if it may connect, otherwise the reason to be sent and logged.
     */
    FabricException refusal(ClientSocket socket) {
        if (isOwn(socket) || gid != NO_GROUP && UnixSocket.isPeerInGroup(socket.fd(), gid)) {
            return null;
        }
        return new FabricException(FabricErrno.EACCES, "a connection of user " + socket.uid() + ", this driver serves"
            + " user " + uid + (gid == NO_GROUP ? "" : " and the users of group " + gid),
            gid == NO_GROUP ? "Run a driver for that user, or set " + DirectoryConfig.USERS_GROUP.name() + "."
                : "Run the process in that group, or run a driver for that user.");
    }

    /** Refuses a driver of another user: two drivers share memory by names that only one user can open. */
    FabricException peerRefusal(ClientSocket socket) {
        return new FabricException(FabricErrno.EACCES, "a driver of user " + socket.uid() + " connects, this driver is"
            + " of user " + uid, "Drivers of two users reach each other by tcp, or let the clients of both use one"
            + " driver.");
    }
}
