package org.jfabric.tool;

/** A pass of a ping-pong; the coordinator names it to both sides. */
public enum PingPongPhase {
    /** The loop of the timed pass, until the compiler has compiled it. */
    WARM,
    /** Contents are made and compared. */
    VERIFY,
    /** One clock around the whole pass. */
    TIMED,
    /** A clock around each round trip; a short pass, whose results are dropped, warms it up. */
    CLOCKED
}
