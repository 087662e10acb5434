package org.jfabric;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.agrona.SystemUtil;
import org.jfabric.client.DefaultDirectory;
import org.jfabric.client.DriverUser;
import org.jfabric.info.Codes;
import org.jfabric.info.FabricAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * Options of a client. A new object holds what system properties and environment say, else the defaults.
 *
 * <pre>{@code
 * Fabric fabric = Fabric.connect(new FabricConfig().directory(Path.of("/dev/shm/jfabric-1000/desk")));
 * }</pre>
 *
 * <p>Driver and client find each other by the directory; {@code jfabric.dir.base} and {@code jfabric.dir.name} mean the
 * same to both. Durations of properties are whole numbers of nanoseconds, or with ns, us, ms or s. Owner: the thread
 * that fills it in; {@link Fabric#connect(FabricConfig)} reads it before it returns.
 */
public final class FabricConfig {
    /** Property of {@link #driverUser()}. */
    public static final String DRIVER_USER_PROPERTY = DefaultDirectory.USER_PROPERTY;
    /** Property of {@link #connectTimeoutNs()}. */
    public static final String CONNECT_TIMEOUT_PROPERTY = "jfabric.client.connectTimeoutNs";
    /** Property of {@link #commandTimeoutNs()}. */
    public static final String COMMAND_TIMEOUT_PROPERTY = "jfabric.client.commandTimeoutNs";
    /** Property of {@link #closeTimeoutNs()}. */
    public static final String CLOSE_TIMEOUT_PROPERTY = "jfabric.client.closeTimeoutNs";
    /** Property of {@link #waitSpinNs()}. */
    public static final String WAIT_SPIN_PROPERTY = "jfabric.client.waitSpinNs";
    /** Property of {@link #pauseThresholdNs()}. */
    public static final String PAUSE_THRESHOLD_PROPERTY = "jfabric.client.pauseThresholdNs";
    /** Property of {@link #reconnectTimeoutNs()}. */
    public static final String RECONNECT_TIMEOUT_PROPERTY = "jfabric.client.reconnectTimeoutNs";
    /** Property of {@link #clientName()}. */
    public static final String NAME_PROPERTY = "jfabric.client.name";

    /** In UTF-8 this fits into the first message to the driver. */
    private static final int MAX_NAME_LENGTH = 1000;

    private Path directory;
    /** Null for the default. */
    private Path base;
    private String driverName;
    private String driverUser;
    private String clientName;
    private long connectTimeoutNs;
    private long commandTimeoutNs;
    private long closeTimeoutNs;
    private long waitSpinNs;
    private long pauseThresholdNs;
    private long reconnectTimeoutNs;
    private long context;
    private int apiVersion;
    private FabricListener listener = new FabricListener() {
    };

    /**
     * Options from the system properties, else (for the driver's directory and user) from the environment variables
     * {@code JFABRIC_DIR_BASE}, {@code JFABRIC_DIR_NAME} and {@code JFABRIC_CLIENT_DRIVER_USER}, else the defaults.
     */
    public FabricConfig() {
        this(System.getenv());
    }

    /** The same with another environment. */
    FabricConfig(Map<String, String> environment) {
        String baseText = System.getProperty(
            DefaultDirectory.BASE_PROPERTY, environment.getOrDefault(DefaultDirectory.BASE_VARIABLE, ""));
        base = baseText.isBlank() ? null : Path.of(baseText.strip()).toAbsolutePath().normalize();
        String nameText = System.getProperty(
            DefaultDirectory.NAME_PROPERTY, environment.getOrDefault(DefaultDirectory.NAME_VARIABLE, ""));
        driverName(nameText.isBlank() ? DefaultDirectory.DEFAULT_NAME : nameText.strip());
        driverUser = DriverUser.configured(environment);
        clientName = checkedName(System.getProperty(NAME_PROPERTY, ""));
        connectTimeoutNs = durationNs(CONNECT_TIMEOUT_PROPERTY, TimeUnit.SECONDS.toNanos(5));
        commandTimeoutNs = durationNs(COMMAND_TIMEOUT_PROPERTY, TimeUnit.SECONDS.toNanos(10));
        closeTimeoutNs = durationNs(CLOSE_TIMEOUT_PROPERTY, TimeUnit.SECONDS.toNanos(1));
        waitSpinNs = durationNs(WAIT_SPIN_PROPERTY, TimeUnit.MICROSECONDS.toNanos(20));
        pauseThresholdNs = durationNs(PAUSE_THRESHOLD_PROPERTY, TimeUnit.SECONDS.toNanos(1));
        reconnectTimeoutNs = durationNs(RECONNECT_TIMEOUT_PROPERTY, 0);
    }

    /**
     * The driver's directory: the one set, else {@link #base()} and {@link #driverName()}. Default
     * {@code /dev/shm/jfabric-<uid>/default}.
     */
    public Path directory() {
        return directory != null ? directory : base().resolve(driverName);
    }

    /** Sets {@link #directory()}; null goes back to base and name. Returns this object. */
    public FabricConfig directory(Path directory) {
        if (directory != null && directory.toString().isEmpty()) {
            throw new FabricException(FabricErrno.EINVAL, "the driver's directory is an empty text",
                "Give its path, such as /dev/shm/jfabric-1000/default, or null for base and name.");
        }
        this.directory = directory == null ? null : directory.toAbsolutePath().normalize();
        return this;
    }

    /** The folder that holds the drivers' directories of one user. Default {@code /dev/shm/jfabric-<uid>} with the
     * number of {@link #driverUser()}; {@code /run/user/<uid>/jfabric} if another user has made that. Property
     * {@code jfabric.dir.base}, environment variable {@code JFABRIC_DIR_BASE}. */
    public Path base() {
        return base != null ? base : DefaultDirectory.base(DriverUser.of(driverUser));
    }

    /** Sets {@link #base()}; returns this object. */
    public FabricConfig base(Path base) {
        this.base = Codes.required(base, "base").toAbsolutePath().normalize();
        return this;
    }

    /** The driver's name, its folder under {@link #base()}. Property {@code jfabric.dir.name},
     * environment variable {@code JFABRIC_DIR_NAME}. */
    public String driverName() {
        return driverName;
    }

    /** Sets {@link #driverName()}; returns this object. */
    public FabricConfig driverName(String driverName) {
        try {
            // a name with a zero in it, for example, would be found out by the first look at the folder
            Path.of(Codes.required(driverName, "driverName"));
        } catch (InvalidPathException wrong) {
            throw new FabricException(FabricErrno.EINVAL, "the driver's name cannot be that of a folder: "
                + wrong.getMessage(), "Use letters, digits, '.', '_' and '-'.", wrong);
        }
        this.driverName = driverName;
        return this;
    }

    /**
     * The user whose driver this client trusts, by name or number; empty for the user of this process. Default empty.
     * Property {@code jfabric.client.driverUser}, environment variable {@code JFABRIC_CLIENT_DRIVER_USER}.
     *
     * <p>A driver of another user serves this process if its option {@code jfabric.dir.group} names a group that this
     * process is in. That driver can read and write all that this client sends, receives and registers; a driver of any
     * other user is refused, whoever made the directory.
     */
    public String driverUser() {
        return driverUser;
    }

    /** Sets {@link #driverUser()}; returns this object. */
    public FabricConfig driverUser(String driverUser) {
        this.driverUser = Codes.required(driverUser, "driverUser");
        return this;
    }

    /** Name of this client for tools, at most 1000 characters. Default empty. */
    public String clientName() {
        return clientName;
    }

    /** Sets {@link #clientName()}; returns this object. */
    public FabricConfig clientName(String clientName) {
        this.clientName = checkedName(Codes.required(clientName, "clientName"));
        return this;
    }

    /**
     * How long connecting waits for a driver that is just starting, and for its answer, in nanoseconds. Default
     * 5 s.
     */
    public long connectTimeoutNs() {
        return connectTimeoutNs;
    }

    /** Sets {@link #connectTimeoutNs()}, 0 for one attempt; returns this object. */
    public FabricConfig connectTimeoutNs(long connectTimeoutNs) {
        this.connectTimeoutNs = notNegative("connectTimeoutNs", connectTimeoutNs);
        return this;
    }

    /** How long a control call waits for the driver's answer, in nanoseconds. Default 10 s. */
    public long commandTimeoutNs() {
        return commandTimeoutNs;
    }

    /** Sets {@link #commandTimeoutNs()}; returns this object. */
    public FabricConfig commandTimeoutNs(long commandTimeoutNs) {
        this.commandTimeoutNs = notNegative("commandTimeoutNs", commandTimeoutNs);
        return this;
    }

    /** How long {@link Fabric#close()} waits for submitted sends, in nanoseconds. Default 1 s. */
    public long closeTimeoutNs() {
        return closeTimeoutNs;
    }

    /** Sets {@link #closeTimeoutNs()}; returns this object. */
    public FabricConfig closeTimeoutNs(long closeTimeoutNs) {
        this.closeTimeoutNs = notNegative("closeTimeoutNs", closeTimeoutNs);
        return this;
    }

    /**
     * How long a blocking read spins before it sleeps, in nanoseconds; 0 sleeps at once. Default 20
     * microseconds, about what a sleep and a wake-up cost.
     */
    public long waitSpinNs() {
        return waitSpinNs;
    }

    /** Sets {@link #waitSpinNs()}; returns this object. */
    public FabricConfig waitSpinNs(long waitSpinNs) {
        this.waitSpinNs = notNegative("waitSpinNs", waitSpinNs);
        return this;
    }

    /**
     * Longest pause of this process that {@link FabricListener#onPaused} does not report, in nanoseconds.
     * Default 1 s.
     */
    public long pauseThresholdNs() {
        return pauseThresholdNs;
    }

    /** Sets {@link #pauseThresholdNs()}; returns this object. */
    public FabricConfig pauseThresholdNs(long pauseThresholdNs) {
        this.pauseThresholdNs = notNegative("pauseThresholdNs", pauseThresholdNs);
        return this;
    }

    /**
     * How long the fabric waits for the next driver in its directory when its driver has ended, in nanoseconds; 0 does
     * not wait. Default 0.
     *
     * <p>Otherwise everything that is open is opened again with the next driver: names, numbers of addresses, addresses
     * in registered memory and requested keys stay. Posting calls and reads of empty queues answer {@code -FI_EAGAIN}
     * meanwhile, control calls throw {@link FabricErrno#EAGAIN}, closing works. Entries of the driver that has ended
     * are read first; then each operation that it did not end has an error entry, with {@link FabricErrno#ECONNRESET},
     * or {@link FabricErrno#EREMOTEIO} for an atomic operation, of which nothing is known and which is never tried
     * again. {@link FabricListener#onDriverAway} and {@link FabricListener#onReconnected} report both ends.
     *
     * <p>The objects of such a fabric have locks, as with {@link org.jfabric.info.Threading#SAFE}. Objects that cannot
     * be opened again are refused with {@link FabricErrno#EOPNOTSUPP} when they are opened.
     */
    public long reconnectTimeoutNs() {
        return reconnectTimeoutNs;
    }

    /** Sets {@link #reconnectTimeoutNs()}; returns this object. */
    public FabricConfig reconnectTimeoutNs(long reconnectTimeoutNs) {
        this.reconnectTimeoutNs = notNegative("reconnectTimeoutNs", reconnectTimeoutNs);
        return this;
    }

    /** The application's own value of the fabric, returned by {@link Fabric#context()}. Default 0. */
    public long context() {
        return context;
    }

    /** Sets {@link #context()}; returns this object. */
    public FabricConfig context(long context) {
        this.context = context;
        return this;
    }

    /**
     * Version of the interface that the application was written for, as {@link FabricAttr#version(int, int)} makes it;
     * 0 is {@link FabricAttr#API_VERSION}. Below 1.5 error data always goes into the library's own memory, its size is
     * not reported by {@link CompletionError#errDataSize()}, and authorization keys are ignored. Default 0.
     */
    public int apiVersion() {
        return apiVersion;
    }

    /**
     * Sets {@link #apiVersion()}; returns this object. A fabric refuses one that is not
     * {@link FabricAttr#isOffered offered}.
     */
    public FabricConfig apiVersion(int apiVersion) {
        this.apiVersion = apiVersion;
        return this;
    }

    /** Notified of events. Default does nothing. */
    public FabricListener listener() {
        return listener;
    }

    /** Sets {@link #listener()}; returns this object. */
    public FabricConfig listener(FabricListener listener) {
        this.listener = Codes.required(listener, "listener");
        return this;
    }

    @Override
    public String toString() {
        // without a directory the name of a user may have to be found
        Object shown = directory != null || base != null || driverUser.isEmpty() ? directory() : driverName;
        return "FabricConfig{directory=" + shown + ", driverUser=" + driverUser + ", clientName=" + clientName
            + ", connectTimeoutNs=" + connectTimeoutNs + ", commandTimeoutNs=" + commandTimeoutNs
            + ", closeTimeoutNs=" + closeTimeoutNs + ", pauseThresholdNs=" + pauseThresholdNs
            + ", reconnectTimeoutNs=" + reconnectTimeoutNs + '}';
    }

    private static String checkedName(String name) {
        if (name.length() > MAX_NAME_LENGTH) {
            throw new FabricException(FabricErrno.EINVAL, "the client's name has " + name.length()
                + " characters, at most " + MAX_NAME_LENGTH + " fit", "Use a shorter name.");
        }
        return name;
    }

    private static long durationNs(String property, long defaultNs) {
        String text = System.getProperty(property);
        if (text == null) {
            return defaultNs;
        }
        try {
            return notNegative(property, SystemUtil.parseDuration(property, text.replace(" ", "").replace("_", "")));
        } catch (NumberFormatException malformed) {
            throw new FabricException(FabricErrno.EINVAL, property + " is \"" + text
                + "\", needed is a whole number of nanoseconds, or with ns, us, ms or s",
                "Correct the property.", malformed);
        }
    }

    private static long notNegative(String name, long value) {
        if (value < 0) {
            throw new FabricException(FabricErrno.EINVAL, name + " is " + value + ", needed is 0 or more");
        }
        return value;
    }
}
