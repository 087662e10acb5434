/**
 * The tcp link, with libfabric's protocols over TCP, so that the peer may be a C program. Each pair of endpoints has
 * one connection. The layouts are in {@link org.jfabric.driver.link.tcp.CmMessage},
 * {@link org.jfabric.driver.link.tcp.RdmConnectData} and {@link org.jfabric.driver.link.tcp.TcpHeader}.
 */
package org.jfabric.driver.link.tcp;
