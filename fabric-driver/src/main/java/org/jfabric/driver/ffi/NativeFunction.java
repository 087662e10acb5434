package org.jfabric.driver.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;

/**
 * A function of the control path. Any thread may call.
 *
 * <p>All arguments and the result are passed as 64 bits, and the result is narrowed to what the C declaration has: the
 * supported machines pass integers and pointers in whole registers. So functions with equally many arguments are of
 * one shape, and that counts: the linker generates about a dozen classes for each when a process starts.
 */
final class NativeFunction {
    private static final Linker LINKER = Linker.nativeLinker();
    private static final Linker.Option CAPTURE = Linker.Option.captureCallState("errno");
    private static final long ERRNO_OFFSET = Linker.Option.captureStateLayout()
        .byteOffset(MemoryLayout.PathElement.groupElement("errno"));
    private static final ThreadLocal<MemorySegment> STATE =
        ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(Linker.Option.captureStateLayout()));

    private final MethodHandle handle;
    private final boolean isInt;

    private NativeFunction(MethodHandle handle, boolean isInt) {
        this.handle = handle;
        this.isInt = isInt;
    }

    /**
     * Binds a function that returns an {@code int}, or nothing; then what {@link #call} answers means nothing.
     *
     * @param lookup    its library.
     * @param name      C name.
     * @param arguments number of arguments, up to 5; integers and pointers only.
     * @throws UnsatisfiedLinkError if the library does not have it.
     */
    static NativeFunction ofInt(SymbolLookup lookup, String name, int arguments) {
        return new NativeFunction(link(lookup, name, arguments, CAPTURE), true);
    }

    /** The same for a function that returns a pointer. */
    static NativeFunction ofPointer(SymbolLookup lookup, String name, int arguments) {
        return new NativeFunction(link(lookup, name, arguments, CAPTURE), false);
    }

    /** The same as {@link #ofInt} for a function that is variadic in C, behind {@code fixed} arguments. */
    static NativeFunction ofVariadic(SymbolLookup lookup, String name, int fixed, int arguments) {
        return new NativeFunction(
            link(lookup, name, arguments, CAPTURE, Linker.Option.firstVariadicArg(fixed)), true);
    }

    @SuppressWarnings("restricted")
    private static MethodHandle link(SymbolLookup lookup, String name, int arguments, Linker.Option... options) {
        MemorySegment symbol = lookup.find(name).orElseThrow(() -> new UnsatisfiedLinkError(name));
        return LINKER.downcallHandle(symbol, shape(arguments), options);
    }

    private static FunctionDescriptor shape(int arguments) {
        ValueLayout[] layouts = new ValueLayout[arguments];
        Arrays.fill(layouts, ValueLayout.JAVA_LONG);
        return FunctionDescriptor.of(ValueLayout.JAVA_LONG, layouts);
    }

    /** A handle for functions of one shape whose address is its first argument; for calls that never block. */
    @SuppressWarnings("restricted")
    static MethodHandle unbound(int arguments) {
        return LINKER.downcallHandle(shape(arguments), Linker.Option.critical(false));
    }

    /** What it returns. */
    long call(long... arguments) {
        long result;
        try {
            result = call(STATE.get(), arguments);
        } catch (Throwable thrown) {
            throw unexpected(thrown);
        }
        return isInt ? (int) result : result;
    }

    private long call(MemorySegment state, long[] given) throws Throwable {
        return switch (given.length) {
            case 0 -> (long) handle.invokeExact(state);
            case 1 -> (long) handle.invokeExact(state, given[0]);
            case 2 -> (long) handle.invokeExact(state, given[0], given[1]);
            case 3 -> (long) handle.invokeExact(state, given[0], given[1], given[2]);
            case 4 -> (long) handle.invokeExact(state, given[0], given[1], given[2], given[3]);
            case 5 -> (long) handle.invokeExact(state, given[0], given[1], given[2], given[3], given[4]);
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
        int errno = STATE.get().get(ValueLayout.JAVA_INT, ERRNO_OFFSET);
        // a library that fails without saying why must not look like one that succeeds
        return errno == 0 ? NativeMemory.EIO : errno;
    }

    static RuntimeException unexpected(Throwable thrown) {
        if (thrown instanceof Error error) {
            throw error;
        }
        if (thrown instanceof RuntimeException runtime) {
            throw runtime;
        }
        throw new IllegalStateException("native call failed", thrown);
    }
}
