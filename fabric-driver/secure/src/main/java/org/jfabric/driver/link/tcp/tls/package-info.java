/**
 * Link tls: the connections of link tcp as streams of TLS 1.3.
 */
package org.jfabric.driver.link.tcp.tls;
