package org.jfabric.future;

import org.jfabric.info.FabricErrno;

/**
 * Posts one operation that writes an entry.
 *
 * <pre>{@code
 * Post post = context -> endpoint.trecv(address, 64, FabricAddress.ADDR_UNSPEC, 7, 0, context);
 * transfers.receives().submit(post);
 * }</pre>
 */
@FunctionalInterface
public interface Post {
    /**
     * Calls the endpoint; called again later if there was no room. An exception thrown then fails only its operation.
     *
     * @param opContext to be posted with the operation.
     * @return what the endpoint answered: 0, {@code -}{@link FabricErrno#EAGAIN} for no room, or another negative
     *     errno.
     */
    int post(long opContext);
}
