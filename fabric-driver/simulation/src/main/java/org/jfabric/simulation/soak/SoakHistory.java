package org.jfabric.simulation.soak;

/** The last operations, printed with the state that they have then. */
public final class SoakHistory {
    private static final int LENGTH = 120;

    private final Object[] events = new Object[LENGTH];
    private long count;

    public SoakHistory() {
    }

    public void add(Object event) {
        events[(int) (count++ % LENGTH)] = event;
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        for (long i = Math.max(0, count - LENGTH); i < count; i++) {
            text.append("  ").append(i).append(": ").append(events[(int) (i % LENGTH)]).append('\n');
        }
        return text.toString();
    }
}
