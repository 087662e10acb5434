package org.jfabric.driver.model;

/** What matching looks at in a receive, as it was posted. */
public class Receive {
    /** Takes messages of every sender. */
    public static final int ANY_SOURCE = -1;

    /** Unique in a run and growing in posting order. */
    public long context;
    public boolean tagged;
    /** 0 if untagged, as {@link #ignore}. */
    public long tag;
    public long ignore;
    /** The only sender that it takes messages of, or {@link #ANY_SOURCE}. */
    public int source = ANY_SOURCE;
    /** Room in bytes. */
    public int length;

    /** The rule of the pages (TAG-001 to TAG-006). */
    public final boolean accepts(Message candidate) {
        return tagged == candidate.tagged
            && (!tagged || (tag & ~ignore) == (candidate.tag & ~ignore))
            && (source == ANY_SOURCE || source == candidate.from);
    }
}
