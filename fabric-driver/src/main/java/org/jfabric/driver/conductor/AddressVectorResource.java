package org.jfabric.driver.conductor;

import org.jfabric.driver.engine.AddressTable;

import java.util.Arrays;

/** An address vector of a client. Owner: conductor; the table belongs to the progress thread. */
final class AddressVectorResource {
    private final long id;
    private final AddressTable[] tables;
    private int bound;

    /**
     * An empty address vector.
     *
     * @param rxCtxBits bits of a {@code fi_addr} that name a receive context.
     */
    AddressVectorResource(long id, int rxCtxBits, int threads) {
        this.id = id;
        this.tables = new AddressTable[threads];
        Arrays.setAll(tables, thread -> new AddressTable(rxCtxBits));
    }

    /** Its number, from 1. */
    long id() {
        return id;
    }

    AddressTable table(int thread) {
        return tables[thread];
    }

    /** The number of endpoints that use it. Returns a count; it cannot be closed until the count is 0. */
    int bound() {
        return bound;
    }

    /** An endpoint uses it. */
    void bind() {
        bound++;
    }

    /** An endpoint that used it is closed. */
    void unbind() {
        bound--;
    }
}
