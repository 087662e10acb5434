/**
 * The driver of JFabric, to be embedded or run as a daemon, and the operators' tools.
 *
 * <p>{@link org.jfabric.driver.FabricDriver} embeds a driver, {@link org.jfabric.driver.config.DriverConfig} holds its
 * options. Everything else that an application calls is in the module {@code org.jfabric}; the overview of its Javadoc
 * has the smallest program.
 */
@SuppressWarnings("requires-automatic")
module org.jfabric.driver {
    requires transitive org.jfabric;
    requires org.agrona;
    requires org.jfabric.codecs;
    requires java.logging;
    requires java.management;
    requires jdk.net;
    // only for events in recordings of the Java runtime
    requires static jdk.jfr;
    // only the tools need these three
    requires static info.picocli;
    requires static HdrHistogram;
    requires static org.jline.terminal;

    exports org.jfabric.driver;
    exports org.jfabric.driver.config;

    opens org.jfabric.tool to info.picocli;
    opens org.jfabric.tool.watch to info.picocli;
}
