package org.jfabric.ffi;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * Links functions of the C library.
 *
 * <p>A handle that captures errno takes the memory for it as its first argument. The linker makes a slice of that
 * memory for each call, and only where the compiler inlines the whole call it goes without an object. What a running
 * fabric calls over and over, and where a failure needs no reason, is linked without.
 *
 * <p>Pointers are passed as 64-bit integers, so that a call with a plain address needs no object.
 */
final class Downcalls {
    /** C {@code int} and {@code unsigned int}. */
    static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    /** C {@code long}, {@code size_t}, {@code off_t} and every pointer: 64 bits on both supported machines. */
    static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    private static final Linker LINKER = Linker.nativeLinker();
    private static final Linker.Option CAPTURE_ERRNO = Linker.Option.captureCallState("errno");

    private Downcalls() {
    }

    /**
     * Links a function with a fixed argument list.
     *
     * @param name C name.
     * @param result layout of the result.
     * @param arguments layouts of the arguments.
     * @return handle whose first argument is {@link CallState#capture}.
     */
    @SuppressWarnings("restricted")
    static MethodHandle downcall(String name, MemoryLayout result, MemoryLayout... arguments) {
        return LINKER.downcallHandle(symbol(name), FunctionDescriptor.of(result, arguments), CAPTURE_ERRNO);
    }

    /**
     * Links a function that is variadic in C.
     *
     * @param name C name.
     * @param fixedArguments number of arguments in front of the variadic ones.
     * @param result layout of the result.
     * @param arguments layouts of all arguments.
     * @return handle whose first argument is {@link CallState#capture}.
     */
    @SuppressWarnings("restricted")
    static MethodHandle variadicDowncall(
        String name, int fixedArguments, MemoryLayout result, MemoryLayout... arguments) {
        FunctionDescriptor descriptor = FunctionDescriptor.of(result, arguments);
        return LINKER.downcallHandle(
            symbol(name), descriptor, CAPTURE_ERRNO, Linker.Option.firstVariadicArg(fixedArguments));
    }

    /**
     * Links a function with a fixed argument list whose errno nobody asks for.
     *
     * @param name C name.
     * @param result layout of the result.
     * @param arguments layouts of the arguments.
     * @return handle with just these arguments; no call allocates, compiled or not.
     */
    @SuppressWarnings("restricted")
    static MethodHandle withoutErrno(String name, MemoryLayout result, MemoryLayout... arguments) {
        return LINKER.downcallHandle(symbol(name), FunctionDescriptor.of(result, arguments));
    }

    /**
     * Links a function that is variadic in C and whose errno nobody asks for.
     *
     * @param name C name.
     * @param fixedArguments number of arguments in front of the variadic ones.
     * @param result layout of the result.
     * @param arguments layouts of all arguments.
     * @return as for {@link #withoutErrno}.
     */
    @SuppressWarnings("restricted")
    static MethodHandle variadicWithoutErrno(
        String name, int fixedArguments, MemoryLayout result, MemoryLayout... arguments) {
        return LINKER.downcallHandle(symbol(name), FunctionDescriptor.of(result, arguments),
            Linker.Option.firstVariadicArg(fixedArguments));
    }

    /**
     * Turns what a method handle is declared to throw into something unchecked.
     *
     * @param thrown by a downcall: linking errors or programming errors, never a failed system call.
     * @return never; declared so that callers can write {@code throw unexpected(t)}.
     */
    static RuntimeException unexpected(Throwable thrown) {
        if (thrown instanceof Error error) {
            throw error;
        }
        if (thrown instanceof RuntimeException runtime) {
            throw runtime;
        }
        throw new IllegalStateException("native call failed", thrown);
    }

    private static MemorySegment symbol(String name) {
        return LINKER.defaultLookup().find(name).orElseThrow(() -> new UnsatisfiedLinkError(
            "the C library of this system has no function '" + name + "': Linux with glibc 2.28 or newer is needed"));
    }
}
