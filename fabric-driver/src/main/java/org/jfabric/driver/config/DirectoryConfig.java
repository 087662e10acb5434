package org.jfabric.driver.config;

import org.jfabric.client.DefaultDirectory;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.regex.Pattern;

/**
 * The place of the driver's shared files.
 */
public final class DirectoryConfig {
    /** Value of {@link #USERS_GROUP} of a driver that serves its own user only. */
    public static final String NO_GROUP = "off";

    static final OptionGroup GROUP = new OptionGroup("dir", "Place of the shared files", DirectoryConfig::check);

    /** {@code jfabric.dir.base}: the folder that holds the drivers' directories of one user. */
    public static final Option<Path> BASE = GROUP.directory(DefaultDirectory.BASE_PROPERTY)
        .defaultsTo(
            DefaultDirectory::base,
            "/dev/shm/jfabric-<uid>, where /dev/shm is missing <java.io.tmpdir>/jfabric-<uid>; if another user has "
                + "made that folder /run/user/<uid>/jfabric where it is a tmpfs")
        .rule("an absolute path, or one from the working directory", path -> path.getFileName() != null)
        .setIn(SetIn.DRIVER_AND_CLIENT)
        .why("Change it where /dev/shm is too small or shared with other users, as in containers; choose another "
            + "tmpfs, since a disk would write the queues back now and then and stall them.");

    /** {@code jfabric.dir.name}: the driver's name, its folder under {@link #BASE}. */
    public static final Option<String> NAME = GROUP.name(DefaultDirectory.NAME_PROPERTY)
        .defaultsTo(DefaultDirectory.DEFAULT_NAME)
        .rule(
            "1 to 64 of the characters A-Z a-z 0-9 . _ - and neither . nor ..",
            Pattern.compile("(?!\\.{1,2}$)[A-Za-z0-9._-]{1,64}").asMatchPredicate())
        .setIn(SetIn.DRIVER_AND_CLIENT)
        .why("Change it to run several drivers of one user on one host; it is also the host part of the addresses "
            + "jfabric://<driver>/<endpoint>.");

    /** {@code jfabric.dir.group}: the group of the system whose users the driver serves besides its own user. */
    public static final Option<String> USERS_GROUP = GROUP.name("jfabric.dir.group")
        .defaultsTo(NO_GROUP)
        .rule(
            "off, or the name or the number of a group of the system",
            Pattern.compile("[^\\x00-\\x20/:,]{1,255}").asMatchPredicate())
        .why("Set it to serve processes of other users: those in this group, which the driver's user has to be in too. "
            + "The directory gets the mode 0750 and the socket 0660 for the group, all files stay 0600. Clients name "
            + "the driver's user in jfabric.client.driverUser. Members of the group can use up the driver's memory, "
            + "and read its counters, error log and record.");

    /** {@code jfabric.dir.reserveFreeBytes}: free space for clients after the driver has reserved its own files. */
    public static final Option<Long> RESERVE_FREE_BYTES = GROUP.bytes("jfabric.dir.reserveFreeBytes")
        .derived(-1L, "what one default client needs")
        .range(0L, 1L << 40)
        .why("Start is refused with the numbers if less would be free. Raise it to what all your clients need, so "
            + "that a small tmpfs is noticed at start and not by the last client.");

    /** sun_path of a Unix-domain address has 108 bytes, one of them for the final zero. */
    private static final int SOCKET_PATH_MAX_BYTES = 107;

    private DirectoryConfig() {
    }

    /** The folder chosen; users of a group do not reach the default one, which is this user's alone. */
    static Path base(DriverConfig config, Path chosen) {
        return !NO_GROUP.equals(config.get(USERS_GROUP)) && chosen.equals(DefaultDirectory.base())
            ? DefaultDirectory.shared() : chosen;
    }

    private static void check(DriverConfig config, ConfigSource source) {
        Path socket = config.directory().resolve(DefaultDirectory.SOCKET_NAME);
        int socketPathBytes = socket.toString().getBytes(StandardCharsets.UTF_8).length;
        source.check(
            socketPathBytes <= SOCKET_PATH_MAX_BYTES,
            "the socket's path " + socket + " has " + socketPathBytes + " bytes, the system allows " +
            SOCKET_PATH_MAX_BYTES + "; choose a shorter base or name", BASE, NAME);
    }
}
