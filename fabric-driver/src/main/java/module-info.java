/**
 * The driver of JFabric, to be embedded or run as a daemon, and the operators' tools.
 */
@SuppressWarnings("requires-automatic")
module org.jfabric.driver {
    requires transitive org.jfabric;
    requires org.agrona;
    requires org.jfabric.codecs;
    requires java.logging;
    requires java.management;
    requires jdk.net;
    // only the tools need these two
    requires static info.picocli;
    requires static HdrHistogram;

    exports org.jfabric.driver;
    exports org.jfabric.driver.config;

    opens org.jfabric.tool to info.picocli;
}
