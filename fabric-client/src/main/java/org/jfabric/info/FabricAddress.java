package org.jfabric.info;

/**
 * Special values of addresses, keys, context counts and tag formats.
 *
 * <p>Use: {@code endpoint.recv(address, 64, FabricAddress.ADDR_UNSPEC, 1)}.
 *
 * <p>Unsigned 64-bit values of libfabric are Java longs; all ones is {@code -1L}. Source: fi_av(3), fi_cq(3) and
 * fi_endpoint(3); values of libfabric 1.18. Constants only; any thread.
 */
public final class FabricAddress {
    /**
     * No address given, all ones. As source of a receive it means any peer; it is never a valid destination on
     * connectionless endpoints.
     */
    public static final long ADDR_UNSPEC = -1L;

    /**
     * Address not known, all ones: reported as source when the peer is not in the address vector, and in the result
     * array of a failed insertion. The same bit pattern as {@link #ADDR_UNSPEC}.
     */
    public static final long ADDR_NOTAVAIL = -1L;

    /** Memory key not known, all ones. */
    public static final long KEY_NOTAVAIL = -1L;

    /** As context count of an endpoint: it uses a shared transmit or receive context. */
    public static final long SHARED_CONTEXT = -1L;

    /** As limit of data ordering, in bytes: transfers of any size are ordered. */
    public static final long ORDER_SIZE_UNLIMITED = -1L;

    /** As value of {@link EndpointOption#BUFFERED_LIMIT}, in bytes: the largest that the provider supports. */
    public static final long BUFFERED_LIMIT_MAX = -1L;

    /** Tag format of an unstructured 64-bit tag: alternating ones and zeros, 64 fields of one bit. */
    public static final long TAG_FORMAT_GENERIC = 0xaaaa_aaaa_aaaa_aaaaL;

    private FabricAddress() {
    }
}
