package org.jfabric.driver.engine;

import org.jfabric.driver.link.BoundAddress;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.TimestampClock;

/**
 * The settings of an enabled endpoint, after all checks.
 *
 * @param context         context given at open, reported for operations without one.
 * @param txSize          sends outstanding at most.
 * @param rxSize          receives outstanding at most.
 * @param injectSizeBytes longest injected payload.
 * @param maxMessageBytes longest message.
 * @param caps            capabilities; this record has a method for each that changes the engine's behaviour.
 * @param eagerLimitBytes longest payload that is sent eagerly; 0 to 65536.
 * @param mayOverrun      whether the application itself keeps space in its completion queues (FI_RM_DISABLED).
 * @param authKey         only endpoints with the same key communicate; empty for none.
 * @param slab            memory for its messages with mode FI_BUFFERED_RECV, or null.
 * @param connects        whether it is connection-oriented (FI_EP_MSG) and has one peer.
 * @param bound           the address that the operating system has bound, or null.
 * @param strictSends     whether entries of sends come in the order of posting (FI_ORDER_STRICT).
 * @param strictReceives  whether entries of one peer's messages come in the order of matching, whatever their lengths
 *                        are (FI_ORDER_STRICT).
 * @param tclass          traffic class of its messages, 0 for none.
 * @param prefixBytes     length of the prefix of its receive buffers, which entries count (FI_MSG_PREFIX).
 */
