package org.jfabric.info;

/**
 * An object that an endpoint is opened for (the {@code handle} of fi_info): a request that it is to accept, or a
 * passive endpoint whose address it takes over. Source: fi_getinfo(3), handle.
 *
 * @see Info#handle(EndpointSource)
 */
public interface EndpointSource {
}
