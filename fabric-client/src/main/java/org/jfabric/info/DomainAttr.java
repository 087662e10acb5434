package org.jfabric.info;

import org.jfabric.info.Attribute.Format;
import org.jfabric.info.Attribute.Rule;

/**
 * Attributes of a domain: models, limits and identity.
 *
 * <p>Use: {@code hints.domainAttr().threading(Threading.SAFE)}.
 *
 * <p>In hints 0, UNSPEC, null and an empty key are wildcards; a new object is all wildcards. Source: fi_domain(3),
 * section Domain Attributes. Owner: the thread that fills it in; a call that takes it reads it before it returns.
 */
public final class DomainAttr extends AttributeStructure<DomainAttr> {
    private static final AttributeTable TABLE = new AttributeTable("domain_attr.");
    private static final Attribute<String> NAME = TABLE.text("name", Rule.NAME);
    /** Only the client uses it: it locks as the level requires. */
    private static final Attribute<Threading> THREADING = TABLE.add("threading", Rule.CHOSEN, Threading.UNSPEC);
    private static final Attribute<Progress> CONTROL_PROGRESS =
        TABLE.add("control_progress", Rule.PROGRESS, Progress.UNSPEC);
    private static final Attribute<Progress> DATA_PROGRESS = TABLE.add("data_progress", Rule.PROGRESS, Progress.UNSPEC);
    private static final Attribute<ResourceManagement> RESOURCE_MANAGEMENT =
        TABLE.add("resource_mgmt", ResourceManagement.UNSPEC);
    private static final Attribute<AddressVectorType> AV_TYPE =
        TABLE.add("av_type", Rule.CHOSEN, AddressVectorType.UNSPEC);
    private static final Attribute<Long> MR_MODE = TABLE.add("mr_mode", Rule.FREE, 0L, Format.MR_MODE);
    private static final Attribute<Long> MR_KEY_SIZE = TABLE.limit("mr_key_size");
    private static final Attribute<Long> CQ_DATA_SIZE = TABLE.limit("cq_data_size");
    private static final Attribute<Long> CQ_CNT = TABLE.limit("cq_cnt");
    private static final Attribute<Long> EP_CNT = TABLE.limit("ep_cnt");
    private static final Attribute<Long> TX_CTX_CNT = TABLE.limit("tx_ctx_cnt");
    private static final Attribute<Long> RX_CTX_CNT = TABLE.limit("rx_ctx_cnt");
    private static final Attribute<Long> MAX_EP_TX_CTX = TABLE.limit("max_ep_tx_ctx");
    private static final Attribute<Long> MAX_EP_RX_CTX = TABLE.limit("max_ep_rx_ctx");
    private static final Attribute<Long> MAX_EP_STX_CTX = TABLE.limit("max_ep_stx_ctx");
    private static final Attribute<Long> MAX_EP_SRX_CTX = TABLE.limit("max_ep_srx_ctx");
    private static final Attribute<Long> CNTR_CNT = TABLE.limit("cntr_cnt");
    private static final Attribute<Long> MR_IOV_LIMIT = TABLE.limit("mr_iov_limit");
    private static final Attribute<Long> CAPS = TABLE.caps();
    private static final Attribute<Long> MODE = TABLE.mode();
    private static final Attribute<byte[]> AUTH_KEY = TABLE.key();
    private static final Attribute<Boolean> AV_AUTH_KEY = TABLE.add("av_auth_key", false);
    private static final Attribute<Long> MAX_ERR_DATA = TABLE.limit("max_err_data");
    private static final Attribute<Long> MR_CNT = TABLE.limit("mr_cnt");
    private static final Attribute<Integer> TCLASS = TABLE.trafficClass();

    /**
     * Attributes with every member at its default.
     */
    public DomainAttr() {
        super(TABLE);
    }

    /** Name of the domain, or null for any. Default null. */
    public String name() {
        return get(NAME);
    }

    /** Sets {@link #name()}; returns this object. */
    public DomainAttr name(String name) {
        return set(NAME, name);
    }

    /** The calls that the application serialises. Default {@link Threading#UNSPEC}. */
    public Threading threading() {
        return get(THREADING);
    }

    /** Sets {@link #threading()}; returns this object. */
    public DomainAttr threading(Threading threading) {
        return set(THREADING, threading);
    }

