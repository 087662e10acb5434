package org.jfabric.ffi;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;

/**
 * A function of a C library, linked so that errno is stored in {@link CallState} for callers that report failures.
 *
 * <p>All arguments and the result are passed as 64 bits, whatever the C declaration has: both supported machines pass
 * integers and pointers in whole registers, a callee reads only the part of its declared type, and the caller narrows
 * the result ({@link CallState#intResult}). So functions that are linked alike and have equally many arguments are of
 * one shape. That matters, because the linker generates about a dozen classes for each shape when a process starts.
 *
 * <p>The linker makes a slice of the memory for errno at each call. Only where the compiler inlines the whole call no
 * object is allocated. Functions that a running fabric calls repeatedly are {@link QuickDowncall}s.
 *
 * <p>A record, because the compiler takes the fields of records in constants for constants too, so that a call through
 * a constant of this type is a direct one. Any thread may call.
 *
 * @param handle takes the memory for errno and the arguments.
 */
public record Downcall(MethodHandle handle) {
    private static final Linker LINKER = Linker.nativeLinker();
    private static final Linker.Option CAPTURE_ERRNO = Linker.Option.captureCallState("errno");

    /**
     * Links a function of the C library with a fixed argument list.
     *
     * @param arguments number of arguments; integers and pointers only.
     */
    static Downcall of(String name, int arguments) {
        return new Downcall(link(name, arguments, CAPTURE_ERRNO));
    }

    /** As {@link #of(String, int)}, a function of sockets: of the library that {@link SocketLibrary} says. */
    static Downcall ofSockets(String name, int arguments) {
        return new Downcall(link(SocketLibrary.find(name), arguments, CAPTURE_ERRNO));
    }

    /** Links a function of the C library that is variadic in C. */
    static Downcall variadic(String name, int fixedArguments, int arguments) {
        return new Downcall(link(name, arguments, CAPTURE_ERRNO, Linker.Option.firstVariadicArg(fixedArguments)));
    }

    /**
     * Links a function of another library.
     *
     * @param arguments number of arguments; integers and pointers only.
     * @throws UnsatisfiedLinkError with the name, if the library does not have it.
     */
    @SuppressWarnings("restricted")
    public static Downcall of(SymbolLookup library, String name, int arguments) {
        MemorySegment symbol = library.find(name).orElseThrow(() -> new UnsatisfiedLinkError(name));
        return new Downcall(LINKER.downcallHandle(symbol, shape(arguments), CAPTURE_ERRNO));
    }

    /**
     * A handle for functions of one shape whose address is its first argument; for calls that never block, and whose
     * errno is not needed.
     */
    @SuppressWarnings("restricted")
    public static MethodHandle unbound(int arguments) {
        return LINKER.downcallHandle(shape(arguments), Linker.Option.critical(false));
    }

    /** Links a function of the C library; the handle takes the memory for the options and the arguments. */
    static MethodHandle link(String name, int arguments, Linker.Option... options) {
        return link(LINKER.defaultLookup().find(name).orElseThrow(() -> missing(name)), arguments, options);
    }

    @SuppressWarnings("restricted")
    static MethodHandle link(MemorySegment symbol, int arguments, Linker.Option... options) {
        return LINKER.downcallHandle(symbol, shape(arguments), options);
    }

    static UnsatisfiedLinkError missing(String name) {
        return new UnsatisfiedLinkError("the C library of this system has no function '" + name
            + "': Linux with glibc 2.28 or newer is needed");
    }

    private static FunctionDescriptor shape(int arguments) {
        ValueLayout[] layouts = new ValueLayout[arguments];
        Arrays.fill(layouts, ValueLayout.JAVA_LONG);
        return FunctionDescriptor.of(ValueLayout.JAVA_LONG, layouts);
    }

    /**
     * Converts the declared exceptions of a method handle into unchecked ones.
     *
     * @param thrown by a downcall: linking errors or programming errors, never a failed system call.
     * @return never; declared so that callers can write {@code throw unexpected(t)}.
     */
    public static RuntimeException unexpected(Throwable thrown) {
        if (thrown instanceof Error error) {
            throw error;
        }
        if (thrown instanceof RuntimeException runtime) {
            throw runtime;
        }
        throw new IllegalStateException("native call failed", thrown);
    }

    /** Calls the function. Returns the result of the function; of an {@code int} only the lower half is valid. */
    public long call(CallState state) {
        try {
            return (long) handle.invokeExact(state.capture);
        } catch (Throwable thrown) {
            throw unexpected(thrown);
        }
    }

    /** As {@link #call(CallState)}. */
    public long call(CallState state, long a) {
        try {
            return (long) handle.invokeExact(state.capture, a);
        } catch (Throwable thrown) {
            throw unexpected(thrown);
        }
    }

    /** As {@link #call(CallState)}. */
    public long call(CallState state, long a, long b) {
        try {
            return (long) handle.invokeExact(state.capture, a, b);
        } catch (Throwable thrown) {
            throw unexpected(thrown);
        }
    }

    /** As {@link #call(CallState)}. */
    public long call(CallState state, long a, long b, long c) {
        try {
            return (long) handle.invokeExact(state.capture, a, b, c);
        } catch (Throwable thrown) {
            throw unexpected(thrown);
        }
    }

    /** As {@link #call(CallState)}. */
    public long call(CallState state, long a, long b, long c, long d) {
        try {
            return (long) handle.invokeExact(state.capture, a, b, c, d);
        } catch (Throwable thrown) {
            throw unexpected(thrown);
        }
    }

    /** As {@link #call(CallState)}. */
    public long call(CallState state, long a, long b, long c, long d, long e) {
        try {
            return (long) handle.invokeExact(state.capture, a, b, c, d, e);
        } catch (Throwable thrown) {
            throw unexpected(thrown);
        }
    }

    /** As {@link #call(CallState)}. */
    long call(CallState state, long a, long b, long c, long d, long e, long f) {
        try {
            return (long) handle.invokeExact(state.capture, a, b, c, d, e, f);
        } catch (Throwable thrown) {
            throw unexpected(thrown);
        }
    }

    /** As {@link #call(CallState)}. */
    long call(CallState state, long a, long b, long c, long d, long e, long f, long g) {
        try {
            return (long) handle.invokeExact(state.capture, a, b, c, d, e, f, g);
        } catch (Throwable thrown) {
            throw unexpected(thrown);
        }
    }
}
