package org.jfabric.driver.resource;

/** A part of the way of a message whose time is sampled; docs/metrics.md says where each one begins and ends. */
public enum Stage {
    /** From the call that posts an operation until the driver takes it out of the endpoint's queue. */
    SUBMIT_TO_ENGINE("submit_to_engine"),
    /** From there until the link has taken the message. */
    ENGINE_TO_WIRE("engine_to_wire"),
    /** From there until the packet leaves this host, by the system's clock. */
    WIRE_TO_DEPARTURE("wire_to_departure"),
    /** From the write into the ring of link shm until the peer's driver takes it from the wire to match it. */
    WIRE_TO_MATCH("wire_to_match"),
    /** From the arrival of a packet at this host, by the system's clock, until the driver takes it to match it. */
    ARRIVAL_TO_MATCH("arrival_to_match"),
    /** From there until its receive has ended. */
    MATCH_TO_ENTRY("match_to_entry"),
    /** From the write of a completion entry until the application reads it. */
    ENTRY_TO_READ("entry_to_read");

    private final String label;

    Stage(String label) {
        this.label = label;
    }

    /** Name of the stage in metrics. */
    public String label() {
        return label;
    }
}
