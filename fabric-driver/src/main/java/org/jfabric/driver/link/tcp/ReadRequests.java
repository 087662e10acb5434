package org.jfabric.driver.link.tcp;

import org.jfabric.driver.link.PieceList;

/**
 * The reads of the peer's memory on one connection that are not answered yet, the oldest first. Answers carry no id and
 * arrive in the order of the requests.
 *
 * <p>The list grows to the largest number of reads that were outstanding at once. Owner: progress agent.
 */
final class ReadRequests {
    /** The destination of one read. */
    static final class Read {
        long operation;
        /** Whether it is an access of the engine; else the protocol above fetches a payload. */
        boolean isAccess;
        long address;
        PieceList pieces;
        long length;
    }

    private Read[] reads = {new Read(), new Read(), new Read(), new Read()};
    private int first;
    private int count;
    private long lengthBytes;

    ReadRequests() {
    }

    boolean isEmpty() {
        return count == 0;
    }

    /** Whether as many reads are outstanding as a JFabric peer keeps waiting. */
    boolean isFull() {
        return count >= ExposedMemory.MAX_WAITING;
    }

    long lengthBytes() {
        return lengthBytes;
    }

    Read oldest() {
        return reads[first];
    }

    void add(long operation, boolean isAccess, long address, PieceList pieces, long length) {
        if (count == reads.length) {
            grow();
        }
        Read read = reads[first + count & reads.length - 1];
        read.operation = operation;
        read.isAccess = isAccess;
        read.address = address;
        read.pieces = pieces;
        read.length = length;
        lengthBytes += length;
        count++;
    }

    void remove() {
        reads[first].pieces = null;
        lengthBytes -= reads[first].length;
        first = first + 1 & reads.length - 1;
        count--;
    }

    private void grow() {
        Read[] more = new Read[2 * count];
        for (int i = 0; i < more.length; i++) {
            more[i] = i < count ? reads[first + i & count - 1] : new Read();
        }
        reads = more;
        first = 0;
    }
}
