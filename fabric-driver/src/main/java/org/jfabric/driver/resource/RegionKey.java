package org.jfabric.driver.resource;

/**
 * How peers name a region, and what they may do with it. Source: fi_mr(3), fi_mr_reg, access and requested_key.
 *
 * @param domain number of the domain in which the key is unique; only endpoints of this domain give access.
 * @param access {@code Flags.REMOTE_READ}, {@code Flags.REMOTE_WRITE} or both; 0: peers cannot use the region.
 */
public record RegionKey(long domain, long key, long access) {
    /** Of regions that peers cannot use. */
    public static final RegionKey NONE = new RegionKey(0, 0, 0);
}
