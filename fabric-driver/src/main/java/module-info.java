/**
 * The driver of JFabric, to be embedded or run as a daemon.
 *
 * <p>{@link org.jfabric.driver.FabricDriver} embeds a driver, {@link org.jfabric.driver.config.DriverConfig} holds its
 * options. Everything else that an application calls is in the module {@code org.jfabric}; the overview of its Javadoc
 * has the smallest program.
 */
@SuppressWarnings({"module", "requires-automatic"})
module org.jfabric.driver {
    requires transitive org.jfabric;
    requires org.agrona;
    requires org.jfabric.codecs;
    requires java.logging;
    requires java.management;
    requires jdk.net;
    // only for events in recordings of the Java runtime
    requires static jdk.jfr;

    exports org.jfabric.driver;
    exports org.jfabric.driver.config;

    // what is joined to the driver is compiled after it, so the compiler cannot find it yet
    exports org.jfabric.driver.link to
        org.jfabric.libfabric.wires, org.jfabric.packet, org.jfabric.rdma, org.jfabric.secure;
    exports org.jfabric.driver.link.support to
        org.jfabric.libfabric.wires, org.jfabric.packet, org.jfabric.rdma, org.jfabric.secure;
    exports org.jfabric.driver.link.tcp to org.jfabric.secure;
    exports org.jfabric.driver.link.udp to org.jfabric.packet, org.jfabric.secure;
    exports org.jfabric.driver.log to org.jfabric.tools;
    exports org.jfabric.driver.metrics to org.jfabric.tools;
    exports org.jfabric.driver.resource to
        org.jfabric.libfabric.wires, org.jfabric.packet, org.jfabric.rdma, org.jfabric.secure, org.jfabric.tools;

    uses org.jfabric.driver.link.LinkSource;
}
