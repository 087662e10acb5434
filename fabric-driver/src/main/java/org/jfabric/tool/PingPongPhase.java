package org.jfabric.tool;

/** A pass of a ping-pong; the coordinator names it to both sides. */
public enum PingPongPhase {
    /** As the timed pass, until the compiler is done with it. */
    WARM,
    /** Contents are made and compared. */
    VERIFY,
    /** One clock around the whole pass. */
    TIMED,
    /** A clock around each round trip; warmed up by a short one whose findings are thrown away. */
    CLOCKED
}
