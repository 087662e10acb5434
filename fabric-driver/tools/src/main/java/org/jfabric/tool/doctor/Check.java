package org.jfabric.tool.doctor;

/** One condition of a host. */
interface Check {
    /** Examines the host; changes nothing. */
    Finding examine(Host host);
}
