package org.jfabric.driver.config;

/** The protection that the driver demands of links to other hosts. */
public enum TlsPolicy {
    /** Links without protection can be used. */
    OPTIONAL,
    /** Only links with TLS or DTLS reach other hosts. */
    REQUIRED
}
