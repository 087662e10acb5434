/**
 * Link dtls: the datagrams of link udp as records of DTLS 1.2.
 */
package org.jfabric.driver.link.udp.dtls;
