package org.jfabric.simulation.soak;

import java.util.ArrayList;
import java.util.List;
import org.jfabric.simulation.model.Receive;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;

/** A receive with what it asked for, and its entry. */
final class SoakReceive extends Receive {
    /** The endpoint that it was posted at. */
    int at;
    String call;
    boolean wantsEntry;
    /** Posted by the barrier itself. */
    boolean ofBarrier;
    int mustFailWith;
    SoakMemory.Slot slot;
    /** Where its buffer begins in the memory of its endpoint. */
    int offset;
    /** Bytes at the start of its buffer that take the end of a message; for calls that take pieces. */
    int turned;
    /** Flags of a call that looks at messages that wait; 0 for a receive. */
    long look;
    /** Receives and discards that were posted before; of a look that takes nothing. */
    int position;
    boolean cancelRequested;
    long cancelStep;
    /** Its entry was read, or the memory told that it has a message. */
    boolean ended;
    long endedStep = SoakMessage.NEVER;
    /** Null if it ended without an entry. */
    SoakEntry entry;
    SoakMessage message;

    /** Of a multi-receive buffer, in the order of their entries. */
    final List<SoakPart> parts = new ArrayList<>();
    /** Parts that the model has placed. */
    int judged;

    boolean isCancelled() {
        return entry != null && entry.errno() == FabricErrno.ECANCELED;
    }

    /** The call that reserved the message that this one fetches or drops. */
    SoakReceive claim;
    /** A call that fetches or drops what this one has reserved was accepted. */
    boolean settled;

    /** Is not posted until a message comes. */
    boolean isLook() {
        return look != 0;
    }

    boolean hasClaim() {
        return look == (Flags.PEEK | Flags.CLAIM) && tookMessage();
    }

    /** Has, or will have, a message; not of a buffer. */
    boolean tookMessage() {
        return mustFailWith == 0 && ended && !isCancelled() && !isBuffer;
    }

    /** Messages that it is known to have. */
    int taken() {
        return isBuffer ? parts.size() : tookMessage() ? 1 : 0;
    }

    /** Its end is always told. */
    boolean mustEnd() {
        return wantsEntry || isBuffer;
    }

    @Override
    public String toString() {
        return call + (isLook() ? " flags " + Long.toHexString(look) : "") + " #" + context + " at e" + at
            + (tagged ? " tag " + Long.toHexString(tag) + " ignore " + Long.toHexString(ignore) : "")
            + (source == ANY_SOURCE ? "" : " from e" + source) + " " + length
            + " bytes" + (wantsEntry ? "" : " silent") + (cancelRequested ? ", cancel asked" : "")
            + (ended ? ", ended " + (entry == null ? "silently" : entry.toString()) : ", open")
            + (message == null ? "" : " with #" + message.id)
            + (isBuffer ? ", least room " + minFree + ", with " + parts : "");
    }
}
