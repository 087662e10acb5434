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
}
