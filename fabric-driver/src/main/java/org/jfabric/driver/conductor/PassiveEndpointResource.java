package org.jfabric.driver.conductor;

import org.jfabric.driver.engine.EnginePassiveEndpoint;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.FabricName;

import java.util.List;

/** A passive endpoint of a client. Owner: conductor; what listens belongs to the progress thread. */
public final class PassiveEndpointResource {
    private final long id;
    private final List<String> linkNames;
    private final byte[] authKey;
    private String name;
    private boolean listens;
    private boolean isBeingTaken;
    private EnginePassiveEndpoint endpoint;
    private BoundAddress bound;

    /**
     * A passive endpoint that does not listen.
     *
     * @param id        its number.
     * @param name      taken for it.
     * @param linkNames names of the links that it will listen at.
     * @param authKey   that requests must show, empty for none.
     */
    public PassiveEndpointResource(long id, String name, List<String> linkNames, byte[] authKey) {
        this.id = id;
        this.name = name;
        this.linkNames = linkNames;
        this.authKey = authKey;
    }

    /**
     * Its number.
     *
     * @return from 1.
     */
    public long id() {
        return id;
    }

    /**
     * Its name within the driver: nobody else has it.
     *
     * @return last part of its address, or all of it where {@link #bound()} gave it; null once an active endpoint has
     *     taken it over.
     */
    public String name() {
        return name;
    }

    /**
     * Gives it another name, or none.
     *
     * @param newName taken for it, or null.
     */
    public void name(String newName) {
        name = newName;
    }

    /**
     * Links that it listens at.
     *
     * @return their names.
     */
    public List<String> linkNames() {
        return linkNames;
    }

    /**
     * What requests must show.
     *
     * @return the key, empty for none.
     */
    public byte[] authKey() {
        return authKey;
    }

    /**
     * What the operating system gave it as address, over links that use such addresses.
     *
     * @return null over others.
     */
    public BoundAddress bound() {
        return bound;
    }

    /**
     * Gives it an address of the operating system.
     *
     * @param newBound bound for it; null once an active endpoint has taken it over.
     */
    public void bound(BoundAddress newBound) {
        bound = newBound;
    }

    /** Gives an address of the operating system back, also if it never listened; progress thread only. */
    public void closeBound() {
        if (bound != null) {
            bound.close();
        }
    }

    /**
     * The address under which peers connect.
     *
     * @param driverName of this driver.
     * @return its name within the driver, or that of its socket.
     */
    public String address(String driverName) {
        return bound != null ? bound.address() : FabricName.of(driverName, name);
    }

    /**
     * Whether an active endpoint that is being enabled will have its address.
     *
     * @return true until that has ended, one way or the other.
     */
    public boolean isBeingTaken() {
        return isBeingTaken;
    }

    /**
     * Says whether its address is being taken over.
     *
     * @param now as {@link #isBeingTaken()}.
     */
    public void beingTaken(boolean now) {
        isBeingTaken = now;
    }

    /**
     * Whether it listens, or is about to.
     *
     * @return false before it was asked to, and after that has failed.
     */
    public boolean listens() {
        return listens;
    }

    /**
     * Says whether it listens.
     *
     * @param now as {@link #listens()}.
     */
    public void listens(boolean now) {
        listens = now;
    }

    /**
     * The engine's part; progress thread only.
     *
     * @return null before it listens.
     */
    public EnginePassiveEndpoint endpoint() {
        return endpoint;
    }

    /**
     * Sets the engine's part; progress thread only.
     *
     * @param newEndpoint that listens, or null.
     */
    public void endpoint(EnginePassiveEndpoint newEndpoint) {
        endpoint = newEndpoint;
    }
}
