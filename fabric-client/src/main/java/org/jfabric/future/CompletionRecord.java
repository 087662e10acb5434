package org.jfabric.future;

import org.jfabric.Completion;
import org.jfabric.info.FabricAddress;

/**
 * A success entry, copied out of the completion queue; it stays valid. Members as in {@link Completion}.
 *
 * <pre>{@code
 * transfers.trecv(address, 64, FabricAddress.ADDR_UNSPEC, 7, 0)
 *     .thenAccept(entry -> System.out.println(entry.len() + " bytes"));
 * }</pre>
 *
 * @param flags   completion flags.
 * @param len     bytes received; 0 for sends.
 * @param buf     where the message starts, for entries that have such a position, else 0.
 * @param data    CQ data of the peer, else 0.
 * @param tag     tag of a received tagged message, else 0.
 * @param srcAddr source of a received message, {@link FabricAddress#ADDR_NOTAVAIL} if unknown.
 */
public record CompletionRecord(long flags, long len, long buf, long data, long tag, long srcAddr) {
    static CompletionRecord of(Completion completion) {
        return new CompletionRecord(completion.flags(), completion.len(), completion.buf(), completion.data(),
            completion.tag(), completion.srcAddr());
    }
}
