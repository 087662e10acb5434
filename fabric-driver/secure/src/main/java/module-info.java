/**
 * The links tls and dtls. Nothing of them is for applications: the driver finds them.
 */
@SuppressWarnings("requires-automatic")
module org.jfabric.secure {
    requires org.jfabric.driver;
    requires org.agrona;

    provides org.jfabric.driver.link.LinkSource
        with org.jfabric.driver.link.tcp.tls.TlsLinks, org.jfabric.driver.link.udp.dtls.DtlsLinks;
}
