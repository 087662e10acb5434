package org.jfabric.client;

import org.jfabric.layout.OwnerId;

import java.nio.file.Path;

/**
 * The driver's identity and sizes as the client knows them after the hello, over the socket or in the same process.
 *
 * @param driverOwner       the driver's random identity, which stands in the header of every file.
 * @param maxBufferedLimit  greatest FI_OPT_BUFFERED_LIMIT, bytes.
 * @param cmDataSize        FI_OPT_CM_DATA_SIZE, bytes; 0 if no link of the driver connects endpoints.
 */
public record Attachment(
    Path directory,
    String driverName,
    OwnerId driverOwner,
    long clientId,
    long controlFile,
    int commandRingLength,
    int eventRingLength,
    int bufferedLimit,
    int maxBufferedLimit,
    int cmDataSize) {
}
