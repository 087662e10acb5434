package org.jfabric.info;

/**
 * Attributes of a domain: models, limits and identity.
 *
 * <p>Use: {@code hints.domainAttr().threading(Threading.SAFE)}.
 *
 * <p>In hints 0, UNSPEC, null and an empty key are wildcards; a new object is all wildcards. Source: fi_domain(3),
 * section Domain Attributes. Owner: the thread that fills it in; a call that takes it reads it before it returns.
 */
public final class DomainAttr {
    private static final byte[] NO_KEY = {};

    private String name;
    private Threading threading = Threading.UNSPEC;
    private Progress controlProgress = Progress.UNSPEC;
    private Progress dataProgress = Progress.UNSPEC;
    private ResourceManagement resourceManagement = ResourceManagement.UNSPEC;
    private AddressVectorType avType = AddressVectorType.UNSPEC;
    private long mrMode;
    private long mrKeySize;
    private long cqDataSize;
    private long cqCnt;
    private long epCnt;
    private long txCtxCnt;
    private long rxCtxCnt;
    private long maxEpTxCtx;
    private long maxEpRxCtx;
    private long maxEpStxCtx;
    private long maxEpSrxCtx;
    private long cntrCnt;
    private long mrIovLimit;
    private long caps;
    private long mode;
    private byte[] authKey = NO_KEY;
    private boolean avAuthKey;
    private long maxErrDataSize;
    private long mrCnt;
    private int tclass;

    /**
     * Attributes with every member at its default.
     */
    public DomainAttr() {
    }

    private DomainAttr(DomainAttr from) {
        name = from.name;
        threading = from.threading;
        controlProgress = from.controlProgress;
        dataProgress = from.dataProgress;
        resourceManagement = from.resourceManagement;
        avType = from.avType;
        mrMode = from.mrMode;
        mrKeySize = from.mrKeySize;
        cqDataSize = from.cqDataSize;
        cqCnt = from.cqCnt;
        epCnt = from.epCnt;
        txCtxCnt = from.txCtxCnt;
        rxCtxCnt = from.rxCtxCnt;
        maxEpTxCtx = from.maxEpTxCtx;
        maxEpRxCtx = from.maxEpRxCtx;
        maxEpStxCtx = from.maxEpStxCtx;
        maxEpSrxCtx = from.maxEpSrxCtx;
        cntrCnt = from.cntrCnt;
        mrIovLimit = from.mrIovLimit;
        caps = from.caps;
        mode = from.mode;
        authKey = from.authKey.clone();
        avAuthKey = from.avAuthKey;
        maxErrDataSize = from.maxErrDataSize;
        mrCnt = from.mrCnt;
        tclass = from.tclass;
    }

    /** Name of the domain, or null for any. Default null. */
    public String name() {
        return name;
    }

    /** Sets {@link #name()}; returns this object. */
    public DomainAttr name(String name) {
        this.name = name;
        return this;
    }

    /** The calls that the application serialises. Default {@link Threading#UNSPEC}. */
    public Threading threading() {
        return threading;
    }

    /** Sets {@link #threading()}; returns this object. */
    public DomainAttr threading(Threading threading) {
        this.threading = Codes.required(threading, "threading");
        return this;
    }

    /** Who drives control operations. Default {@link Progress#UNSPEC}. */
    public Progress controlProgress() {
        return controlProgress;
    }

    /** Sets {@link #controlProgress()}; returns this object. */
    public DomainAttr controlProgress(Progress controlProgress) {
        this.controlProgress = Codes.required(controlProgress, "controlProgress");
        return this;
    }

    /** Who drives data transfers. Default {@link Progress#UNSPEC}. */
    public Progress dataProgress() {
        return dataProgress;
    }

    /** Sets {@link #dataProgress()}; returns this object. */
    public DomainAttr dataProgress(Progress dataProgress) {
        this.dataProgress = Codes.required(dataProgress, "dataProgress");
        return this;
    }

    /**
     * Whether queues are kept from overrunning. Default {@link ResourceManagement#UNSPEC}, which opens as enabled.
     */
    public ResourceManagement resourceManagement() {
        return resourceManagement;
    }

    /** Sets {@link #resourceManagement()}; returns this object. */
    public DomainAttr resourceManagement(ResourceManagement resourceManagement) {
        this.resourceManagement = Codes.required(resourceManagement, "resourceManagement");
        return this;
    }

