package org.jfabric.driver.config;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import org.jfabric.client.DefaultDirectory;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * All options of a driver, checked, in their groups. Immutable, so that it may be shared by all threads.
 *
 * <p>Precedence: values set in the builder, then system properties of this process, then (for a daemon) environment
 * variables, then the loaded files (a later one wins), then the defaults.
 */
public final class DriverConfig {
    /** File that a daemon reads if it is there and no other is named. */
    public static final Path HOST_FILE = Path.of("/etc/jfabric.properties");

    /** Environment variable that names the file which a daemon reads instead of {@link #HOST_FILE}. */
    public static final String FILE_VARIABLE = "JFABRIC_CONFIG";

    private final DirectoryConfig directory;
    private final ThreadingConfig threading;
    private final QueueConfig queue;
    private final EngineConfig engine;
    private final ShmConfig shm;
    private final TcpConfig tcp;
    private final RxmConfig rxm;
    private final TlsConfig tls;
    private final UdpConfig udp;
    private final DtlsConfig dtls;
    private final VerbsConfig verbs;
    private final LivenessConfig liveness;
    private final CncConfig cnc;
    private final LinkConfig link;
    private final MetricsConfig metrics;
    private final LogConfig log;
    private final List<EffectiveValue> effectiveValues;

    private DriverConfig(ConfigSource source) {
        directory = new DirectoryConfig(source);
        threading = new ThreadingConfig(source);
        queue = new QueueConfig(source);
        engine = new EngineConfig(source);
        shm = new ShmConfig(source);
        tcp = new TcpConfig(source);
        rxm = new RxmConfig(source);
        tls = new TlsConfig(source);
        udp = new UdpConfig(source);
        dtls = new DtlsConfig(source);
        verbs = new VerbsConfig(source);
        liveness = new LivenessConfig(source);
        cnc = new CncConfig(source);
        link = new LinkConfig(source);
        metrics = new MetricsConfig(source);
        log = new LogConfig(source);
        checkBetweenGroups(source);
        source.derive(QueueConfig.TQ_LENGTH_BYTES, queue.tqLengthBytes(queue.txSize()));
        source.derive(QueueConfig.RQ_LENGTH_BYTES, queue.rqLengthBytes(queue.rxSize()));
        source.derive(QueueConfig.CQ_DRIVER_SHARE, queue.cqDriverShare(queue.cqSize()));
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
     * The place of the shared files.
     *
     * @return options {@code jfabric.dir.*}.
     */
    public DirectoryConfig directory() {
        return directory;
    }

    /**
     * Threads and cores.
     *
     * @return options {@code jfabric.threading.*}.
     */
    public ThreadingConfig threading() {
        return threading;
    }

    /**
     * Queues between clients and driver.
     *
     * @return options {@code jfabric.queue.*}.
     */
    public QueueConfig queue() {
        return queue;
    }

    /**
     * Protocols, budgets and polling.
     *
     * @return options {@code jfabric.engine.*}.
     */
    public EngineConfig engine() {
        return engine;
    }

    /**
     * The tcp link.
     *
     * @return options {@code jfabric.tcp.*}.
     */
    public TcpConfig tcp() {
        return tcp;
    }

    /**
     * The rxm link.
     *
     * @return options {@code jfabric.rxm.*}.
     */
    public RxmConfig rxm() {
        return rxm;
    }

    /**
     * Keys of the links tls, tlsrxm and dtls.
     *
     * @return options {@code jfabric.tls.*}.
     */
    public TlsConfig tls() {
        return tls;
    }

    /**
     * The shm link.
     *
     * @return options {@code jfabric.shm.*}.
     */
    public ShmConfig shm() {
        return shm;
    }

    /**
     * The udp link.
     *
     * @return options {@code jfabric.udp.*}.
     */
    public UdpConfig udp() {
        return udp;
    }

    /**
     * The dtls link.
     *
     * @return options {@code jfabric.dtls.*}.
     */
    public DtlsConfig dtls() {
        return dtls;
    }

    /**
     * Options of the verbs link.
     *
     * @return the group.
     */
    public VerbsConfig verbs() {
        return verbs;
    }

    /**
     * Pauses and closing.
     *
     * @return options {@code jfabric.liveness.*}.
     */
    public LivenessConfig liveness() {
        return liveness;
    }

    /**
     * Counters and error log.
     *
     * @return options {@code jfabric.cnc.*}.
     */
    public CncConfig cnc() {
        return cnc;
    }

    /**
     * Links and their choice.
     *
     * @return options {@code jfabric.link.*}.
     */
    public LinkConfig link() {
        return link;
    }

    /**
     * Counters of endpoints and peers.
     *
     * @return the group.
     */
    public MetricsConfig metrics() {
        return metrics;
    }

    /**
     * Log of rare events.
     *
     * @return options {@code jfabric.log.*}.
     */
    public LogConfig log() {
        return log;
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

    private void checkBetweenGroups(ConfigSource source) {
        source.check(
            shm.ringLengthBytes() / ShmConfig.RECORDS_PER_RING >=
                engine.eagerLimitBytes() + (long) ShmConfig.RECORD_HEADER_BYTES,
            "the ring of the shm link has to hold " + ShmConfig.RECORDS_PER_RING +
            " eager messages of full size with their headers",
            ShmConfig.RING_LENGTH_BYTES, EngineConfig.EAGER_LIMIT_BYTES);
        source.check(
            queue.injectSizeBytes() <= engine.eagerLimitBytes(),
            "an injected message has to fit the eager limit, because its sender does not wait for an answer",
            QueueConfig.INJECT_SIZE_BYTES, EngineConfig.EAGER_LIMIT_BYTES);
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
