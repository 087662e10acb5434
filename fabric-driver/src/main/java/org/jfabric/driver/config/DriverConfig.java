package org.jfabric.driver.config;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import org.jfabric.client.DefaultDirectory;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * The values of all options of a driver, checked. Immutable, so that it may be shared by all threads.
 *
 * <p>Precedence: values set in the builder, then system properties of this process, then (for a daemon) environment
 * variables, then the loaded files (a later one wins), then the defaults.
 */
public final class DriverConfig {
    /** File that a daemon reads if it is there and no other is named. */
    public static final Path HOST_FILE = Path.of("/etc/jfabric.properties");

    /** Environment variable that names the file which a daemon reads instead of {@link #HOST_FILE}. */
    public static final String FILE_VARIABLE = "JFABRIC_CONFIG";

    /** Value of the options of files that names none. */
    static final String NO_FILE = "none";

    private final Map<Option<?>, Object> values = new IdentityHashMap<>();
    private final List<EffectiveValue> effectiveValues;

    private DriverConfig(ConfigSource source) {
        List<OptionGroup> groups = optionGroups();
        groups.forEach(group -> group.options().forEach(option -> values.put(option, source.value(option))));
        values.put(DirectoryConfig.BASE, DirectoryConfig.base(this, get(DirectoryConfig.BASE)));
        groups.forEach(group -> group.check(this, source));
        source.derive(QueueConfig.TQ_LENGTH_BYTES, Sizing.tqLengthBytes(this, get(QueueConfig.TX_SIZE)));
        source.derive(QueueConfig.RQ_LENGTH_BYTES, Sizing.rqLengthBytes(this, get(QueueConfig.RX_SIZE)));
        source.derive(QueueConfig.CQ_DRIVER_SHARE, Sizing.cqDriverShare(this, get(QueueConfig.CQ_SIZE)));
        source.derive(DirectoryConfig.RESERVE_FREE_BYTES, Sizing.reserveFreeBytes(this));
        effectiveValues = source.effectiveValues();
    }

    /**
     * Starts a configuration in which nothing is set.
     *
     * @return a builder, for one thread.
     */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * The options if nothing is set anywhere, not even as a system property of this process.
     *
     * @return the defaults, which depend on the user alone.
     */
    public static DriverConfig defaults() {
        return builder().systemProperties(new Properties()).build();
    }

    /**
     * The options of every group.
     *
     * @return in the order shown to users.
     */
    public static List<OptionGroup> optionGroups() {
        return OptionNames.groups();
    }

    /**
     * The value of an option. Read once by whoever needs it on the path of a message.
     *
     * @param option a constant of its group's class, such as {@link QueueConfig#TX_SIZE}.
     * @param <T>    type of the value.
     * @return as set, or the default; where a value may be derived, the mark that says so ({@link Sizing} derives it).
     */
    @SuppressWarnings("unchecked")
    public <T> T get(Option<T> option) {
        return (T) values.get(option);
    }

    /**
     * The file that an option names.
     *
     * @param option whose value is a path, or {@code none}.
     * @return absolute path, or null for none.
     */
    public Path file(Option<?> option) {
        String name = get(option).toString();
        return name.equals(NO_FILE) ? null : Path.of(name).toAbsolutePath();
    }

    /**
     * The driver's directory.
     *
     * @return {@code base/name}.
     */
    public Path directory() {
        return get(DirectoryConfig.BASE).resolve(get(DirectoryConfig.NAME));
    }

    /**
     * Every option with the value used and where it came from.
     *
     * @return in the order of {@link #optionGroups}.
     */
    public List<EffectiveValue> effectiveValues() {
        return effectiveValues;
    }

    @Override
    public String toString() {
        return ConfigPrinter.print(this);
    }

    /**
     * Collects what is set by code and which files are read. Owner: one thread.
     */
    public static final class Builder {

        private final Map<String, String> code = new LinkedHashMap<>();
        private final List<Path> files = new ArrayList<>();
        private Properties systemProperties = System.getProperties();
        private Map<String, String> environment = System.getenv();
        private Path hostFile = HOST_FILE;
        private boolean ofHost;

        private Builder() {
        }

