package org.jfabric.simulation.soak;

import org.jfabric.simulation.model.Message;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;

/** A message with what its sender asked for, and what became of it. */
final class SoakMessage extends Message {
    /** Not a step of this world yet. */
    static final long NEVER = Long.MAX_VALUE;

    String call;
    boolean inject;
    boolean hasData;
    long flags;
    /** Bytes at the start of its memory that are the end of its payload; for calls that take pieces. */
    int turned;
    boolean wantsEntry;
    /** What its entry must say although it was taken; 0 for a send that may succeed. */
    int mustFailWith;
    SoakMemory.Slot slot;
    long postedStep;
    boolean cancelRequested;
    boolean ended;
    int errno;
    /** The arrival at the receiver was before this step. */
    long arrivedBefore = NEVER;
    /** The receive whose entry, or whose memory, shows this message. */
    SoakReceive receivedBy;

    boolean isFenced() {
        return (flags & Flags.FENCE) != 0;
    }

    boolean isMatchComplete() {
        return (flags & Flags.MATCH_COMPLETE) != 0;
    }

    boolean isDeliveryComplete() {
        return (flags & (Flags.DELIVERY_COMPLETE | Flags.MATCH_COMPLETE)) != 0;
    }

    /** It cannot reach its receiver. */
    boolean isDropped() {
        return mustFailWith != 0 || ended && errno != 0;
    }

    /** Remote CQ data: it tells the receiver which message it is. */
    long data() {
        return hasData ? id : 0;
    }

    long kind() {
        return tagged ? Flags.TAGGED : Flags.MSG;
    }

    @Override
    public String toString() {
        return call + " #" + id + " e" + from + "->e" + to + (tagged ? " tag " + Long.toHexString(tag) : "") + " "
            + length + " bytes flags " + Long.toHexString(flags)
            + (wantsEntry ? "" : " silent") + (cancelRequested ? ", cancel asked" : "")
            + (ended ? errno == 0 ? ", ended" : ", " + FabricErrno.name(errno) : ", open")
            + (receivedBy == null ? "" : ", received by #" + receivedBy.context);
    }
}
