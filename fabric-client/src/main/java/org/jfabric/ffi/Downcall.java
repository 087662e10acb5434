package org.jfabric.ffi;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;

/**
 * A function of a C library, linked so that errno is kept in {@link CallState} for whom a failure needs a reason.
 *
 * <p>All arguments and the result are passed as 64 bits, whatever the C declaration has: both supported machines pass
 * integers and pointers in whole registers, a callee looks at the part that is its own, and what is returned is
 * narrowed by the caller ({@link CallState#intResult}). So functions that are linked alike and have equally many
 * arguments are of one shape, and that counts: the linker generates about a dozen classes for each when a process
 * starts.
 *
 * <p>The linker makes a slice of the memory for errno at each call, and only where the compiler inlines the whole call
 * it goes without an object. What a running fabric calls over and over is a {@link QuickDowncall}.
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
     * @param name      C name.
     * @param arguments number of arguments; integers and pointers only.
     */
    static Downcall of(String name, int arguments) {
        return new Downcall(link(name, arguments, CAPTURE_ERRNO));
    }

    /**
     * Links a function of the C library that is variadic in C.
     *
     * @param name           C name.
     * @param fixedArguments number of arguments in front of the variadic ones.
     * @param arguments      number of all arguments.
     */
    static Downcall variadic(String name, int fixedArguments, int arguments) {
        return new Downcall(link(name, arguments, CAPTURE_ERRNO, Linker.Option.firstVariadicArg(fixedArguments)));
    }

    /**
     * Links a function of another library.
     *
     * @param library   loaded.
     * @param name      C name.
     * @param arguments number of arguments; integers and pointers only.
     * @return the function.
     * @throws UnsatisfiedLinkError with the name, if the library does not have it.
     */
    @SuppressWarnings("restricted")
    public static Downcall of(SymbolLookup library, String name, int arguments) {
        MemorySegment symbol = library.find(name).orElseThrow(() -> new UnsatisfiedLinkError(name));
        return new Downcall(LINKER.downcallHandle(symbol, shape(arguments), CAPTURE_ERRNO));
    }

    /**
     * A handle for functions of one shape whose address is its first argument; for calls that never block, and whose
     * errno nobody asks for.
     *
     * @param arguments number of arguments besides.
     * @return a handle that takes a segment and longs.
     */
    @SuppressWarnings("restricted")
    public static MethodHandle unbound(int arguments) {
        return LINKER.downcallHandle(shape(arguments), Linker.Option.critical(false));
    }

    /** A function of the C library as a handle that takes what the options ask for and the arguments. */
    @SuppressWarnings("restricted")
    static MethodHandle link(String name, int arguments, Linker.Option... options) {
        MemorySegment symbol = LINKER.defaultLookup().find(name).orElseThrow(() -> new UnsatisfiedLinkError(
            "the C library of this system has no function '" + name + "': Linux with glibc 2.28 or newer is needed"));
        return LINKER.downcallHandle(symbol, shape(arguments), options);
    }

    private static FunctionDescriptor shape(int arguments) {
        ValueLayout[] layouts = new ValueLayout[arguments];
        Arrays.fill(layouts, ValueLayout.JAVA_LONG);
        return FunctionDescriptor.of(ValueLayout.JAVA_LONG, layouts);
    }

    /**
     * Turns what a method handle is declared to throw into something unchecked.
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

    /**
     * Calls the function.
     *
     * @param state of this thread.
     * @return what the function returned; of an {@code int} only the lower half means something.
     */
    public long call(CallState state) {
        try {
            return (long) handle.invokeExact(state.capture);
        } catch (Throwable thrown) {
            throw unexpected(thrown);
        }
    }

    /**
     * As {@link #call(CallState)}.
     *
     * @param state of this thread.
     * @param a     argument.
     * @return what the function returned.
     */
    public long call(CallState state, long a) {
        try {
            return (long) handle.invokeExact(state.capture, a);
        } catch (Throwable thrown) {
            throw unexpected(thrown);
        }
    }

    /**
     * As {@link #call(CallState)}.
     *
     * @param state of this thread.
     * @param a     argument.
     * @param b     argument.
     * @return what the function returned.
     */
    public long call(CallState state, long a, long b) {
        try {
            return (long) handle.invokeExact(state.capture, a, b);
        } catch (Throwable thrown) {
            throw unexpected(thrown);
        }
    }

    /**
     * As {@link #call(CallState)}.
     *
     * @param state of this thread.
     * @param a     argument.
     * @param b     argument.
     * @param c     argument.
     * @return what the function returned.
     */
    public long call(CallState state, long a, long b, long c) {
        try {
            return (long) handle.invokeExact(state.capture, a, b, c);
        } catch (Throwable thrown) {
            throw unexpected(thrown);
        }
    }

    /**
     * As {@link #call(CallState)}.
     *
     * @param state of this thread.
     * @param a     argument.
     * @param b     argument.
     * @param c     argument.
     * @param d     argument.
     * @return what the function returned.
     */
    public long call(CallState state, long a, long b, long c, long d) {
        try {
            return (long) handle.invokeExact(state.capture, a, b, c, d);
        } catch (Throwable thrown) {
            throw unexpected(thrown);
        }
    }

    /**
     * As {@link #call(CallState)}.
     *
     * @param state of this thread.
     * @param a     argument.
     * @param b     argument.
     * @param c     argument.
     * @param d     argument.
     * @param e     argument.
     * @return what the function returned.
     */
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
