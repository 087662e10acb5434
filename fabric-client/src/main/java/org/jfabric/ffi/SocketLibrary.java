package org.jfabric.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * The library whose functions are called for sockets of TCP and UDP, and for waiting for them: the C library, or one
 * that was loaded in front of it by {@code LD_PRELOAD}, as a network stack in user space is. Java's linker asks the C
 * library alone, so that such a library would be passed by without a word. Files, memory and Unix sockets are the C
 * library's always.
 *
 * <p>There is one choice for a process, because the functions are linked once. Any thread.
 */
public final class SocketLibrary {
    /** A function that such a library has if it carries sockets at all. */
    private static final String PROBE = "socket";
    private static final Linker LINKER = Linker.nativeLinker();
    /** Pseudo-handle of all libraries, in the order in which the loader looks for a symbol. */
    private static final long RTLD_DEFAULT = 0;
    private static final long LONGEST_PATH = 4096;

    private static final MethodHandle DLSYM = Downcall.link("dlsym", 2);
    private static final MethodHandle DLADDR = Downcall.link("dladdr", 2);

    private static boolean isSettled;
    private static boolean isPreloaded;

    private SocketLibrary() {
    }

    /**
     * Chooses the library.
     *
     * @param wantsPreloaded whether to take one that was loaded in front of the C library if there is one.
     * @return whether it is taken: the library of sockets that were used before stays.
     */
    public static synchronized boolean choose(boolean wantsPreloaded) {
        boolean wanted = wantsPreloaded && preloaded() != null;
        if (!isSettled) {
            isSettled = true;
            isPreloaded = wanted;
        }
        return isPreloaded == wanted;
    }

    /** The path of the library that is called; null if it is the C library. */
    public static synchronized String path() {
        return takesPreloaded() ? preloaded() : null;
    }

    /** The path of a library that was loaded in front of the C library and has the functions of sockets, or null. */
    public static String preloaded() {
        MemorySegment found = global(PROBE);
        return found.address() == system(PROBE).address() ? null : pathOf(found);
    }

    /** A function of sockets. */
    static synchronized MemorySegment find(String name) {
        return takesPreloaded() ? global(name) : system(name);
    }

    private static boolean takesPreloaded() {
        if (!isSettled) {
            choose(true);
        }
        return isPreloaded;
    }

    private static MemorySegment system(String name) {
        return LINKER.defaultLookup().find(name).orElseThrow(() -> Downcall.missing(name));
    }

    private static MemorySegment global(String name) {
        try (Arena arena = Arena.ofConfined()) {
            long address = (long) DLSYM.invokeExact(RTLD_DEFAULT, arena.allocateFrom(name).address());
            if (address == 0) {
                throw Downcall.missing(name);
            }
            return MemorySegment.ofAddress(address);
        } catch (Throwable thrown) {
            throw Downcall.unexpected(thrown);
        }
    }

    /** Of the library that has a function. */
    @SuppressWarnings("restricted")
    private static String pathOf(MemorySegment function) {
        try (Arena arena = Arena.ofConfined()) {
            // Dl_info: the path is the first of four pointers
            MemorySegment info = arena.allocate(ValueLayout.ADDRESS, 4);
            long found = (long) DLADDR.invokeExact(function.address(), info.address());
            MemorySegment path = info.get(ValueLayout.ADDRESS, 0);
            return (int) found == 0 || path.address() == 0 ? "a library without a name"
                : path.reinterpret(LONGEST_PATH).getString(0);
        } catch (Throwable thrown) {
            throw Downcall.unexpected(thrown);
        }
    }

    /** Closes a descriptor of a socket of TCP or UDP, or one that waits for them: the library may have state of it. */
    public static void close(int fd) {
        Calls.close(fd);
    }

    /** Linked when it is used first. */
    private static final class Calls {
        private static final Downcall CLOSE = Downcall.ofSockets("close", 1);

        static void close(int fd) {
            CallState state = CallState.current();
            CLOSE.call(state, fd);
        }
    }
}
