package org.jfabric.driver.link.udp;

import org.jfabric.driver.link.PieceList;
import org.jfabric.ffi.DatagramRun;
import org.jfabric.ffi.MessageVector;
import org.jfabric.info.FabricErrno;

/**
 * Sends runs of messages of one length to one peer as one message that the kernel cuts into datagrams. The receiver
 * gets the same datagrams as otherwise. A short run is not worth it: the kernel then does more for each call.
 *
 * <p>Owner: progress agent.
 */
final class UdpRuns {
    /** Messages of the shortest run that is sent as one. */
    static final int SHORTEST = 16;

    private final DatagramRun run = new DatagramRun(DatagramRun.MAX_DATAGRAMS * PieceList.MAX_PIECES);
    /** The kernel has refused runs of messages of this length: the network has shorter frames, or cannot do it. */
    private long refusedBytes = Long.MAX_VALUE;

    /**
     * Sends the run at the begin of a vector, if there is one.
     *
     * @param count  of them, {@link #SHORTEST} or more.
     * @return messages of the run; 0 if there is none, or the kernel has to get the messages one by one; a negative
     *     errno if it takes none now.
     */
    int send(int fd, MessageVector vector, int count) {
        long datagramBytes = bytes(vector, 0);
        if (vector.namePointer(SHORTEST - 1) != vector.namePointer(0)
            || datagramBytes == 0 || datagramBytes >= refusedBytes) {
            return 0;
        }
        int messages = gather(vector, Math.min(count, DatagramRun.MAX_DATAGRAMS), datagramBytes);
        if (messages < SHORTEST) {
            return 0;
        }
        int result = run.send(fd, (int) datagramBytes);
        if (result == -FabricErrno.EINVAL || result == -FabricErrno.EMSGSIZE || result == -FabricErrno.EIO) {
            refusedBytes = result == -FabricErrno.EIO ? 0 : datagramBytes;
            return 0;
        }
        return result == 0 ? messages : result;
    }

    /** Adds messages of one destination until one has another length; one that is shorter may be the last. */
    private int gather(MessageVector vector, int limit, long datagramBytes) {
        run.begin(vector.namePointer(0), vector.nameLength(0));
        long total = 0;
        for (int i = 0; i < limit; i++) {
            long bytes = bytes(vector, i);
            total += bytes;
            if (vector.namePointer(i) != vector.namePointer(0) || bytes == 0 || bytes > datagramBytes
                || total > DatagramRun.MAX_BYTES) {
                return i;
            }
            for (int piece = 0; piece < vector.pieceCount(i); piece++) {
                run.add(vector.pieceAddress(i, piece), vector.pieceLength(i, piece));
            }
            if (bytes < datagramBytes) {
                return i + 1;
            }
        }
        return limit;
    }

    private static long bytes(MessageVector vector, int index) {
        long bytes = 0;
        for (int piece = 0; piece < vector.pieceCount(index); piece++) {
            bytes += vector.pieceLength(index, piece);
        }
        return bytes;
    }
}
