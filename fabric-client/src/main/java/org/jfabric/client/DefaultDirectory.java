package org.jfabric.client;

import org.jfabric.ffi.Libc;
import org.jfabric.ffi.NativeAccess;
import org.jfabric.layout.CncDescriptor;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Map;

/**
 * The default directory of a driver, where clients find it: {@code /dev/shm/jfabric-<uid>/default}, or
 * {@code /run/user/<uid>/jfabric/default} if another user has made the first one's parent.
 *
 * <p>Pure functions; any thread.
 */
public final class DefaultDirectory {
    /** Property that names the folder of all drivers' directories of one user, for driver and client. */
    public static final String BASE_PROPERTY = "jfabric.dir.base";
    /** Property that names the driver, its folder under the base, for driver and client. */
    public static final String NAME_PROPERTY = "jfabric.dir.name";
    /** Environment variable for the same as {@link #BASE_PROPERTY}. */
    public static final String BASE_VARIABLE = "JFABRIC_DIR_BASE";
    /** Environment variable for the same as {@link #NAME_PROPERTY}. */
    public static final String NAME_VARIABLE = "JFABRIC_DIR_NAME";
    /** Property that names the user of the driver, for clients; not set: the user of the client. */
    public static final String USER_PROPERTY = "jfabric.client.driverUser";
    /** Environment variable for the same as {@link #USER_PROPERTY}. */
    public static final String USER_VARIABLE = "JFABRIC_CLIENT_DRIVER_USER";
    /** Name of a driver that was given none. */
    public static final String DEFAULT_NAME = "default";
    /** Name of the driver's socket in its directory. */
    public static final String SOCKET_NAME = "driver.sock";
    /** Name of the file that marks a directory as a driver's. */
    public static final String MARKER_NAME = "driver.marker";

    private DefaultDirectory() {
    }

    /**
     * The default folder of all drivers' directories of this user: {@link #shared}, unless another user has made that,
     * or drivers have used {@code /run/user/<uid>/jfabric} for that reason and it is still there.
     *
     * <p>Every user can make a folder in {@code /dev/shm} with any name, but none in {@code /run/user} and none for
     * another one. Once the second folder is there, a client finds the driver in it, whatever the other user does.
     *
     * @return absolute path.
     */
    public static Path base() {
        return base(shared(), Path.of("/run/user", userId()), Libc.geteuid());
    }

    /**
     * The default folder of all drivers' directories of a user.
     *
     * @param user of the drivers. Of another one only {@link #shared} can be reached.
     * @return absolute path.
     */
    public static Path base(DriverUser user) {
        return user.isOwn() ? base() : shared(Long.toString(user.uid()));
    }

    /** The folder of this user in shared memory, which users of a group can reach too, absolute path. */
    public static Path shared() {
        return shared(userId());
    }

    private static Path shared(String userId) {
        return shared(Path.of("/dev/shm"), Path.of(System.getProperty("java.io.tmpdir")), userId);
    }

    /**
     * The rule behind {@link #shared()}.
     *
     * @param sharedMemory used if it is a directory.
     * @param temporary    used otherwise.
     * @param userId       part of the name, so that users do not meet.
     * @return absolute path.
     */
    public static Path shared(Path sharedMemory, Path temporary, String userId) {
        Path parent = Files.isDirectory(sharedMemory) ? sharedMemory : temporary;
        return parent.resolve("jfabric-" + userId).toAbsolutePath().normalize();
    }

    /**
     * The rule behind {@link #base()}.
     *
     * @param shared  folder that another user may have made.
     * @param runtime folder of the user in which no other one can make something.
     * @return {@code shared}, or a folder in {@code runtime}.
     */
    public static Path base(Path shared, Path runtime, long uid) {
        Path fallback = runtime.resolve("jfabric");
        if (isFolderOf(shared, uid) || !isFolderOf(runtime, uid)) {
            return shared;
        }
        boolean isForeign = Files.exists(shared, LinkOption.NOFOLLOW_LINKS);
        return isFolderOf(fallback, uid) || isForeign && isInMemory(runtime) ? fallback : shared;
    }

    private static boolean isFolderOf(Path folder, long uid) {
        try {
            Map<String, Object> read =
                Files.readAttributes(folder, "unix:uid,isDirectory", LinkOption.NOFOLLOW_LINKS);
            return Boolean.TRUE.equals(read.get("isDirectory")) && ((Number) read.get("uid")).longValue() == uid;
        } catch (IOException ex) {
            // there is none
            return false;
        }
    }

    private static boolean isInMemory(Path folder) {
        try {
            return Files.getFileStore(folder).type().equals("tmpfs");
        } catch (IOException ex) {
            return false;
        }
    }

    /**
     * Whether a driver could be started in a directory, for messages that propose it.
     *
     * @param directory path, which need not exist.
     * @return false if the names of the files there show that one is not a driver's.
     */
    public static boolean mayHoldDriver(Path directory) {
        if (!Files.exists(directory, LinkOption.NOFOLLOW_LINKS)) {
            return true;
        }
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
            boolean empty = true;
            for (Path entry : entries) {
                String name = entry.getFileName().toString();
                if (name.equals(MARKER_NAME) || name.equals(CncDescriptor.FILE_NAME)) {
                    return true;
                }
                empty = false;
            }
            return empty;
        } catch (IOException | DirectoryIteratorException ex) {
            return false;
        }
    }

    /** The effective user id: it is what the kernel compares when files and sockets are opened. */
    public static String userId() {
        // often the first native call of a process: say which flag is missing before the linker fails
        NativeAccess.check();
        return Long.toString(Libc.geteuid());
    }
}
