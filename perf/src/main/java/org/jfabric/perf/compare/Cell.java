package org.jfabric.perf.compare;

import java.util.Locale;

/** One thing to measure in each round. */
record Cell(String system, Pass pass, int sizeBytes) {
    @Override
    public String toString() {
        return system + ' ' + pass.name().toLowerCase(Locale.ROOT) + ' ' + sizeBytes;
    }
}
