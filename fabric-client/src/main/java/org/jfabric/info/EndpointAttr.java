package org.jfabric.info;

import org.jfabric.info.Attribute.Format;
import org.jfabric.info.Attribute.Rule;

/**
 * Attributes of an endpoint that concern both directions.
 *
 * <p>Use: {@code hints.epAttr().type(EndpointType.MSG)}.
 *
 * <p>In hints 0, UNSPEC and an empty key are wildcards. A new object is all wildcards. Sizes are in bytes and unsigned.
 * Source: fi_endpoint(3), section Endpoint Attributes. Owner: the thread that fills it in; a call that takes it reads
 * it before it returns.
 */
public final class EndpointAttr extends AttributeStructure<EndpointAttr> {
    private static final AttributeTable TABLE = new AttributeTable("ep_attr.");
    private static final Attribute<EndpointType> TYPE = TABLE.add("type", Rule.SAME, EndpointType.UNSPEC);
    private static final Attribute<Protocol> PROTOCOL = TABLE.add("protocol", Rule.SAME, Protocol.UNSPEC);
    private static final Attribute<Integer> PROTOCOL_VERSION = TABLE.add("protocol_version", Rule.AT_MOST, 0);
    private static final Attribute<Long> MAX_MSG_SIZE = TABLE.limit("max_msg_size");
    private static final Attribute<Long> MSG_PREFIX_SIZE = TABLE.add("msg_prefix_size", 0L);
    private static final Attribute<Long> MAX_ORDER_RAW_SIZE = TABLE.limit("max_order_raw_size");
    private static final Attribute<Long> MAX_ORDER_WAR_SIZE = TABLE.limit("max_order_war_size");
    private static final Attribute<Long> MAX_ORDER_WAW_SIZE = TABLE.limit("max_order_waw_size");
    /** Where there are tags, all bits are compared and every mask is allowed, so that any format is possible. */
    private static final Attribute<Long> MEM_TAG_FORMAT = TABLE.add("mem_tag_format", Rule.CHOSEN, 0L, Format.HEX);
    private static final Attribute<Long> TX_CTX_CNT = TABLE.add("tx_ctx_cnt", Rule.CHOSEN, 0L);
    private static final Attribute<Long> RX_CTX_CNT = TABLE.add("rx_ctx_cnt", Rule.CHOSEN, 0L);
    private static final Attribute<byte[]> AUTH_KEY = TABLE.key();

    /**
     * Attributes with every member at its default.
     */
    public EndpointAttr() {
        super(TABLE);
    }

    /** The service offered. Default {@link EndpointType#UNSPEC}. */
    public EndpointType type() {
        return get(TYPE);
    }

    /** Sets {@link #type()}; returns this object. */
    public EndpointAttr type(EndpointType type) {
        return set(TYPE, type);
    }

    /**
     * The end-to-end protocol; both sides need the same one. Default {@link Protocol#UNSPEC}.
     */
    public Protocol protocol() {
        return get(PROTOCOL);
    }

    /** Sets {@link #protocol()}; returns this object. */
    public EndpointAttr protocol(Protocol protocol) {
        return set(PROTOCOL, protocol);
    }

    /** Version of the protocol; peers use what the lower one has. Default 0. */
    public int protocolVersion() {
        return get(PROTOCOL_VERSION);
    }

    /** Sets {@link #protocolVersion()}; returns this object. */
    public EndpointAttr protocolVersion(int protocolVersion) {
        return set(PROTOCOL_VERSION, protocolVersion);
    }

    /**
     * Largest transfer as a single operation, in bytes. An endpoint that is opened with less than the link offers keeps
     * to it. Default 0.
     */
    public long maxMsgSize() {
        return get(MAX_MSG_SIZE);
    }

    /** Sets {@link #maxMsgSize()}; returns this object. */
    public EndpointAttr maxMsgSize(long maxMsgSize) {
        return set(MAX_MSG_SIZE, maxMsgSize);
    }

    /**
     * Space in front of each buffer in bytes, a multiple of 8; 0 unless {@link Mode#MSG_PREFIX} is in use. Default 0.
     */
    public long msgPrefixSize() {
        return get(MSG_PREFIX_SIZE);
    }

