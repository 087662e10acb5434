/**
 * The link for unreliable datagrams: one UDP socket for each endpoint, one datagram for each message and nothing added
 * to it, as C libfabric's udp provider.
 */
package org.jfabric.driver.link.udp;
