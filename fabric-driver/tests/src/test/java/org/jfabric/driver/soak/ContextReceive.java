package org.jfabric.driver.soak;

import org.jfabric.driver.kit.FabricNode;
import org.jfabric.simulation.model.Receive;
import org.jfabric.info.FabricErrno;

/** A receive of a context, with its entry. */
final class ContextReceive extends Receive {
    /** Its place in the memory of the receiver. */
    final int slot;
    FabricNode.Entry entry;
    /** The message that it took, whole or not. */
    ContextScript.Sent message;

    ContextReceive(int slot) {
        this.slot = slot;
    }

    /** It was cancelled, or no message of its source can come any more. */
    boolean endedAlone() {
        return entry != null && message == null;
    }

    @Override
    public String toString() {
        return "receive " + context + (tagged ? " tag " + tag + " ignore " + ignore : " untagged")
            + (source == ANY_SOURCE ? "" : " from s" + source) + ' ' + length + " bytes"
            + (entry == null ? ", open" : entry.err() == 0 ? "" : ", " + FabricErrno.name(entry.err()))
            + (message == null ? "" : " with " + message);
    }
}
