package org.jfabric.feed;

import java.security.SecureRandom;
import org.agrona.DirectBuffer;
import org.jfabric.CompletionHandler;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * Sends each message over all paths of a feed, so that a {@link FeedReceiver} gets it by the path that is faster, and
 * gets it although one of them has failed.
 *
 * <pre>{@code
 * FeedSender sender = FeedSender.over(1024, a, b);
 * int result = sender.send(quote, 0, quoteLength);
 * sender.poll(16);
 * }</pre>
 *
 * <p>No path is waited for: a path that is full does not get a message that another one takes, and counts it
 * ({@link FeedPath#skipped()}). That message is not redundant then. A failed send is counted at its path, and later
 * messages are tried there again.
 *
 * <p>Owner: one thread, which also polls.
 */
public final class FeedSender {
    private final Way[] ways;
    private final int[] results;
    private final int maxMessageBytes;
    private final long id = new SecureRandom().nextLong();
    private long sequence;

    /** A path with its slots. */
    private static final class Way {
        final FeedSlots slots;
        final CompletionHandler onSent;

        Way(FeedPath path, int maxMessageBytes) {
            FeedSlots all = new FeedSlots(path, maxMessageBytes, path.endpoint().info().txAttr().size());
            slots = all;
            onSent = entry -> all.end(entry.opContext());
        }

        int send(long sender, long sequence, DirectBuffer source, int offset, int length) {
            int slot = slots.next();
            if (slot < 0) {
                return -FabricErrno.EAGAIN;
            }
            int at = slots.offset(slot);
            FeedHeader.put(slots.buffer, at, sender, sequence);
            slots.buffer.putBytes(at + FeedHeader.LENGTH, source, offset, length);
            int result = slots.path.send(at, FeedHeader.LENGTH + length, slot);
            if (result == 0) {
                slots.use();
            }
            return result;
        }
    }

    private FeedSender(int maxMessageBytes, FeedPath[] paths) {
        FeedPath.require(paths);
        this.maxMessageBytes = maxMessageBytes;
        results = new int[paths.length];
        ways = new Way[paths.length];
        for (int i = 0; i < paths.length; i++) {
            ways[i] = new Way(paths[i], maxMessageBytes);
        }
    }

    /**
     * Makes a sender.
     *
     * @param maxMessageBytes length of the longest message, 0 or more.
     * @param paths           one or more, with destinations; usually two.
     * @return a sender with an id of its own.
     * @throws FabricException {@link FabricErrno#EINVAL} for no path, null, or messages that are too long for one;
     *     {@link FabricErrno#ENOBUFS} if the memory of a path is too short for one message.
     */
    public static FeedSender over(int maxMessageBytes, FeedPath... paths) {
        return new FeedSender(maxMessageBytes, paths);
    }

    /**
     * Sends a message over all paths that take it now.
     *
     * @param source of the message, which is copied.
     * @param offset of its first byte.
     * @param length bytes, 0 to the maximum that this sender was made for.
     * @return 0 if one path or more has taken it; {@code -FI_EAGAIN} if all are full: poll and try again;
     *     {@code -FI_EINVAL} for a length out of range; or another negative errno if no path takes it.
     */
    public int send(DirectBuffer source, int offset, int length) {
        if (length < 0 || length > maxMessageBytes) {
            return -FabricErrno.EINVAL;
        }
        int refusal = 0;
        int taken = 0;
        for (int i = 0; i < ways.length; i++) {
            int result = ways[i].send(id, sequence, source, offset, length);
            results[i] = result;
            if (result == 0) {
                taken++;
            } else if (refusal != -FabricErrno.EAGAIN) {
                refusal = result;
            }
        }
        if (taken == 0) {
            return refusal;
        }
        sequence++;
        for (int i = 0; i < ways.length; i++) {
            FeedPath path = ways[i].slots.path;
            if (results[i] == 0) {
                path.taken++;
            } else if (results[i] == -FabricErrno.EAGAIN) {
                path.skipped++;
            } else {
                path.failed(-results[i]);
            }
        }
        return 0;
    }

    /**
     * Reads entries of sends, which makes room for others. An embedded driver in mode INVOKER works meanwhile.
     *
     * @param limit entries of each path at most, 1 or more.
     * @return entries read.
     */
    public int poll(int limit) {
        int read = 0;
        for (Way way : ways) {
            read += way.slots.poll(way.onSent, limit);
        }
        return read;
    }

    /**
     * What receivers know this sender by.
     *
     * @return a random number.
     */
    public long id() {
        return id;
    }

    /**
     * Messages sent.
     *
     * @return the count, which is the sequence of the next one.
     */
    public long sent() {
        return sequence;
    }
}
