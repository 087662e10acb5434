/**
 * Links with libfabric's protocol {@code ofi_rxm} over tcp, tls and verbs. Nothing of them is for applications: the
 * driver finds them.
 */
@SuppressWarnings("requires-automatic")
module org.jfabric.libfabric.wires {
    requires org.jfabric.driver;
    requires org.agrona;

    provides org.jfabric.driver.link.LinkSource with org.jfabric.driver.link.rxm.RxmLinks;
}
