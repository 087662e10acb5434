/**
 * The link for unreliable datagrams of RDMA devices: one queue pair (UD) for each endpoint, one packet for each message
 * and nothing added to it, as C libfabric's verbs provider with endpoints of type {@code FI_EP_DGRAM}.
 */
package org.jfabric.driver.link.verbsud;
