package org.jfabric.info;

/**
 * Special values of addresses, keys, context counts and tag formats, and addresses of receive contexts.
 *
 * <p>Use: {@code endpoint.recv(address, 64, FabricAddress.ADDR_UNSPEC, 1)}.
 *
 * <p>Unsigned 64-bit values of libfabric are Java longs; all ones is {@code -1L}. Source: fi_av(3), fi_cq(3) and
 * fi_endpoint(3); values of libfabric 1.18. Stateless; any thread.
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

    /** Most bits that address vectors keep for receive contexts. */
    public static final int MAX_RX_CTX_BITS = 16;

    private FabricAddress() {
    }

    /**
     * The address of a receive context of a scalable endpoint (fi_rx_addr). Sends to it arrive only there; those to the
     * address itself arrive at context 0.
     *
     * @param fiAddr    of the scalable endpoint, from an address vector.
     * @param rxIndex   of the context, from 0 to 2^rxCtxBits - 1.
     * @param rxCtxBits of that address vector, see {@link AddressVectorAttr#rxCtxBits()}.
     * @return {@code rxIndex << (64 - rxCtxBits) | fiAddr}.
     * @throws FabricException {@link FabricErrno#EINVAL} for other values.
     */
    public static long rxAddr(long fiAddr, int rxIndex, int rxCtxBits) {
        if (rxCtxBits < 0 || rxCtxBits > MAX_RX_CTX_BITS || rxIndex < 0 || rxIndex >= 1 << rxCtxBits) {
            throw new FabricException(FabricErrno.EINVAL, "receive context " + rxIndex + " in " + rxCtxBits + " bits",
                "Use 0 to " + MAX_RX_CTX_BITS + " bits, and an index that they can hold.");
        }
        // without bits there is one context, and a shift by 64 would be one by 0
        return rxCtxBits == 0 ? fiAddr : (long) rxIndex << (64 - rxCtxBits) | fiAddr;
    }
}
