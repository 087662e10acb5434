package org.jfabric.driver.link.tcp;

import java.io.IOException;

/**
 * A socket whose bytes are encrypted.
 *
 * <pre>
 *   handshake  TASK: the caller has {@link #runTask()} executed by another thread, then calls {@link #secure()} again
 *              WAITS, BLOCKED: as soon as the socket is readable, or writable
 * </pre>
 *
 * <p>Owner: as {@link TcpPort}; {@link #runTask()} by a resource thread, while no other method but {@link #close()} is
 * called.
 */
public abstract class SecurePort extends TcpPort {
    /** Results of {@link #secure()}: the handshake is done. */
    protected static final int SECURED = 0;
    /** It resumes when the socket is readable. */
    protected static final int WAITS = -1;
    /** It resumes when the socket is writable. */
    protected static final int BLOCKED = -2;
    /** It resumes when {@link #runTask()} was run. */
    protected static final int TASK = -3;
    /** What peers begin with that are not encrypted. */
    protected static final byte FIRST_PLAIN_BYTE = CmMessage.VERSION;

    /** Whether {@link #runTask()} is being run, or is about to be. */
    protected abstract boolean isTasking();

    /**
     * Takes the handshake as far as it goes now. Returns a constant, or a positive errno if {@link #violation()} ends
     * it.
     */
    protected abstract int secure();

    /** Runs the next slow step of the handshake: reads changed files and makes the engine, or computes. */
    protected abstract void runTask() throws IOException;

    /** The result of {@link #runTask()} has arrived. */
    protected abstract void onTaskDone();

    /** The fingerprint of the peer's certificate, once the handshake is done. */
    protected abstract String peerKey();

    /** The positive errno that belongs to {@link #violation()}. */
    protected abstract int violationErrno();

    /** The reason why this side ends the connection, which completes "peer ..."; null if there is none. */
    protected abstract String violation();

    /** Whether bytes wait for the caller of which no event of the socket reports. */
    protected abstract boolean hasUnread();

    /** Gives the buffers back if nothing waits in them. */
    protected abstract void relax();
}
