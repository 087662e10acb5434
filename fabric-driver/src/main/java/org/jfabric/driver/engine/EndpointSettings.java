package org.jfabric.driver.engine;

import org.jfabric.Flags;
import org.jfabric.driver.link.BoundAddress;

/**
 * What an endpoint was enabled with, after all checks.
 *
 * @param id              the endpoint's number in its driver.
 * @param name            its name within the driver.
 * @param address         its full address.
 * @param context         context given at open, reported where an operation has none.
 * @param txSize          sends outstanding at most.
 * @param rxSize          receives outstanding at most.
 * @param injectSizeBytes longest injected payload.
 * @param maxMessageBytes longest message.
 * @param caps            capabilities; those that change what the engine does have methods here.
 * @param eagerLimitBytes longest payload that is sent at once; 0 to 65536.
 * @param mayOverrun      whether the application keeps room in its completion queues by itself
 *                        (FI_RM_DISABLED).
 * @param authKey         only endpoints with the same key communicate; empty for none.
 * @param slab            where its messages go with mode FI_BUFFERED_RECV, or null.
 * @param connects        whether it has one peer by a connection (FI_EP_MSG) and not many by their addresses.
 * @param bound           what the operating system gave it as address, or null.
 * @param strictSends     whether entries of sends come in the order of posting (FI_ORDER_STRICT).
 * @param strictReceives  whether entries of one peer's messages come in the order of matching, whatever their lengths
 *                        are (FI_ORDER_STRICT).
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
    ReceiveSlab slab,
    boolean connects,
    BoundAddress bound,
    boolean strictSends,
    boolean strictReceives) {
    /**
     * Settings of a connectionless endpoint without buffered receives.
     *
     * @param id              as above.
     * @param name            as above.
     * @param address         as above.
     * @param context         as above.
     * @param txSize          as above.
     * @param rxSize          as above.
     * @param injectSizeBytes as above.
     * @param maxMessageBytes as above.
     * @param caps            as above.
     * @param eagerLimitBytes as above.
     * @param mayOverrun      as above.
     * @param authKey         as above.
     */
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
            mayOverrun, authKey, null, false, null, false, false);
    }

    /**
     * The same with memory for buffered receives.
     *
     * @param newSlab where messages go.
     * @return new settings.
     */
    public EndpointSettings with(ReceiveSlab newSlab) {
        return new EndpointSettings(
            id, name, address, context, txSize, rxSize, injectSizeBytes, maxMessageBytes, caps, eagerLimitBytes,
            mayOverrun, authKey, newSlab, connects, bound, strictSends, strictReceives);
    }

    /**
     * The same with an address of the operating system's.
     *
     * @param newBound the address.
     * @return new settings.
     */
    public EndpointSettings with(BoundAddress newBound) {
        return new EndpointSettings(
            id, name, newBound.address(), context, txSize, rxSize, injectSizeBytes, maxMessageBytes, caps,
            eagerLimitBytes, mayOverrun, authKey, slab, connects, newBound, strictSends, strictReceives);
    }

    /**
     * The same of a connection-oriented endpoint.
     *
     * @return new settings.
     */
    public EndpointSettings connectionOriented() {
        return new EndpointSettings(
            id, name, address, context, txSize, rxSize, injectSizeBytes, maxMessageBytes, caps, eagerLimitBytes,
            mayOverrun, authKey, slab, true, bound, strictSends, strictReceives);
    }

    /**
     * The same with another order of entries.
     *
     * @param sends    whether those of sends come in the order of posting.
     * @param receives whether those of one peer's messages come in the order of matching, whatever their lengths are.
     * @return new settings.
     */
    public EndpointSettings strict(boolean sends, boolean receives) {
        return new EndpointSettings(
            id, name, address, context, txSize, rxSize, injectSizeBytes, maxMessageBytes, caps, eagerLimitBytes,
            mayOverrun, authKey, slab, connects, bound, sends, receives);
    }

    /**
     * Whether a receive's source counts.
     *
     * @return true with FI_DIRECTED_RECV.
     */
    boolean directedReceive() {
        return (caps & Flags.DIRECTED_RECV) != 0;
    }

    /**
     * Whether one buffer may be posted for many messages.
     *
     * @return true with FI_MULTI_RECV.
     */
    public boolean multiReceive() {
        return (caps & Flags.MULTI_RECV) != 0;
    }

    /**
     * Whether entries of receives name their source.
     *
     * @return true with FI_SOURCE.
     */
    boolean reportsSource() {
        return (caps & Flags.SOURCE) != 0;
    }

    /**
     * Whether a message of a source that is not in the address vector gets an error entry; its data arrive all the
     * same.
     *
     * @return true with FI_SOURCE and FI_SOURCE_ERR.
     */
    boolean reportsUnknownSource() {
        return reportsSource() && (caps & Flags.SOURCE_ERR) != 0;
    }
}
