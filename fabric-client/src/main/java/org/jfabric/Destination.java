package org.jfabric;

import org.jfabric.info.Codes;

/**
 * A peer that messages can be sent to: its number in an address vector (fi_addr_t), with its address for people. The
 * calls that take a {@code long} take {@link #number()}; those that take this class make the same request.
 *
 * <pre>{@code
 * Destination desk = messenger.peer("jfabric://desk/orders");
 * endpoint.tsend(memory.slice(0, 64), desk, 7, 1);
 * }</pre>
 *
 * <p>Immutable; any thread.
 *
 * @param number in the address vector, as {@link AddressVector#insert(String)} returns it.
 * @param name   the address that was inserted, for example {@code jfabric://desk/orders}; not null.
 */
public record Destination(long number, String name) {
    /**
     * Checks the name.
     *
     * @throws org.jfabric.info.FabricException {@code FI_EINVAL} if it is null.
     */
    public Destination {
        Codes.required(name, "name");
    }

    @Override
    public String toString() {
        return name;
    }
}