        /**
         * Sets the driver's directory: base and name in one.
         *
         * @param directory whose last part is the driver's name.
         * @return this.
         */
        public Builder directory(Path directory) {
            if (directory.toString().isEmpty()) {
                throw new FabricException(FabricErrno.EINVAL, "the driver's directory is an empty text",
                    "Give its path, such as /dev/shm/jfabric-1000/default, or leave it out.");
            }
            Path absolute = directory.toAbsolutePath().normalize();
            Path parent = absolute.getParent();
            if (parent == null) {
                throw new FabricException(
                    FabricErrno.EINVAL, "the driver's directory is \"" + directory + "\", which has no last part",
                    "Give a folder whose last part is the driver's name, such as /dev/shm/jfabric-1000/default.");
            }
            return set(DirectoryConfig.BASE, parent).set(DirectoryConfig.NAME, absolute.getFileName().toString());
        }

        /**
         * Sets the threading mode.
         *
         * @param mode not null.
         * @return this.
         */
        public Builder threadingMode(ThreadingMode mode) {
            return set(ThreadingConfig.MODE, mode);
        }

        /**
         * Sets an option by its constant.
         *
         * @param option the option.
         * @param value  not null; checked by {@link #build}.
         * @param <T>    type of the value.
         * @return this.
         */
        public <T> Builder set(Option<T> option, T value) {
            return set(option.name(), option.format(Objects.requireNonNull(value, option.name())));
        }

        /**
         * Sets an option by its property name.
         *
         * @param name  such as {@code jfabric.queue.txSize}; checked by {@link #build}.
         * @param value as in a properties file, not null; checked by {@link #build}.
         * @return this.
         */
        public Builder set(String name, String value) {
            code.put(Objects.requireNonNull(name, "name"), Objects.requireNonNull(value, name));
            return this;
        }

        /**
         * Names a properties file (UTF-8) to read; of several the later one wins.
         *
         * @param file read by {@link #build}, which also reports if that fails.
         * @return this.
         */
        public Builder load(Path file) {
            files.add(Objects.requireNonNull(file, "file"));
            return this;
        }

        /**
         * Also reads the settings that belong to the host, as a daemon does: environment variables ({@link
         * Option#variable}), and the file that {@link #FILE_VARIABLE} names, or else {@link #HOST_FILE} if it is there.
         * If {@link #load} named a file, neither of those two is read. An embedded driver that does not call this
         * depends on its application alone, but for the folder of all drivers ({@link DirectoryConfig#BASE}): its
         * variable says where clients and commands look for drivers.
         *
         * @return this.
         */
        public Builder host() {
            ofHost = true;
            return this;
        }

        /**
         * Reads, checks and puts together.
         *
         * @return the configuration.
         * @throws FabricException {@code FI_EINVAL} with everything that is wrong, one line each: option, value seen,
         *     range, unit and where it came from.
         */
        public DriverConfig build() {
            ConfigSource source = new ConfigSource();
            files.forEach(source::addFile);
            if (ofHost) {
                if (files.isEmpty()) {
                    addHostFile(source);
                }
                source.addEnvironment(environment);
            } else if (environment.containsKey(DefaultDirectory.BASE_VARIABLE)) {
                // the place in which Fabric.connect and ./fabric look for this driver
                source.addEnvironment(
                    Map.of(DefaultDirectory.BASE_VARIABLE, environment.get(DefaultDirectory.BASE_VARIABLE)));
            }
            source.addSystemProperties(systemProperties);
            source.addCode(code);
            DriverConfig config = new DriverConfig(source);
            List<String> problems = source.problems();
            if (!problems.isEmpty()) {
                throw new FabricException(
                    FabricErrno.EINVAL,
                    (problems.size() == 1 ? "one option is wrong:" : problems.size() + " options are wrong:") +
                    "\n  " + String.join("\n  ", problems),
                    "Correct or remove them; every option is explained in docs/options.md.");
            }
            return config;
        }

        private void addHostFile(ConfigSource source) {
            String named = environment.getOrDefault(FILE_VARIABLE, "");
            if (!named.isBlank()) {
                source.addFile(Path.of(named.strip()));
            } else if (Files.exists(hostFile)) {
                source.addFile(hostFile);
            }
        }

        /** Replaces the environment of this process and {@link #HOST_FILE}, for tests. */
        Builder host(Map<String, String> environment, Path hostFile) {
            this.hostFile = hostFile;
            return environment(environment).host();
        }

        /** Replaces the environment of this process, for tests. */
        Builder environment(Map<String, String> environment) {
            this.environment = environment;
            return this;
        }

        /** Replaces the system properties of this process, for tests. */
        Builder systemProperties(Properties properties) {
            systemProperties = properties;
            return this;
        }
    }
}
