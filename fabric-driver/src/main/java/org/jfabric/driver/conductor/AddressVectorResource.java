package org.jfabric.driver.conductor;

import org.jfabric.AddressVectorType;
import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.Flags;
import org.jfabric.codec.control.OpenAddressVectorDecoder;
import org.jfabric.driver.engine.AddressTable;

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
     * Opens what a command asks for.
     *
     * @param id      its number.
     * @param decoder over private memory.
     * @return an empty address vector.
     * @throws FabricException {@code FI_EINVAL}, {@code FI_EBADFLAGS} or {@code FI_EOPNOTSUPP}.
     */
    static AddressVectorResource open(long id, OpenAddressVectorDecoder decoder) {
        AddressVectorType.of(decoder.avTypeRaw());
        // an event queue is the client's own business: asynchronous insertions are the same commands
        if ((decoder.flags() & ~Flags.EVENT) != 0) {
            throw new FabricException(FabricErrno.EBADFLAGS,
                "flags 0x" + Long.toHexString(decoder.flags()) + " of an address vector, known is FI_EVENT",
                "Open it without other flags.");
        }
        if (decoder.nameLength() != 0 || decoder.rxCtxBits() != 0) {
            throw new FabricException(FabricErrno.EOPNOTSUPP,
                "an address vector with a name or with " + decoder.rxCtxBits() + " receive context bits",
                "Open one without name and bits.");
        }
        return new AddressVectorResource(id);
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
