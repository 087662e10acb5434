package org.jfabric.client;

import java.lang.foreign.MemorySegment;

/** The reader of views, for a test beside their writer. */
public final class ViewCopy {
    private ViewCopy() {
    }

    /** One try; false if the driver was writing. */
    public static boolean take(MemorySegment file, byte[] copy) {
        return QueueWatch.copy(file, copy);
    }
}
