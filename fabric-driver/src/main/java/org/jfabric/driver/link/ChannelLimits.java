package org.jfabric.driver.link;

/**
 * The limits of a channel.
 *
 * @param eagerLimitBytes   longest payload of {@link Channel#send}.
 * @param segmentLimitBytes longest payload of {@link SegmentChannel#sendSegment}; 0 for other channels.
 * @param maxMessageBytes   longest message; a channel without frames sends every message by {@link Channel#send}.
 * @param levels            completion levels that can be asked for, as {@code Flags.*_COMPLETE} bits.
 */
public record ChannelLimits(
    int eagerLimitBytes,
    int segmentLimitBytes,
    long maxMessageBytes,
    int cqDataBytes,
    long levels,
    long messageOrder) {
}
