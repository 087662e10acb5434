package org.jfabric.ffi;

import java.lang.foreign.Linker;
import java.lang.invoke.MethodHandle;

/**
 * A function of the C library whose errno is not needed: no call allocates, compiled or not. Arguments, result and
 * shapes are those of {@link Downcall}. Any thread may call.
 */
record QuickDowncall(MethodHandle handle) {
    /**
     * Links a function with a fixed argument list.
     *
     * @param arguments number of arguments; integers and pointers only.
     */
    static QuickDowncall of(String name, int arguments) {
        return new QuickDowncall(Downcall.link(name, arguments));
    }

    /** As {@link #of}, a function of sockets: of the library that {@link SocketLibrary} says. */
    static QuickDowncall ofSockets(String name, int arguments) {
        return new QuickDowncall(Downcall.link(SocketLibrary.find(name), arguments));
    }

    /** Links a function that is variadic in C. */
    static QuickDowncall variadic(String name, int fixedArguments, int arguments) {
        return new QuickDowncall(Downcall.link(name, arguments, Linker.Option.firstVariadicArg(fixedArguments)));
    }

    /** Calls the function and returns its result; of an {@code int} only the lower half is valid. */
    long call(long a, long b, long c) {
        try {
            return (long) handle.invokeExact(a, b, c);
        } catch (Throwable thrown) {
            throw Downcall.unexpected(thrown);
        }
    }

    /** As {@link #call(long, long, long)}. */
    long call(long a, long b, long c, long d) {
        try {
            return (long) handle.invokeExact(a, b, c, d);
        } catch (Throwable thrown) {
            throw Downcall.unexpected(thrown);
        }
    }

    /** As {@link #call(long, long, long)}. */
    long call(long a, long b, long c, long d, long e) {
        try {
            return (long) handle.invokeExact(a, b, c, d, e);
        } catch (Throwable thrown) {
            throw Downcall.unexpected(thrown);
        }
    }

    /** As {@link #call(long, long, long)}. */
    long call(long a, long b, long c, long d, long e, long f) {
        try {
            return (long) handle.invokeExact(a, b, c, d, e, f);
        } catch (Throwable thrown) {
            throw Downcall.unexpected(thrown);
        }
    }

    /** As {@link #call(long, long, long)}. */
    long call(long a, long b, long c, long d, long e, long f, long g) {
        try {
            return (long) handle.invokeExact(a, b, c, d, e, f, g);
        } catch (Throwable thrown) {
            throw Downcall.unexpected(thrown);
        }
    }
}
