/**
 * The client of JFabric: the API, and below it what the client and the driver share. The overview says what to read
 * first.
 */
@SuppressWarnings({"module", "requires-automatic", "requires-transitive-automatic"})
module org.jfabric {
    requires transitive org.agrona;
    requires org.jfabric.codecs;

    exports org.jfabric;
    exports org.jfabric.future;
    exports org.jfabric.info;
    exports org.jfabric.stream;

    // these are compiled after the client, so the compiler cannot find them yet
    exports org.jfabric.client to org.jfabric.driver, org.jfabric.rdma, org.jfabric.tools;
    exports org.jfabric.client.log to org.jfabric.driver, org.jfabric.tools;
    exports org.jfabric.ffi to
        org.jfabric.driver, org.jfabric.packet, org.jfabric.rdma, org.jfabric.secure, org.jfabric.tools;
    exports org.jfabric.layout to
        org.jfabric.driver, org.jfabric.libfabric.wires, org.jfabric.packet, org.jfabric.rdma, org.jfabric.tools;
}
