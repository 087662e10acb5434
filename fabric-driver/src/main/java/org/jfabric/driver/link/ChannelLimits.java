package org.jfabric.driver.link;

/**
 * What a channel can carry.
 *
 * @param eagerLimitBytes   longest payload of {@link Channel#send}.
 * @param segmentLimitBytes longest payload of {@link Channel#sendSegment}.
 * @param maxMessageBytes   longest message.
 * @param cqDataBytes       width of remote CQ data.
 * @param levels            completion levels that can be asked for, as {@code Flags.*_COMPLETE} bits.
 * @param messageOrder      ordering bits that hold on this channel.
 * @param isStream          the wire is a foreign one, without frames for credit and announcements: messages of every
 *                          length go by {@link Channel#send}, and the link tells by
 *                          {@link ChannelHandler#onWritable()} when it takes more, so that nobody asks before.
 */
public record ChannelLimits(
    int eagerLimitBytes,
    int segmentLimitBytes,
    long maxMessageBytes,
    int cqDataBytes,
    long levels,
    long messageOrder,
    boolean isStream) {
    /**
     * Limits of a channel that has frames of our own.
     *
     * @param eagerLimitBytes   as above.
     * @param segmentLimitBytes as above.
     * @param maxMessageBytes   as above.
     * @param cqDataBytes       as above.
     * @param levels            as above.
     * @param messageOrder      as above.
     */
    public ChannelLimits(
        int eagerLimitBytes,
        int segmentLimitBytes,
        long maxMessageBytes,
        int cqDataBytes,
        long levels,
        long messageOrder) {
        this(eagerLimitBytes, segmentLimitBytes, maxMessageBytes, cqDataBytes, levels, messageOrder, false);
    }
}
