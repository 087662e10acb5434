package org.jfabric.simulation.soak;

import java.util.ArrayList;
import java.util.List;
import org.jfabric.simulation.model.Receive;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;

/** A receive, a peek, or the end of a claim: what was asked for, and its entry. */
final class SoakReceive extends Receive {
    /** Index of its endpoint. */
    int at;
    String call;
    boolean wantsEntry;
    /** Posted by the barrier. */
    boolean ofBarrier;
    int mustFailWith;
    SoakMemory.Slot slot;
    /** Offset of its buffer in the memory of its endpoint. */
    int offset;
    /** By how many bytes the message is rotated in the buffer; for calls that take pieces. */
    int rotation;
    /** Flags of a peek or of the end of a claim; 0 for a receive. */
    long peekFlags;
    /** Of a peek without discard or claim: how many receives were posted before. */
    int position;
    boolean cancelRequested;
    long cancelStep;
    /** Its entry was read, or its message was found in memory. */
    boolean ended;
    long endedStep = SoakMessage.NEVER;
    /** Null until it has ended, or if it ended without an entry. */
    SoakEntry entry;
    SoakMessage message;

    /** Messages of a multi-receive buffer, in the order of their entries. */
    final List<SoakPart> parts = new ArrayList<>();
    /** Parts that the model has placed during the replay. */
    int replayed;

    boolean isCancelled() {
        return entry != null && entry.errno() == FabricErrno.ECANCELED;
    }

    /** The claim whose message this call receives or discards. */
    SoakReceive claim;
    /** A call that receives or discards the claimed message was accepted. */
    boolean claimEnded;

    /** Ends at once, with or without a message. */
    boolean isPeek() {
        return peekFlags != 0;
    }

    boolean hasClaim() {
        return peekFlags == (Flags.PEEK | Flags.CLAIM) && hasMessage();
    }

    /** Whether it has ended with a message; false for buffers. */
    boolean hasMessage() {
        return mustFailWith == 0 && ended && !isCancelled() && !isBuffer;
    }

    /** The number of messages that it is known to have. */
    int messageCount() {
        return isBuffer ? parts.size() : hasMessage() ? 1 : 0;
    }

    /** Whether it has an entry in any case. */
    boolean mustHaveEntry() {
        return wantsEntry || isBuffer;
    }

    @Override
    public String toString() {
        return call + (isPeek() ? " flags " + Long.toHexString(peekFlags) : "") + " #" + context + " at e" + at
            + (tagged ? " tag " + Long.toHexString(tag) + " ignore " + Long.toHexString(ignore) : "")
            + (source == ANY_SOURCE ? "" : " from e" + source) + " " + length
            + " bytes" + (wantsEntry ? "" : " silent") + (cancelRequested ? ", cancel asked" : "")
            + (ended ? ", ended " + (entry == null ? "silently" : entry.toString()) : ", open")
            + (message == null ? "" : " with #" + message.id)
            + (isBuffer ? ", least room " + minFree + ", with " + parts : "");
    }
}
