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

/**
 * The default directory of a driver, where clients find it: {@code /dev/shm/jfabric-<uid>/default}.
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
     * The default folder of all drivers' directories of this user.
     *
     * @return absolute path.
     */
    public static Path base() {
        return base(Path.of("/dev/shm"), Path.of(System.getProperty("java.io.tmpdir")), userId());
    }

    /**
     * The default folder of all drivers' directories of a user.
     *
     * @param user of the drivers.
     * @return absolute path.
     */
    public static Path base(DriverUser user) {
        return base(Path.of("/dev/shm"), Path.of(System.getProperty("java.io.tmpdir")), Long.toString(user.uid()));
    }

    /**
     * The rule behind {@link #base()}.
     *
     * @param sharedMemory used if it is a directory.
     * @param temporary    used otherwise.
     * @param userId       part of the name, so that users do not meet.
     * @return absolute path.
     */
    public static Path base(Path sharedMemory, Path temporary, String userId) {
        Path parent = Files.isDirectory(sharedMemory) ? sharedMemory : temporary;
        return parent.resolve("jfabric-" + userId).toAbsolutePath().normalize();
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

    /**
     * The effective user id: it is what the kernel compares when files and sockets are opened.
     *
     * @return decimal number.
     */
    public static String userId() {
        // often the first native call of a process: say which flag is missing before the linker fails
        NativeAccess.check();
        return Long.toString(Libc.geteuid());
    }
}
