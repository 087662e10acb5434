package org.jfabric.driver.engine;

import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.LocalEndpoint;

/**
 * A link of an endpoint, and the endpoint as that link sees it.
 *
 * @param link  loaded.
 * @param local the same object for all links, unless each has an address of its own.
 */
record Way(Link link, LocalEndpoint local) {
    /** Whether the link reaches an address from the endpoint. */
    boolean reaches(String address) {
        return link.reaches(local.address(), address);
    }
}
