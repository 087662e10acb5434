package org.jfabric.layout;

import java.security.SecureRandom;

/**
 * Random identity of a driver or of a log, 128 bits. Process ids are not used for identity: two containers can have the
 * same one.
 *
 * @param high upper 64 bits.
 * @param low  lower 64 bits.
 */
public record OwnerId(long high, long low) {
    /** A new random id. Returns an id that no other one has. */
    public static OwnerId random() {
        SecureRandom random = new SecureRandom();
        return new OwnerId(random.nextLong(), random.nextLong());
    }

    @Override
    public String toString() {
        return String.format("%016x%016x", high, low);
    }
}