    /** Type of address vectors. Default {@link AddressVectorType#UNSPEC}. */
    public AddressVectorType avType() {
        return avType;
    }

    /** Sets {@link #avType()}; returns this object. */
    public DomainAttr avType(AddressVectorType avType) {
        this.avType = Codes.required(avType, "avType");
        return this;
    }

    /**
     * {@link MrMode} bits. In hints what the application is able to do, 0 for any; a link that needs a bit that is not
     * there is refused. In a match what the application must do: {@link MrMode#LOCAL}, register the memory of
     * operations. Peers address regions by offset with keys of the application. Default 0.
     */
    public long mrMode() {
        return mrMode;
    }

    /** Sets {@link #mrMode()}; returns this object. */
    public DomainAttr mrMode(long mrMode) {
        this.mrMode = mrMode;
        return this;
    }

    /** Length of a region key in bytes. Default 0. */
    public long mrKeySize() {
        return mrKeySize;
    }

    /** Sets {@link #mrKeySize()}; returns this object. */
    public DomainAttr mrKeySize(long mrKeySize) {
        this.mrKeySize = mrKeySize;
        return this;
    }

    /** Length of CQ data on the wire in bytes, 0 or 4 to 8. Default 0. */
    public long cqDataSize() {
        return cqDataSize;
    }

    /** Sets {@link #cqDataSize()}; returns this object. */
    public DomainAttr cqDataSize(long cqDataSize) {
        this.cqDataSize = cqDataSize;
        return this;
    }

    /** Completion queues that the domain can have. Default 0. */
    public long cqCnt() {
        return cqCnt;
    }

    /** Sets {@link #cqCnt()}; returns this object. */
    public DomainAttr cqCnt(long cqCnt) {
        this.cqCnt = cqCnt;
        return this;
    }

    /** Endpoints that the domain can have. Default 0. */
    public long epCnt() {
        return epCnt;
    }

    /** Sets {@link #epCnt()}; returns this object. */
    public DomainAttr epCnt(long epCnt) {
        this.epCnt = epCnt;
        return this;
    }

    /** Transmit contexts that the domain can have. Default 0. */
    public long txCtxCnt() {
        return txCtxCnt;
    }

    /** Sets {@link #txCtxCnt()}; returns this object. */
    public DomainAttr txCtxCnt(long txCtxCnt) {
        this.txCtxCnt = txCtxCnt;
        return this;
    }

    /** Receive contexts that the domain can have. Default 0. */
    public long rxCtxCnt() {
        return rxCtxCnt;
    }

    /** Sets {@link #rxCtxCnt()}; returns this object. */
    public DomainAttr rxCtxCnt(long rxCtxCnt) {
        this.rxCtxCnt = rxCtxCnt;
        return this;
    }

    /** Transmit contexts that one endpoint can have. Default 0. */
    public long maxEpTxCtx() {
        return maxEpTxCtx;
    }

    /** Sets {@link #maxEpTxCtx()}; returns this object. */
    public DomainAttr maxEpTxCtx(long maxEpTxCtx) {
        this.maxEpTxCtx = maxEpTxCtx;
        return this;
    }

    /** Receive contexts that one endpoint can have. Default 0. */
    public long maxEpRxCtx() {
        return maxEpRxCtx;
    }

    /** Sets {@link #maxEpRxCtx()}; returns this object. */
    public DomainAttr maxEpRxCtx(long maxEpRxCtx) {
        this.maxEpRxCtx = maxEpRxCtx;
        return this;
    }

    /** Endpoints that can share one transmit context. Default 0. */
    public long maxEpStxCtx() {
        return maxEpStxCtx;
    }

    /** Sets {@link #maxEpStxCtx()}; returns this object. */
    public DomainAttr maxEpStxCtx(long maxEpStxCtx) {
        this.maxEpStxCtx = maxEpStxCtx;
        return this;
    }

    /** Endpoints that can share one receive context. Default 0. */
    public long maxEpSrxCtx() {
        return maxEpSrxCtx;
    }

    /** Sets {@link #maxEpSrxCtx()}; returns this object. */
    public DomainAttr maxEpSrxCtx(long maxEpSrxCtx) {
        this.maxEpSrxCtx = maxEpSrxCtx;
        return this;
    }

    /** Counters that the domain can have. Default 0. */
    public long cntrCnt() {
        return cntrCnt;
    }

