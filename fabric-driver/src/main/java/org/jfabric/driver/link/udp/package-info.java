/**
 * The link for unreliable datagrams: one UDP socket for each endpoint, and one datagram without a header for each
 * message, as in C libfabric's udp provider.
 */
package org.jfabric.driver.link.udp;
