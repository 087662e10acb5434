/**
 * RDMA devices: connections are reliable queue pairs, made by the RDMA connection manager as libfabric's {@code verbs}
 * provider makes them. Reliable datagrams go by the rxm link over these connections.
 */
package org.jfabric.driver.link.verbs;
