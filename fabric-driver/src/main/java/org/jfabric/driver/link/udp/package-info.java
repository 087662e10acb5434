/**
 * The link for unreliable datagrams: one UDP socket for each endpoint, and one datagram without a header for each
 * message, as in C libfabric's udp provider. Link packet has the same wire: it receives from a mapped ring, and sends
 * whole packets.
 */
package org.jfabric.driver.link.udp;