    /** Sets {@link #cntrCnt()}; returns this object. */
    public DomainAttr cntrCnt(long cntrCnt) {
        this.cntrCnt = cntrCnt;
        return this;
    }

    /** Most memory segments of one registration. Default 0. */
    public long mrIovLimit() {
        return mrIovLimit;
    }

    /** Sets {@link #mrIovLimit()}; returns this object. */
    public DomainAttr mrIovLimit(long mrIovLimit) {
        this.mrIovLimit = mrIovLimit;
        return this;
    }

    /** Capabilities of the domain, {@link Flags} such as {@link Flags#LOCAL_COMM}. Default 0. */
    public long caps() {
        return caps;
    }

    /** Sets {@link #caps()}; returns this object. */
    public DomainAttr caps(long caps) {
        this.caps = caps;
        return this;
    }

    /** {@link Mode} bits of the domain. Default 0. */
    public long mode() {
        return mode;
    }

    /** Sets {@link #mode()}; returns this object. */
    public DomainAttr mode(long mode) {
        this.mode = mode;
        return this;
    }

    /**
     * Key of endpoints that have none of their own; empty is none. Copied in and out, never null. Default empty.
     */
    public byte[] authKey() {
        return authKey.clone();
    }

    /** Sets {@link #authKey()}; returns this object. */
    public DomainAttr authKey(byte[] authKey) {
        this.authKey = authKey == null ? NO_KEY : authKey.clone();
        return this;
    }

    /** Length of {@link #authKey()} in bytes, 0 if there is none. */
    public int authKeySize() {
        return authKey.length;
    }

    /**
     * Whether keys are inserted into address vectors instead, one for each group of peers (auth_key_size
     * FI_AV_AUTH_KEY of API version 2.0 and later). No link offers it. Default false.
     */
    public boolean avAuthKey() {
        return avAuthKey;
    }

    /** Sets {@link #avAuthKey()}; returns this object. */
    public DomainAttr avAuthKey(boolean avAuthKey) {
        this.avAuthKey = avAuthKey;
        return this;
    }

    /** Most bytes of error data in an error entry. Default 0. */
    public long maxErrDataSize() {
        return maxErrDataSize;
    }

    /** Sets {@link #maxErrDataSize()}; returns this object. */
    public DomainAttr maxErrDataSize(long maxErrDataSize) {
        this.maxErrDataSize = maxErrDataSize;
        return this;
    }

    /** Memory regions that the domain can have. Default 0. */
    public long mrCnt() {
        return mrCnt;
    }

    /** Sets {@link #mrCnt()}; returns this object. */
    public DomainAttr mrCnt(long mrCnt) {
        this.mrCnt = mrCnt;
        return this;
    }

    /** Traffic class of endpoints that name none, see {@link TxAttr#tclass()}. Default 0. */
    public int tclass() {
        return tclass;
    }

    /** Sets {@link #tclass()}; returns this object. */
    public DomainAttr tclass(int tclass) {
        this.tclass = tclass;
        return this;
    }

    /** An independent copy, nested objects included; changing one does not change the other. */
    public DomainAttr copy() {
        return new DomainAttr(this);
    }

    @Override
    public String toString() {
        return "DomainAttr{name=" + name + ", threading=" + threading + ", controlProgress=" + controlProgress
            + ", dataProgress=" + dataProgress + ", resourceManagement=" + resourceManagement
            + ", avType=" + avType + ", mrMode=" + MrMode.toString(mrMode) + ", mrKeySize=" + mrKeySize
            + ", cqDataSize=" + cqDataSize + ", cqCnt=" + cqCnt + ", epCnt=" + epCnt + ", txCtxCnt=" + txCtxCnt
            + ", rxCtxCnt=" + rxCtxCnt + ", maxEpTxCtx=" + maxEpTxCtx + ", maxEpRxCtx=" + maxEpRxCtx
            + ", maxEpStxCtx=" + maxEpStxCtx + ", maxEpSrxCtx=" + maxEpSrxCtx + ", cntrCnt=" + cntrCnt
            + ", mrIovLimit=" + mrIovLimit + ", caps=" + Flags.toString(caps, Flags.Kind.CAPABILITY)
            + ", mode=" + Mode.toString(mode) + ", authKey=" + Codes.describeKey(authKey)
            + ", avAuthKey=" + avAuthKey
            + ", maxErrDataSize=" + maxErrDataSize + ", mrCnt=" + mrCnt + ", tclass=" + Codes.hex(tclass) + '}';
    }
}
