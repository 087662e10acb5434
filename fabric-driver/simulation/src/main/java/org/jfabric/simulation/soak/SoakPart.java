package org.jfabric.simulation.soak;

/** A message in a multi-receive buffer. */
final class SoakPart {
    /** Offset in the memory of its endpoint. */
    final int offset;
    final int length;
    /** Null if the buffer's messages have none. */
    final SoakEntry entry;
    /** Null until it is identified. */
    SoakMessage message;

    SoakPart(int offset, int length, SoakEntry entry) {
        this.offset = offset;
        this.length = length;
        this.entry = entry;
    }

    @Override
    public String toString() {
        return (message == null ? "?" : "#" + message.id) + " at " + offset + ' '
            + (entry == null ? length + " bytes silently" : entry.toString());
    }
}
