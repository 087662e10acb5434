/**
 * Reliable datagram endpoints made of connections: the protocol of libfabric's {@code ofi_rxm}, over any link that
 * offers connected channels.
 */
package org.jfabric.driver.link.rxm;
