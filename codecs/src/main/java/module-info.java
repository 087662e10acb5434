/**
 * The codecs of JFabric's messages, generated from the SBE schemas that lie beside them.
 */
@SuppressWarnings("requires-transitive-automatic")
module org.jfabric.codecs {
    requires transitive org.agrona;

    exports org.jfabric.codec.control;
    exports org.jfabric.codec.log;
    exports org.jfabric.codec.stream;
    exports org.jfabric.codec.queue;
    exports org.jfabric.codec.wire;
}
