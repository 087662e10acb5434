package org.jfabric.driver.engine;

/**
 * What an endpoint was enabled with, after all checks.
 *
 * @param id              the endpoint's number in its driver.
 * @param name            its name within the driver.
 * @param address         its full address.
 * @param context         context given at open, reported where an operation has none (AMB-11).
 * @param txSize          sends outstanding at most.
 * @param rxSize          receives outstanding at most.
 * @param injectSizeBytes longest injected payload.
 * @param maxMessageBytes longest message.
 * @param directedReceive whether a receive's source counts (FI_DIRECTED_RECV).
 * @param eagerLimitBytes longest payload that is sent at once; 0 to 65536.
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
    boolean directedReceive,
    int eagerLimitBytes) {
}
