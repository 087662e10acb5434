/**
 * Links over RDMA devices. Nothing of them is for applications: the driver finds them.
 */
@SuppressWarnings("requires-automatic")
module org.jfabric.rdma {
    requires org.jfabric.driver;
    requires org.agrona;

    provides org.jfabric.driver.link.LinkSource with org.jfabric.driver.link.verbs.VerbsLinks;
}
