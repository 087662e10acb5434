package org.jfabric.info;

/**
 * Attributes of an endpoint that concern both directions.
 *
 * <p>Use: {@code hints.epAttr().type(EndpointType.MSG)}.
 *
 * <p>In hints 0, UNSPEC and an empty key are wildcards. A new object is all wildcards. Sizes are in bytes and unsigned.
 * Source: fi_endpoint(3), section Endpoint Attributes. Owner: the thread that fills it in; a call that takes it reads
 * it before it returns.
 */
public final class EndpointAttr {
    private static final byte[] NO_KEY = {};

    private EndpointType type = EndpointType.UNSPEC;
    private Protocol protocol = Protocol.UNSPEC;
    private int protocolVersion;
    private long maxMsgSize;
    private long msgPrefixSize;
    private long maxOrderRawSize;
    private long maxOrderWarSize;
    private long maxOrderWawSize;
    private long memTagFormat;
    private long txCtxCnt;
    private long rxCtxCnt;
    private byte[] authKey = NO_KEY;

    /**
     * Attributes with every member at its default.
     */
    public EndpointAttr() {
    }

    private EndpointAttr(EndpointAttr from) {
        type = from.type;
        protocol = from.protocol;
        protocolVersion = from.protocolVersion;
        maxMsgSize = from.maxMsgSize;
        msgPrefixSize = from.msgPrefixSize;
        maxOrderRawSize = from.maxOrderRawSize;
        maxOrderWarSize = from.maxOrderWarSize;
        maxOrderWawSize = from.maxOrderWawSize;
        memTagFormat = from.memTagFormat;
        txCtxCnt = from.txCtxCnt;
        rxCtxCnt = from.rxCtxCnt;
        authKey = from.authKey.clone();
    }

    /** The service offered. Default {@link EndpointType#UNSPEC}. */
    public EndpointType type() {
        return type;
    }

    /** Sets {@link #type()}; returns this object. */
    public EndpointAttr type(EndpointType type) {
        this.type = Codes.required(type, "type");
        return this;
    }

    /**
     * The end-to-end protocol; both sides need the same one. Default {@link Protocol#UNSPEC}.
     */
    public Protocol protocol() {
        return protocol;
    }

    /** Sets {@link #protocol()}; returns this object. */
    public EndpointAttr protocol(Protocol protocol) {
        this.protocol = Codes.required(protocol, "protocol");
        return this;
    }

    /** Version of the protocol; peers use what the lower one has. Default 0. */
    public int protocolVersion() {
        return protocolVersion;
    }

    /** Sets {@link #protocolVersion()}; returns this object. */
    public EndpointAttr protocolVersion(int protocolVersion) {
        this.protocolVersion = protocolVersion;
        return this;
    }

    /**
     * Largest transfer as a single operation, in bytes. An endpoint that is opened with less than the link offers keeps
     * to it. Default 0.
     */
    public long maxMsgSize() {
        return maxMsgSize;
    }

    /** Sets {@link #maxMsgSize()}; returns this object. */
    public EndpointAttr maxMsgSize(long maxMsgSize) {
        this.maxMsgSize = maxMsgSize;
        return this;
    }

    /**
     * Space in front of each buffer in bytes, a multiple of 8; 0 unless {@link Mode#MSG_PREFIX} is in use. Default 0.
     */
    public long msgPrefixSize() {
        return msgPrefixSize;
    }

    /** Sets {@link #msgPrefixSize()}; returns this object. */
    public EndpointAttr msgPrefixSize(long msgPrefixSize) {
        this.msgPrefixSize = msgPrefixSize;
        return this;
    }

    /**
     * Bytes up to which a read after a write sees what was written; 0 is never,
     * {@link FabricAddress#ORDER_SIZE_UNLIMITED} is always. Default 0.
     */
    public long maxOrderRawSize() {
        return maxOrderRawSize;
    }

    /** Sets {@link #maxOrderRawSize()}; returns this object. */
    public EndpointAttr maxOrderRawSize(long maxOrderRawSize) {
        this.maxOrderRawSize = maxOrderRawSize;
        return this;
    }

