/**
 * Link packet. Nothing of it is for applications: the driver finds it.
 */
@SuppressWarnings("requires-automatic")
module org.jfabric.packet {
    requires org.jfabric.driver;
    requires org.agrona;

    provides org.jfabric.driver.link.LinkSource with org.jfabric.driver.link.udp.packet.PacketLinks;
}
