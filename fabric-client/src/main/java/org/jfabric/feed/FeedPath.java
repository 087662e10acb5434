package org.jfabric.feed;

import org.jfabric.CompletionError;
import org.jfabric.CompletionQueue;
import org.jfabric.Destination;
import org.jfabric.Endpoint;
import org.jfabric.MemoryRegion;
import org.jfabric.Messenger;
import org.jfabric.info.Codes;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * One of the ways that a feed takes: an endpoint for untagged messages, datagrams or reliable ones, with the queue of
 * its entries, memory that is registered with it, and where a sender sends to. All of these belong to one feed.
 *
 * <pre>{@code
 * FeedPath a = FeedPath.of(messenger, messenger.peer("jfabric://beta/quotes"));
 * }</pre>
 *
 * <p>The counts are of this path alone. Owner: the thread that uses the feed.
 */
public final class FeedPath {
    private final Endpoint endpoint;
    private final CompletionQueue queue;
    private final MemoryRegion memory;
    private final long destination;
    private final CompletionError error = new CompletionError();
    long taken;
    long skipped;
    long firsts;
    long repeats;
    long unrecognized;
    long failures;
    private int lastErrno;

    private FeedPath(Endpoint endpoint, CompletionQueue queue, MemoryRegion memory, long destination) {
        this.endpoint = Codes.required(endpoint, "endpoint");
        this.queue = Codes.required(queue, "queue");
        this.memory = Codes.required(memory, "memory");
        this.destination = destination;
    }

    /**
     * A path of a sender.
     *
     * @param messenger   the objects of the path; closing them stays with the caller.
     * @param destination the receiver, or a group, as {@link Messenger#peer} answers it.
     * @return a new path.
     */
    public static FeedPath of(Messenger messenger, Destination destination) {
        return of(messenger.endpoint(), messenger.queue(), messenger.memory(), destination.number());
    }

    /**
     * A path of a receiver.
     *
     * @param messenger the objects of the path; closing them stays with the caller.
     * @return a new path.
     */
    public static FeedPath of(Messenger messenger) {
        return of(messenger.endpoint(), messenger.queue(), messenger.memory(), FabricAddress.ADDR_UNSPEC);
    }

    /**
     * A path of objects that were opened one by one.
     *
     * @param endpoint    enabled, with {@code FI_MSG}.
     * @param queue       with the entries of its sends and receives, and no others.
     * @param memory      of its domain.
     * @param destination the receiver, or a group; {@link FabricAddress#ADDR_UNSPEC} for a path of a receiver.
     * @return a new path.
     * @throws FabricException {@link FabricErrno#EINVAL} for null.
     */
    public static FeedPath of(Endpoint endpoint, CompletionQueue queue, MemoryRegion memory, long destination) {
        return new FeedPath(endpoint, queue, memory, destination);
    }

    /**
     * The endpoint.
     *
     * @return as given.
     */
    public Endpoint endpoint() {
        return endpoint;
    }

    /**
     * Messages that a sender's path has taken, or that have arrived on a receiver's path.
     *
     * @return the count.
     */
    public long taken() {
        return taken;
    }

    /**
     * Messages that this path of a sender did not take because it was full, while another path did.
     *
     * @return the count.
     */
    public long skipped() {
        return skipped;
    }

    /**
     * Messages that arrived on this path of a receiver first.
     *
     * @return the count.
     */
    public long firsts() {
        return firsts;
    }

    /**
     * Messages that arrived on this path of a receiver when another copy had arrived, or after they counted as lost.
     *
     * @return the count.
     */
    public long repeats() {
        return repeats;
    }

    /**
     * Messages that arrived on this path without the header of a feed.
     *
     * @return the count.
     */
    public long unrecognized() {
        return unrecognized;
    }

    /**
     * Operations on this path that have failed.
     *
     * @return the count.
     */
    public long failures() {
        return failures;
    }

    /**
     * Why the last operation has failed, or why no entries can be read.
     *
     * @return a positive errno of {@link FabricErrno}; 0 as long as nothing has failed.
     */
    public int lastErrno() {
        return lastErrno;
    }

    MemoryRegion memory() {
        return memory;
    }

    CompletionQueue queue() {
        return queue;
    }

    /** The entry that {@link #readFailure} has read last. */
    CompletionError error() {
        return error;
    }

    int send(long offset, int length, long context) {
        return endpoint.send(memory.address(offset), length, destination, context);
    }

    int receive(long offset, int length, long context) {
        return endpoint.recv(memory.address(offset), length, FabricAddress.ADDR_UNSPEC, context);
    }

    /** Reads the entry of an operation that has failed; false if there is none. */
    boolean readFailure() {
        boolean isRead = queue.readErr(error, 0) == 1;
        if (isRead) {
            failed(error.err());
        }
        return isRead;
    }

    void failed(int errno) {
        failures++;
        lastErrno = errno;
    }

    void unusable(int errno) {
        lastErrno = errno;
    }

    static void require(FeedPath[] paths) {
        if (Codes.required(paths, "paths").length == 0) {
            throw new FabricException(FabricErrno.EINVAL, "a feed without a path", "Give it one path or more.");
        }
        for (FeedPath path : paths) {
            Codes.required(path, "path");
        }
    }

    @Override
    public String toString() {
        return "FeedPath{" + endpoint + ", taken=" + taken + ", skipped=" + skipped + ", firsts=" + firsts
            + ", repeats=" + repeats + ", unrecognized=" + unrecognized + ", failures=" + failures + '}';
    }
}