    /** Who drives control operations. Default {@link Progress#UNSPEC}. */
    public Progress controlProgress() {
        return get(CONTROL_PROGRESS);
    }

    /** Sets {@link #controlProgress()}; returns this object. */
    public DomainAttr controlProgress(Progress controlProgress) {
        return set(CONTROL_PROGRESS, controlProgress);
    }

    /** Who drives data transfers. Default {@link Progress#UNSPEC}. */
    public Progress dataProgress() {
        return get(DATA_PROGRESS);
    }

    /** Sets {@link #dataProgress()}; returns this object. */
    public DomainAttr dataProgress(Progress dataProgress) {
        return set(DATA_PROGRESS, dataProgress);
    }

    /**
     * Whether queues are kept from overrunning. Default {@link ResourceManagement#UNSPEC}, which opens as enabled.
     */
    public ResourceManagement resourceManagement() {
        return get(RESOURCE_MANAGEMENT);
    }

    /** Sets {@link #resourceManagement()}; returns this object. */
    public DomainAttr resourceManagement(ResourceManagement resourceManagement) {
        return set(RESOURCE_MANAGEMENT, resourceManagement);
    }

    /** Type of address vectors. Default {@link AddressVectorType#UNSPEC}. */
    public AddressVectorType avType() {
        return get(AV_TYPE);
    }

    /** Sets {@link #avType()}; returns this object. */
    public DomainAttr avType(AddressVectorType avType) {
        return set(AV_TYPE, avType);
    }

    /**
     * {@link MrMode} bits. In hints what the application is able to do, 0 for any; a link that needs a bit that is not
     * there is refused. In a match what the application must do: {@link MrMode#LOCAL}, register the memory of
     * operations. Peers address regions by offset with keys of the application. Default 0.
     */
    public long mrMode() {
        return get(MR_MODE);
    }

    /** Sets {@link #mrMode()}; returns this object. */
    public DomainAttr mrMode(long mrMode) {
        return set(MR_MODE, mrMode);
    }

    /** Length of a region key in bytes. Default 0. */
    public long mrKeySize() {
        return get(MR_KEY_SIZE);
    }

    /** Sets {@link #mrKeySize()}; returns this object. */
    public DomainAttr mrKeySize(long mrKeySize) {
        return set(MR_KEY_SIZE, mrKeySize);
    }

    /** Length of CQ data on the wire in bytes, 0 or 4 to 8. Default 0. */
    public long cqDataSize() {
        return get(CQ_DATA_SIZE);
    }

    /** Sets {@link #cqDataSize()}; returns this object. */
    public DomainAttr cqDataSize(long cqDataSize) {
        return set(CQ_DATA_SIZE, cqDataSize);
    }

    /** Completion queues that the domain can have. Default 0. */
    public long cqCnt() {
        return get(CQ_CNT);
    }

    /** Sets {@link #cqCnt()}; returns this object. */
    public DomainAttr cqCnt(long cqCnt) {
        return set(CQ_CNT, cqCnt);
    }

    /** Endpoints that the domain can have. Default 0. */
    public long epCnt() {
        return get(EP_CNT);
    }

    /** Sets {@link #epCnt()}; returns this object. */
    public DomainAttr epCnt(long epCnt) {
        return set(EP_CNT, epCnt);
    }

    /** Transmit contexts that the domain can have. Default 0. */
    public long txCtxCnt() {
        return get(TX_CTX_CNT);
    }

    /** Sets {@link #txCtxCnt()}; returns this object. */
    public DomainAttr txCtxCnt(long txCtxCnt) {
        return set(TX_CTX_CNT, txCtxCnt);
    }

    /** Receive contexts that the domain can have. Default 0. */
    public long rxCtxCnt() {
        return get(RX_CTX_CNT);
    }

    /** Sets {@link #rxCtxCnt()}; returns this object. */
    public DomainAttr rxCtxCnt(long rxCtxCnt) {
        return set(RX_CTX_CNT, rxCtxCnt);
    }

    /** Transmit contexts that one endpoint can have. Default 0. */
    public long maxEpTxCtx() {
        return get(MAX_EP_TX_CTX);
    }

    /** Sets {@link #maxEpTxCtx()}; returns this object. */
    public DomainAttr maxEpTxCtx(long maxEpTxCtx) {
        return set(MAX_EP_TX_CTX, maxEpTxCtx);
    }

