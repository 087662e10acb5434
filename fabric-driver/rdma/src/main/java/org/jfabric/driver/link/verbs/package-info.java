/**
 * RDMA devices: connections are reliable queue pairs, made by the RDMA connection manager as in libfabric's
 * {@code verbs} provider. For reliable datagrams the rxm link uses these connections. Unreliable datagrams have queue
 * pairs of their own: the classes whose names begin with VerbsUd.
 */
package org.jfabric.driver.link.verbs;
