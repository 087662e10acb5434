package org.jfabric.driver.engine;

import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.driver.link.MarkedAddress;

/**
 * A link of an endpoint, and the endpoint as that link sees it.
 *
 * <p>If two links of one endpoint have socket addresses, those of the first are marked in the engine
 * ({@link MarkedAddress}), because one text can be an address of both.
 *
 * @param local the same object for all links, unless each has an address of its own.
 * @param mark  before each address of a peer by this link; empty for the other links.
 */
record Way(Link link, LocalEndpoint local, String mark) {
    /** A peer's address in the engine, by its address over this link. */
    String marked(String address) {
        return mark.concat(address);
    }

    /** An address as the link knows it; null if it is one of a link with another mark. */
    String plain(String address) {
        if (!mark.isEmpty()) {
            return address.startsWith(mark) ? address.substring(mark.length()) : null;
        }
        return MarkedAddress.isName(address) ? null : address;
    }

    /** Whether the link reaches an address, from whichever endpoint. */
    boolean takes(String address) {
        String plain = plain(address);
        return plain != null && link.reaches(plain);
    }

    /** Whether the link reaches an address from the endpoint. */
    boolean reaches(String address) {
        String plain = plain(address);
        return plain != null && link.reaches(local.address(), plain);
    }
}
