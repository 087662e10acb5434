package org.jfabric;

import org.jfabric.client.Attachment;
import org.jfabric.info.EndpointOption;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * The two limits of an endpoint with buffered receives: the largest message that is buffered whole, and how much of a
 * longer one is shown at least.
 *
 * <p>Owner: control calls, under the fabric's lock.
 */
final class BufferedOptions {
    /** Bytes shown of a longer message, unless set: enough for the header that decides whether it is wanted. */
    static final int DEFAULT_MIN = 64;

    private final int max;
    private int limit;
    private int min;

    /** The driver's default and its maximum. */
    BufferedOptions(Attachment driver) {
        this(driver.bufferedLimit(), driver.maxBufferedLimit());
    }

    /** The driver's default for the limit and its maximum, bytes. */
    BufferedOptions(int limit, int max) {
        this.limit = limit;
        this.max = max;
        this.min = Math.min(DEFAULT_MIN, max);
    }

    int limit() {
        return limit;
    }

    int min() {
        return min;
    }

    long get(EndpointOption option) {
        return option == EndpointOption.BUFFERED_LIMIT ? limit : min;
    }

    void set(EndpointOption option, long value, boolean enabled) {
        if (enabled) {
            throw new FabricException(FabricErrno.EOPBADSTATE, "option " + option + " of an endpoint that is enabled",
                "Set it before enabling: the slab is made then.");
        }
        boolean isLimit = option == EndpointOption.BUFFERED_LIMIT;
        long wanted = isLimit && value == FabricAddress.BUFFERED_LIMIT_MAX ? max : value;
        if (wanted < 0 || wanted > max) {
            throw new FabricException(FabricErrno.EMSGSIZE, "option " + option + " is "
                + Long.toUnsignedString(value) + " bytes, possible is 0 to " + max,
                "Use a smaller value, or raise the option jfabric.queue.slabLengthBytes of the driver.");
        }
        if (isLimit) {
            limit = (int) wanted;
        } else {
            min = (int) wanted;
        }
    }
}
