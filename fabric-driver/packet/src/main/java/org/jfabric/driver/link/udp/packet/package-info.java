/**
 * Link packet: link udp with datagrams that are received from a mapped ring and sent as frames.
 */
package org.jfabric.driver.link.udp.packet;
