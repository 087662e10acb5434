package org.jfabric.simulation.soak;

/** A message in a multi-receive buffer, as its entry or the memory shows it. */
final class SoakPart {
    /** Where it begins in the memory of its endpoint. */
    final int offset;
    final int length;
    /** Null if it has none. */
    final SoakEntry entry;
    /** Null until it is known which one it is. */
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