    /** Receive contexts that one endpoint can have. Default 0. */
    public long maxEpRxCtx() {
        return get(MAX_EP_RX_CTX);
    }

    /** Sets {@link #maxEpRxCtx()}; returns this object. */
    public DomainAttr maxEpRxCtx(long maxEpRxCtx) {
        return set(MAX_EP_RX_CTX, maxEpRxCtx);
    }

    /** Endpoints that can share one transmit context. Default 0. */
    public long maxEpStxCtx() {
        return get(MAX_EP_STX_CTX);
    }

    /** Sets {@link #maxEpStxCtx()}; returns this object. */
    public DomainAttr maxEpStxCtx(long maxEpStxCtx) {
        return set(MAX_EP_STX_CTX, maxEpStxCtx);
    }

    /** Endpoints that can share one receive context. Default 0. */
    public long maxEpSrxCtx() {
        return get(MAX_EP_SRX_CTX);
    }

    /** Sets {@link #maxEpSrxCtx()}; returns this object. */
    public DomainAttr maxEpSrxCtx(long maxEpSrxCtx) {
        return set(MAX_EP_SRX_CTX, maxEpSrxCtx);
    }

    /** Counters that the domain can have. Default 0. */
    public long cntrCnt() {
        return get(CNTR_CNT);
    }

    /** Sets {@link #cntrCnt()}; returns this object. */
    public DomainAttr cntrCnt(long cntrCnt) {
        return set(CNTR_CNT, cntrCnt);
    }

    /** Most memory segments of one registration. Default 0. */
    public long mrIovLimit() {
        return get(MR_IOV_LIMIT);
    }

    /** Sets {@link #mrIovLimit()}; returns this object. */
    public DomainAttr mrIovLimit(long mrIovLimit) {
        return set(MR_IOV_LIMIT, mrIovLimit);
    }

    /** Capabilities of the domain, {@link Flags} such as {@link Flags#LOCAL_COMM}. Default 0. */
    public long caps() {
        return get(CAPS);
    }

    /** Sets {@link #caps()}; returns this object. */
    public DomainAttr caps(long caps) {
        return set(CAPS, caps);
    }

    /** {@link Mode} bits of the domain. Default 0. */
    public long mode() {
        return get(MODE);
    }

    /** Sets {@link #mode()}; returns this object. */
    public DomainAttr mode(long mode) {
        return set(MODE, mode);
    }

    /**
     * Key of endpoints that have none of their own; empty is none. Copied in and out, never null. Default empty.
     */
    public byte[] authKey() {
        return get(AUTH_KEY).clone();
    }

    /** Sets {@link #authKey()}; returns this object. */
    public DomainAttr authKey(byte[] authKey) {
        return set(AUTH_KEY, authKey == null ? new byte[0] : authKey.clone());
    }

    /** Length of {@link #authKey()} in bytes, 0 if there is none. */
    public int authKeySize() {
        return get(AUTH_KEY).length;
    }

    /**
     * Whether keys are inserted into address vectors instead, one for each group of peers (auth_key_size
     * FI_AV_AUTH_KEY of API version 2.0 and later). No link offers it. Default false.
     */
    public boolean avAuthKey() {
        return get(AV_AUTH_KEY);
    }

    /** Sets {@link #avAuthKey()}; returns this object. */
    public DomainAttr avAuthKey(boolean avAuthKey) {
        return set(AV_AUTH_KEY, avAuthKey);
    }

    /** Most bytes of error data in an error entry. Default 0. */
    public long maxErrDataSize() {
        return get(MAX_ERR_DATA);
    }

    /** Sets {@link #maxErrDataSize()}; returns this object. */
    public DomainAttr maxErrDataSize(long maxErrDataSize) {
        return set(MAX_ERR_DATA, maxErrDataSize);
    }

    /** Memory regions that the domain can have. Default 0. */
    public long mrCnt() {
        return get(MR_CNT);
    }

    /** Sets {@link #mrCnt()}; returns this object. */
    public DomainAttr mrCnt(long mrCnt) {
        return set(MR_CNT, mrCnt);
    }

    /** Traffic class of endpoints that name none, see {@link TxAttr#tclass()}. Default 0. */
    public int tclass() {
        return get(TCLASS);
    }

    /** Sets {@link #tclass()}; returns this object. */
    public DomainAttr tclass(int tclass) {
        return set(TCLASS, tclass);
    }
}
