package org.jfabric.future;

import org.jfabric.FabricErrno;

/** Posts one operation that writes an entry, for example {@code c -> endpoint.trecv(buf, len, src, tag, 0, c)}. */
@FunctionalInterface
public interface Post {
    /**
     * Calls the endpoint; called again later if there was no room. What it throws then fails its operation only.
     *
     * @param opContext to be posted with the operation.
     * @return what the endpoint answered: 0, {@code -}{@link FabricErrno#EAGAIN} for no room, or another negative
     *     errno.
     */
    int post(long opContext);
}
