package org.jfabric.driver.conductor;

import org.jfabric.driver.engine.peer.AddressTable;

/** An address vector of a client. Owner: conductor; the table belongs to the progress thread. */
public final class AddressVectorResource {
    private final long id;
    private final AddressTable table = new AddressTable();
    private int bound;

    /**
     * An empty address vector.
     *
     * @param id its number.
     */
    public AddressVectorResource(long id) {
        this.id = id;
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
     * Its addresses.
     *
     * @return the table.
     */
    public AddressTable table() {
        return table;
    }

    /**
     * Endpoints that use it.
     *
     * @return how many; it cannot be closed while there are any.
     */
    public int bound() {
        return bound;
    }

    /** An endpoint uses it. */
    public void bind() {
        bound++;
    }

    /** An endpoint is gone. */
    public void unbind() {
        bound--;
    }
}
