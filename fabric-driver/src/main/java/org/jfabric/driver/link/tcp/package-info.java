/**
 * The tcp link: speaks libfabric's protocols over TCP, so that the other end may be a C program. One connection for
 * each pair of endpoints; the layouts are in {@link org.jfabric.driver.link.tcp.CmMessage},
 * {@link org.jfabric.driver.link.tcp.RdmConnectData} and {@link org.jfabric.driver.link.tcp.TcpHeader}.
 */
package org.jfabric.driver.link.tcp;
