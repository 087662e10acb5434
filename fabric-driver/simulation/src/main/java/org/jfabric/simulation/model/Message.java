package org.jfabric.simulation.model;

/** What matching looks at in a message, as its sender posted it. */
public class Message {
    /** Unique in a run and growing in posting order; it is also the context of the send. */
    public long id;
    /** The sending endpoint. */
    public int from;
    /** The receiving endpoint. */
    public int to;
    public boolean tagged;
    /** 0 if untagged. */
    public long tag;
    public int length;
    /** Where it begins in the receive that has taken it, in bytes. */
    public int place;
    /** Bytes of it that found room there. */
    public int placed;
}