    /**
     * Bytes up to which a write after a read leaves the value read alone; 0 is never,
     * {@link FabricAddress#ORDER_SIZE_UNLIMITED} is always. Default 0.
     */
    public long maxOrderWarSize() {
        return maxOrderWarSize;
    }

    /** Sets {@link #maxOrderWarSize()}; returns this object. */
    public EndpointAttr maxOrderWarSize(long maxOrderWarSize) {
        this.maxOrderWarSize = maxOrderWarSize;
        return this;
    }

    /**
     * Bytes up to which the second of two writes determines memory; 0 is never,
     * {@link FabricAddress#ORDER_SIZE_UNLIMITED} is always. Default 0.
     */
    public long maxOrderWawSize() {
        return maxOrderWawSize;
    }

    /** Sets {@link #maxOrderWawSize()}; returns this object. */
    public EndpointAttr maxOrderWawSize(long maxOrderWawSize) {
        this.maxOrderWawSize = maxOrderWawSize;
        return this;
    }

    /**
     * Usable tag bits as alternating runs of ones and zeros, one run per field, behind leading zeros for bits that are
     * not usable; 0 is no requirement, {@link FabricAddress#TAG_FORMAT_GENERIC} an unstructured tag. From API version
     * 2.0 on a number below {@link TagFormat#MAX_FORMAT} names a format: {@link TagFormat#BITS} or
     * {@link TagFormat#MPI}. Default 0.
     */
    public long memTagFormat() {
        return memTagFormat;
    }

    /** Sets {@link #memTagFormat()}; returns this object. */
    public EndpointAttr memTagFormat(long memTagFormat) {
        this.memTagFormat = memTagFormat;
        return this;
    }

    /**
     * Number of transmit contexts; 0 is one if the endpoint sends, {@link FabricAddress#SHARED_CONTEXT} is a shared
     * one. Default 0.
     */
    public long txCtxCnt() {
        return txCtxCnt;
    }

    /** Sets {@link #txCtxCnt()}; returns this object. */
    public EndpointAttr txCtxCnt(long txCtxCnt) {
        this.txCtxCnt = txCtxCnt;
        return this;
    }

    /**
     * Number of receive contexts; 0 is one if the endpoint receives, {@link FabricAddress#SHARED_CONTEXT} is a shared
     * one. Default 0.
     */
    public long rxCtxCnt() {
        return rxCtxCnt;
    }

    /** Sets {@link #rxCtxCnt()}; returns this object. */
    public EndpointAttr rxCtxCnt(long rxCtxCnt) {
        this.rxCtxCnt = rxCtxCnt;
        return this;
    }

    /**
     * Only peers with the same key communicate; empty means that the key of the domain applies, and if that is empty
     * too, only peers without a key are reached. A send to a peer with another key ends with
     * {@link FabricErrno#EKEYREJECTED}. At most 128 bytes. A fabric of an API version below 1.5 ignores it. Keys keep
     * applications apart that must not meet by mistake; they are no secret from others of the same user. Copied in and
     * out, never null; null sets the empty key. Default empty.
     */
    public byte[] authKey() {
        return authKey.clone();
    }

    /** Sets {@link #authKey()}; returns this object. */
    public EndpointAttr authKey(byte[] authKey) {
        this.authKey = authKey == null ? NO_KEY : authKey.clone();
        return this;
    }

    /** Length of {@link #authKey()} in bytes, 0 if there is none. */
    public int authKeySize() {
        return authKey.length;
    }

    /** An independent copy, nested objects included; changing one does not change the other. */
    public EndpointAttr copy() {
        return new EndpointAttr(this);
    }

    @Override
    public String toString() {
        return "EndpointAttr{type=" + type + ", protocol=" + protocol + ", protocolVersion=" + protocolVersion
            + ", maxMsgSize=" + maxMsgSize + ", msgPrefixSize=" + msgPrefixSize
            + ", maxOrderRawSize=" + maxOrderRawSize + ", maxOrderWarSize=" + maxOrderWarSize
            + ", maxOrderWawSize=" + maxOrderWawSize + ", memTagFormat=" + Codes.hex(memTagFormat)
            + ", txCtxCnt=" + txCtxCnt + ", rxCtxCnt=" + rxCtxCnt + ", authKey=" + Codes.describeKey(authKey) + '}';
    }
}