public record EndpointSettings(
    long id,
    String name,
    String address,
    long context,
    int txSize,
    int rxSize,
    int injectSizeBytes,
    long maxMessageBytes,
    long caps,
    int eagerLimitBytes,
    boolean mayOverrun,
    byte[] authKey,
    SlabMemory slab,
    boolean connects,
    BoundAddress bound,
    boolean strictSends,
    boolean strictReceives,
    long domain,
    int tclass,
    int prefixBytes) {
    /** Settings of a connectionless endpoint without buffered receives. */
    public EndpointSettings(
        long id,
        String name,
        String address,
        long context,
        int txSize,
        int rxSize,
        int injectSizeBytes,
        long maxMessageBytes,
        long caps,
        int eagerLimitBytes,
        boolean mayOverrun,
        byte[] authKey) {
        this(id, name, address, context, txSize, rxSize, injectSizeBytes, maxMessageBytes, caps, eagerLimitBytes,
            mayOverrun, authKey, null, false, null, false, false, 0, 0, 0);
    }

    /** Copies the settings, with memory for buffered receives. */
    public EndpointSettings with(SlabMemory newSlab) {
        return new EndpointSettings(
            id, name, address, context, txSize, rxSize, injectSizeBytes, maxMessageBytes, caps, eagerLimitBytes,
            mayOverrun, authKey, newSlab, connects, bound, strictSends, strictReceives, domain, tclass,
            prefixBytes);
    }

    /** Copies the settings, with an address that the operating system has bound. */
    public EndpointSettings with(BoundAddress newBound) {
        return new EndpointSettings(
            id, name, newBound.address(), context, txSize, rxSize, injectSizeBytes, maxMessageBytes, caps,
            eagerLimitBytes, mayOverrun, authKey, slab, connects, newBound, strictSends, strictReceives, domain,
            tclass, prefixBytes);
    }

    public EndpointSettings connectionOriented() {
        return new EndpointSettings(
            id, name, address, context, txSize, rxSize, injectSizeBytes, maxMessageBytes, caps, eagerLimitBytes,
            mayOverrun, authKey, slab, true, bound, strictSends, strictReceives, domain, tclass,
            prefixBytes);
    }

    /**
     * Copies the settings, with another order of completion entries.
     *
     * @param sends    whether those of sends come in the order of posting.
     * @param receives whether those of one peer's messages come in the order of matching, whatever their lengths are.
     */
    public EndpointSettings strict(boolean sends, boolean receives) {
        return new EndpointSettings(
            id, name, address, context, txSize, rxSize, injectSizeBytes, maxMessageBytes, caps, eagerLimitBytes,
            mayOverrun, authKey, slab, connects, bound, sends, receives, domain, tclass,
            prefixBytes);
    }

    public EndpointSettings inDomain(long newDomain) {
        return new EndpointSettings(
            id, name, address, context, txSize, rxSize, injectSizeBytes, maxMessageBytes, caps, eagerLimitBytes,
            mayOverrun, authKey, slab, connects, bound, strictSends, strictReceives, newDomain, tclass,
            prefixBytes);
    }

    /**
     * What peers may do with the memory of the domain: read and write, unless the capabilities name a part
     * (fi_getinfo(3), FI_RMA and FI_ATOMIC).
     *
     * @param kind {@code Flags.RMA} or {@code Flags.ATOMIC}.
     * @return {@code Flags.REMOTE_READ}, {@code Flags.REMOTE_WRITE}, both, or 0 without that capability.
     */
    long remoteRights(long kind) {
        return (caps & kind) == 0 ? 0 : Info.directions(caps) & (Flags.REMOTE_READ | Flags.REMOTE_WRITE);
    }

    /** Returns whether the endpoint posts atomic operations. */
    boolean hasAtomics() {
        return (caps & Flags.ATOMIC) != 0;
    }

    /** Whether the endpoint has one of these capabilities. */
    boolean hasAny(long someCaps) {
        return (caps & someCaps) != 0;
    }

    /** Returns whether each access of a peer to the domain's memory is reported. */
    boolean reportsRemoteAccess() {
        return (caps & Flags.RMA_EVENT) != 0;
    }

    /**
     * Copies the settings, with a class of traffic.
     *
     * @param newClass label or code point, 0 for none.
     */
    public EndpointSettings inClass(int newClass) {
        return new EndpointSettings(
            id, name, address, context, txSize, rxSize, injectSizeBytes, maxMessageBytes, caps, eagerLimitBytes,
            mayOverrun, authKey, slab, connects, bound, strictSends, strictReceives, domain, newClass,
            prefixBytes);
    }

    /**
     * Copies the settings, with receive buffers that begin with a prefix.
     *
     * @param newPrefixBytes its length, 0 for none.
     */
    public EndpointSettings prefixed(int newPrefixBytes) {
        return new EndpointSettings(
            id, name, address, context, txSize, rxSize, injectSizeBytes, maxMessageBytes, caps, eagerLimitBytes,
            mayOverrun, authKey, slab, connects, bound, strictSends, strictReceives, domain, tclass,
            newPrefixBytes);
    }

    /**
     * Returns whether the source address of a receive is matched.
     *
     * @return true with FI_DIRECTED_RECV or FI_EXACT_DIRECTED_RECV; the client refuses receives without a source.
     */
    boolean directedReceive() {
        return (caps & (Flags.DIRECTED_RECV | Flags.EXACT_DIRECTED_RECV)) != 0;
    }

    /** Returns whether one buffer may be posted for many messages. */
    public boolean multiReceive() {
        return (caps & Flags.MULTI_RECV) != 0;
    }

    /** Returns whether one buffer may be posted for many tagged messages. */
    boolean taggedMultiReceive() {
        return (caps & Flags.TAGGED_MULTI_RECV) != 0;
    }

    /** Whose clock the times of arrival are of. Returns null if messages have none. */
    TimestampClock arrivals() {
        return TimestampClock.of(caps);
    }

    /** Returns whether entries of receives name their source. */
    boolean reportsSource() {
        return (caps & Flags.SOURCE) != 0;
    }

    /**
     * Returns whether a message of a source that is not in the address vector gets an error entry; its data arrive all
     * the same.
     */
    boolean reportsUnknownSource() {
        return reportsSource() && (caps & Flags.SOURCE_ERR) != 0;
    }
}
