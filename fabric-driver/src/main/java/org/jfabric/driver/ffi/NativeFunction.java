package org.jfabric.driver.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A function of the control path: arguments and result are passed as 64-bit integers and narrowed to what the C
 * declaration has. Any thread may call.
 */
final class NativeFunction {
    /** C {@code int}. */
    static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    /** Every pointer, and {@code size_t}. */
    static final ValueLayout.OfLong POINTER = ValueLayout.JAVA_LONG;
    /** {@code uint16_t}. */
    static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT;
    /** {@code uint8_t}. */
    static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;

    private static final Linker LINKER = Linker.nativeLinker();
    private static final Linker.Option CAPTURE = Linker.Option.captureCallState("errno");
    private static final long ERRNO_OFFSET = Linker.Option.captureStateLayout()
        .byteOffset(MemoryLayout.PathElement.groupElement("errno"));
    private static final ThreadLocal<MemorySegment> STATE =
        ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(Linker.Option.captureStateLayout()));

    /** One handle for each shape, which takes the function's address: each costs classes that are made at start. */
    private static final Map<FunctionDescriptor, MethodHandle> SHAPES = new ConcurrentHashMap<>();

    private final MethodHandle handle;
    private final MemorySegment address;

    private NativeFunction(MethodHandle handle, MemorySegment address) {
        this.handle = handle;
        this.address = address;
    }

    /** Adapts {@code (address, capture, arguments...)} to {@code (address, capture, long[])} with a long as result. */
    private static MethodHandle adapt(MethodHandle handle, int arguments) {
        MethodType plain = MethodType.methodType(handle.type().returnType() == void.class ? void.class : long.class,
            MemorySegment.class, MemorySegment.class);
        for (int i = 0; i < arguments; i++) {
            plain = plain.appendParameterTypes(long.class);
        }
        MethodHandle cast = MethodHandles.explicitCastArguments(handle, plain);
        if (plain.returnType() == void.class) {
            cast = MethodHandles.filterReturnValue(cast, MethodHandles.zero(long.class));
        }
        return cast.asSpreader(2, long[].class, arguments);
    }

    /**
     * Binds a function that returns something.
     *
     * @param lookup    its library.
     * @param name      C name.
     * @param result    layout of the result.
     * @param arguments layouts of the arguments.
     * @throws UnsatisfiedLinkError if the library does not have it.
     */
    static NativeFunction of(SymbolLookup lookup, String name, MemoryLayout result, MemoryLayout... arguments) {
        return bind(lookup, name, FunctionDescriptor.of(result, arguments));
    }

    /** The same for a function that returns nothing; {@link #call} answers 0. */
    static NativeFunction ofVoid(SymbolLookup lookup, String name, MemoryLayout... arguments) {
        return bind(lookup, name, FunctionDescriptor.ofVoid(arguments));
    }

    /** The same for a function that is variadic in C, behind {@code fixed} arguments. */
    @SuppressWarnings("restricted")
    static NativeFunction ofVariadic(
        SymbolLookup lookup, String name, int fixed, MemoryLayout result, MemoryLayout... arguments) {
        MethodHandle handle = LINKER.downcallHandle(
            FunctionDescriptor.of(result, arguments), CAPTURE, Linker.Option.firstVariadicArg(fixed));
        return new NativeFunction(adapt(handle, arguments.length), symbol(lookup, name));
    }

    @SuppressWarnings("restricted")
    private static NativeFunction bind(SymbolLookup lookup, String name, FunctionDescriptor descriptor) {
        MethodHandle handle = SHAPES.computeIfAbsent(descriptor, shape ->
            adapt(LINKER.downcallHandle(shape, CAPTURE), shape.argumentLayouts().size()));
        return new NativeFunction(handle, symbol(lookup, name));
    }

    private static MemorySegment symbol(SymbolLookup lookup, String name) {
        return lookup.find(name).orElseThrow(() -> new UnsatisfiedLinkError(name));
    }

    /** A handle for functions of one shape whose address is its first argument; for calls that never block. */
    @SuppressWarnings("restricted")
    static MethodHandle unbound(FunctionDescriptor descriptor) {
        return LINKER.downcallHandle(descriptor, Linker.Option.critical(false));
    }

    /** What it returns. */
    long call(long... arguments) {
        try {
            return (long) handle.invokeExact(address, STATE.get(), arguments);
        } catch (Throwable thrown) {
            throw unexpected(thrown);
        }
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
