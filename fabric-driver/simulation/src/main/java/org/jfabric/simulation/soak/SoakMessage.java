package org.jfabric.simulation.soak;

import org.jfabric.simulation.model.Message;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;

/** A message: what its sender asked for, and what is known of its delivery. */
final class SoakMessage extends Message {
    /** After all steps. */
    static final long NEVER = Long.MAX_VALUE;

    String call;
    boolean inject;
    boolean hasData;
    long flags;
    /** By how many bytes the payload is rotated in its memory; for calls that take pieces. */
    int rotation;
    boolean wantsEntry;
    /** The errno that its entry must have; 0 if it may succeed. */
    int mustFailWith;
    SoakMemory.Slot slot;
    long postedStep;
    boolean cancelRequested;
    boolean ended;
    int errno;
    /** It has arrived at the receiver before this step. */
    long arrivedBefore = NEVER;
    /** The receive that has matched it, once that is known. */
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

    /** It will not arrive. */
    boolean isDropped() {
        return mustFailWith != 0 || ended && errno != 0;
    }

    /** Its remote CQ data, which identifies it. */
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
