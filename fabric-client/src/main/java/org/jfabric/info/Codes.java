package org.jfabric.info;

import java.util.Arrays;

/** Checks of arguments and texts of values that the types of JFabric share; not meant for applications. */
public final class Codes {
    private Codes() {
    }

    /**
     * The refusal of a code that no constant has. It is a method of its own so that its callers stay small.
     *
     * @param type  name of the enumeration.
     * @param code  the value seen.
     * @param known all constants.
     * @return the exception to throw, {@link FabricErrno#EINVAL}.
     */
    public static FabricException unknown(String type, int code, Enum<?>[] known) {
        return new FabricException(FabricErrno.EINVAL,
            type + " has no constant with code " + code + "; known are " + Arrays.toString(known),
            "Use one of them; if the code came from a newer peer or file, update this side.");
    }

    /**
     * Refuses null where libfabric has a value, so that the mistake shows where it is made.
     *
     * @param value may be null.
     * @param name  what the message calls it.
     * @param <T>   its type.
     * @return the value.
     * @throws FabricException {@link FabricErrno#EINVAL} if it is null.
     */
    public static <T> T required(T value, String name) {
        if (value == null) {
            throw new FabricException(FabricErrno.EINVAL, name + " is null, needed is a value",
                "Leave the member alone to keep its default.");
        }
        return value;
    }

    /**
     * The text of a word whose bits matter more than its magnitude.
     *
     * @param value any word.
     * @return hexadecimal with the prefix 0x.
     */
    public static String hex(long value) {
        return "0x" + Long.toHexString(value);
    }

    /**
     * The text of a key: its length only, since keys must not reach logs.
     *
     * @param key of an authorized domain or endpoint.
     * @return the text.
     */
    public static String describeKey(byte[] key) {
        return key.length + " bytes";
    }
}
