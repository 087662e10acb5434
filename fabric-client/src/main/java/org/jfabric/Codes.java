package org.jfabric;

import java.util.Arrays;

/** What the enumerations of this package share. */
final class Codes {
    private Codes() {
    }

    /** The refusal of a code that no constant has; kept out of line so that look-ups stay small. */
    static FabricException unknown(String type, int code, Enum<?>[] known) {
        return new FabricException(FabricErrno.EINVAL,
            type + " has no constant with code " + code + "; known are " + Arrays.toString(known),
            "Use one of them; if the code came from a newer peer or file, update this side.");
    }

    /** Refuses null where libfabric has a value, so that the mistake shows where it is made. */
    static <T> T required(T value, String name) {
        if (value == null) {
            throw new FabricException(FabricErrno.EINVAL, name + " is null, needed is a value",
                "Leave the member alone to keep its default.");
        }
        return value;
    }

    /** A word whose bits matter more than its magnitude. */
    static String hex(long value) {
        return "0x" + Long.toHexString(value);
    }

    /** Length only: keys must not reach logs. */
    static String describeKey(byte[] key) {
        return key.length + " bytes";
    }
}
