package org.jfabric.driver.kit;

/**
 * How much a test does: what every build can afford, or everything, {@code -Djfabric.test.all=true}. How often a race
 * or a leak must be given a chance is said where the counts stand.
 */
public final class Effort {
    /** Whether this run does everything. */
    public static final boolean ALL = Boolean.getBoolean("jfabric.test.all");

    private Effort() {
    }

    /** One of two counts. */
    public static int rounds(int usual, int all) {
        return ALL ? all : usual;
    }
}
