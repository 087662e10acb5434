package org.jfabric.driver.ffi;

import org.jfabric.ffi.CallState;
import org.jfabric.ffi.Downcall;

import java.lang.foreign.SymbolLookup;

/**
 * A function of the control path and the meaning of its result. Any thread may call.
 */
final class NativeFunction {
    private final Downcall function;
    private final boolean isInt;

    private NativeFunction(Downcall function, boolean isInt) {
        this.function = function;
        this.isInt = isInt;
    }

    /**
     * Binds a function that returns an {@code int}, or nothing; in the latter case the result of {@link #call} is
     * undefined.
     *
     * @param arguments number of arguments, up to 5; integers and pointers only.
     * @throws UnsatisfiedLinkError if the library does not have it.
     */
    static NativeFunction ofInt(SymbolLookup library, String name, int arguments) {
        return new NativeFunction(Downcall.of(library, name, arguments), true);
    }

    /** The same for a function that returns a pointer. */
    static NativeFunction ofPointer(SymbolLookup library, String name, int arguments) {
        return new NativeFunction(Downcall.of(library, name, arguments), false);
    }

    long call(long... arguments) {
        long result = call(CallState.current(), arguments);
        return isInt ? (int) result : result;
    }

    private long call(CallState state, long[] given) {
        return switch (given.length) {
            case 0 -> function.call(state);
            case 1 -> function.call(state, given[0]);
            case 2 -> function.call(state, given[0], given[1]);
            case 3 -> function.call(state, given[0], given[1], given[2]);
            case 4 -> function.call(state, given[0], given[1], given[2], given[3]);
            case 5 -> function.call(state, given[0], given[1], given[2], given[3], given[4]);
            default -> throw new IllegalArgumentException(given.length + " arguments, at most 5 are linked");
        };
    }

    /** For functions that return a pointer, or null and errno. */
    long pointer(long... arguments) {
        long result = call(arguments);
        return result == 0 ? -errno() : result;
    }

    /** For functions that return 0, or -1 and errno. */
    int status(long... arguments) {
        return call(arguments) < 0 ? -errno() : 0;
    }

    /** For functions that return 0 or an errno. */
    int errnoStatus(long... arguments) {
        int result = (int) call(arguments);
        return result > 0 ? -result : result < 0 ? -errno() : 0;
    }

    /** For functions that return a text; it is the library's. */
    String text(long... arguments) {
        return NativeMemory.text(call(arguments));
    }

    private static int errno() {
        int errno = CallState.current().errno();
        // a library that fails without an errno must not appear as one that succeeds
        return errno == 0 ? NativeMemory.EIO : errno;
    }
}
