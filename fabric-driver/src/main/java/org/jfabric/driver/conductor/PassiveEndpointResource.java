package org.jfabric.driver.conductor;

import org.jfabric.driver.engine.EnginePassiveEndpoint;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.support.FabricName;

import java.util.List;

/** A passive endpoint of a client. Owner: conductor; the listening endpoint belongs to the progress thread. */
final class PassiveEndpointResource {
    private final long id;
    private final List<String> linkNames;
    private final byte[] authKey;
    private String name;
    private boolean listens;
    private int thread;
    private boolean isBeingTaken;
    private EnginePassiveEndpoint endpoint;
    private BoundAddress bound;

    /**
     * A passive endpoint that does not listen.
     *
     * @param authKey   key that requests must carry, empty for none.
     */
    PassiveEndpointResource(long id, String name, List<String> linkNames, byte[] authKey) {
        this.id = id;
        this.name = name;
        this.linkNames = linkNames;
        this.authKey = authKey;
    }

    /** Its number, from 1. */
    long id() {
        return id;
    }

    /** The progress thread that listens. */
    int thread() {
        return thread;
    }

    void thread(int newThread) {
        thread = newThread;
    }

    /**
     * Its name within the driver, which is unique. Returns the last part of its address, or all of it where {@link
     * #bound()} gave it; null once an active endpoint has taken it over.
     */
    String name() {
        return name;
    }

    /**
     * Sets another name, or none.
     *
     * @param newName taken for it, or null.
     */
    void name(String newName) {
        name = newName;
    }

    List<String> linkNames() {
        return linkNames;
    }

    /** The key that requests must carry. Returns the key, empty for none. */
    byte[] authKey() {
        return authKey;
    }

    /** Its address of the operating system, over links that use such addresses. Returns null over others. */
    BoundAddress bound() {
        return bound;
    }

    /**
     * Sets an address of the operating system.
     *
     * @param newBound bound for it; null once an active endpoint has taken it over.
     */
    void bound(BoundAddress newBound) {
        bound = newBound;
    }

    /** Releases its address of the operating system, even if it never listened; progress thread only. */
    void closeBound() {
        if (bound != null) {
            bound.close();
        }
    }

    /** The address under which peers connect. Returns its name within the driver, or that of its socket. */
    String address(String driverName) {
        return bound != null ? bound.address() : FabricName.of(driverName, name);
    }

    /** Whether an active endpoint that is being enabled takes over its address. */
    boolean isBeingTaken() {
        return isBeingTaken;
    }

    /**
     * Sets whether its address is being taken over.
     *
     * @param now as {@link #isBeingTaken()}.
     */
    void beingTaken(boolean now) {
        isBeingTaken = now;
    }

    /** Whether it listens, or is about to. */
    boolean listens() {
        return listens;
    }

    /**
     * Sets whether it listens.
     *
     * @param now as {@link #listens()}.
     */
    void listens(boolean now) {
        listens = now;
    }

    /** The engine's part; progress thread only. Returns null before it listens. */
    EnginePassiveEndpoint endpoint() {
        return endpoint;
    }

    /**
     * Sets the engine's part; progress thread only.
     *
     * @param newEndpoint that listens, or null.
     */
    void endpoint(EnginePassiveEndpoint newEndpoint) {
        endpoint = newEndpoint;
    }
}