    /** Sets {@link #msgPrefixSize()}; returns this object. */
    public EndpointAttr msgPrefixSize(long msgPrefixSize) {
        return set(MSG_PREFIX_SIZE, msgPrefixSize);
    }

    /**
     * Bytes up to which a read after a write sees what was written; 0 is never,
     * {@link FabricAddress#ORDER_SIZE_UNLIMITED} is always. Default 0.
     */
    public long maxOrderRawSize() {
        return get(MAX_ORDER_RAW_SIZE);
    }

    /** Sets {@link #maxOrderRawSize()}; returns this object. */
    public EndpointAttr maxOrderRawSize(long maxOrderRawSize) {
        return set(MAX_ORDER_RAW_SIZE, maxOrderRawSize);
    }

    /**
     * Bytes up to which a write after a read leaves the value read alone; 0 is never,
     * {@link FabricAddress#ORDER_SIZE_UNLIMITED} is always. Default 0.
     */
    public long maxOrderWarSize() {
        return get(MAX_ORDER_WAR_SIZE);
    }

    /** Sets {@link #maxOrderWarSize()}; returns this object. */
    public EndpointAttr maxOrderWarSize(long maxOrderWarSize) {
        return set(MAX_ORDER_WAR_SIZE, maxOrderWarSize);
    }

    /**
     * Bytes up to which the second of two writes determines memory; 0 is never,
     * {@link FabricAddress#ORDER_SIZE_UNLIMITED} is always. Default 0.
     */
    public long maxOrderWawSize() {
        return get(MAX_ORDER_WAW_SIZE);
    }

    /** Sets {@link #maxOrderWawSize()}; returns this object. */
    public EndpointAttr maxOrderWawSize(long maxOrderWawSize) {
        return set(MAX_ORDER_WAW_SIZE, maxOrderWawSize);
    }

    /**
     * Usable tag bits as alternating runs of ones and zeros, one run per field, behind leading zeros for bits that are
     * not usable; 0 is no requirement, {@link FabricAddress#TAG_FORMAT_GENERIC} an unstructured tag. From API version
     * 2.0 on a number below {@link TagFormat#MAX_FORMAT} names a format: {@link TagFormat#BITS} or
     * {@link TagFormat#MPI}. Default 0.
     */
    public long memTagFormat() {
        return get(MEM_TAG_FORMAT);
    }

    /** Sets {@link #memTagFormat()}; returns this object. */
    public EndpointAttr memTagFormat(long memTagFormat) {
        return set(MEM_TAG_FORMAT, memTagFormat);
    }

    /**
     * Number of transmit contexts; 0 is one if the endpoint sends, {@link FabricAddress#SHARED_CONTEXT} is a shared
     * one. Default 0.
     */
    public long txCtxCnt() {
        return get(TX_CTX_CNT);
    }

    /** Sets {@link #txCtxCnt()}; returns this object. */
    public EndpointAttr txCtxCnt(long txCtxCnt) {
        return set(TX_CTX_CNT, txCtxCnt);
    }

    /**
     * Number of receive contexts; 0 is one if the endpoint receives, {@link FabricAddress#SHARED_CONTEXT} is a shared
     * one. Default 0.
     */
    public long rxCtxCnt() {
        return get(RX_CTX_CNT);
    }

    /** Sets {@link #rxCtxCnt()}; returns this object. */
    public EndpointAttr rxCtxCnt(long rxCtxCnt) {
        return set(RX_CTX_CNT, rxCtxCnt);
    }

    /**
     * Only peers with the same key communicate; empty means that the key of the domain applies, and if that is empty
     * too, only peers without a key are reached. A send to a peer with another key ends with
     * {@link FabricErrno#EKEYREJECTED}. At most 128 bytes. A fabric of an API version below 1.5 ignores it. Keys keep
     * applications apart that must not meet by mistake; they are no secret from others of the same user. Copied in and
     * out, never null; null sets the empty key. Default empty.
     */
    public byte[] authKey() {
        return get(AUTH_KEY).clone();
    }

    /** Sets {@link #authKey()}; returns this object. */
    public EndpointAttr authKey(byte[] authKey) {
        return set(AUTH_KEY, authKey == null ? new byte[0] : authKey.clone());
    }

    /** Length of {@link #authKey()} in bytes, 0 if there is none. */
    public int authKeySize() {
        return get(AUTH_KEY).length;
    }
}
