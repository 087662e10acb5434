package org.jfabric.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Locale;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * The library whose functions are called for sockets of TCP and UDP, and for waiting for them: the C library, or one that
 * was loaded in front of it by {@code LD_PRELOAD}, as a network stack in user space is. Java's linker asks the C library
 * alone, so that such a library would be passed by without a word. Files, memory and Unix sockets are the C library's
 * always.
 *
 * <p>There is one choice for a process, because the functions are linked once. Any thread.
 */
public final class SocketLibrary {
    /** Which library is taken. */
    public enum Choice {
        /** One that was loaded in front of the C library if it has the functions of sockets, else the C library. */
        AUTO,
        /** The C library. */
        SYSTEM,
        /** One that was loaded in front of the C library. */
        PRELOADED
    }

    /** A function that such a library has if it carries sockets at all. */
    private static final String PROBE = "socket";
    private static final Linker LINKER = Linker.nativeLinker();
    /** Pseudo-handle of all libraries, in the order in which the loader looks for a symbol. */
    private static final long RTLD_DEFAULT = 0;
    private static final long LONGEST_PATH = 4096;

    private static final MethodHandle DLSYM = Downcall.link("dlsym", 2);
    private static final MethodHandle DLADDR = Downcall.link("dladdr", 2);

    /** Null before it is asked for or used. */
    private static Choice choice;

    private SocketLibrary() {
    }

    /**
     * Chooses the library, if no socket was used before.
     *
     * @throws FabricException {@link FabricErrno#ENOENT} if there is none of that kind, {@link FabricErrno#EBUSY} if this
     *     process has sockets of another one.
     */
    public static synchronized void choose(Choice wanted) {
        String path = preloaded();
        if (wanted == Choice.PRELOADED && path == null) {
            throw new FabricException(FabricErrno.ENOENT, "no library with the functions of sockets is loaded in front of"
                + " the C library", "Start the process with LD_PRELOAD=<library>, or choose auto.");
        }
        Choice settled = wanted == Choice.AUTO ? path == null ? Choice.SYSTEM : Choice.PRELOADED : wanted;
        if (choice != null && choice != settled) {
            throw new FabricException(FabricErrno.EBUSY, "this process has sockets of the "
                + choice.name().toLowerCase(Locale.ROOT) + " library, and not of the "
                + settled.name().toLowerCase(Locale.ROOT) + " one", "Choose the same for all drivers of a process.");
        }
        choice = settled;
    }

    /** The path of the library that is called; null if it is the C library. */
    public static synchronized String path() {
        return settled() == Choice.SYSTEM ? null : preloaded();
    }

    /** The path of a library that was loaded in front of the C library and has the functions of sockets, or null. */
    public static String preloaded() {
        MemorySegment found = global(PROBE);
        return found.equals(system(PROBE)) ? null : pathOf(found);
    }

    /** A function of sockets. */
    static synchronized MemorySegment find(String name) {
        return settled() == Choice.SYSTEM ? system(name) : global(name);
    }

    private static Choice settled() {
        if (choice == null) {
            choose(Choice.AUTO);
        }
        return choice;
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
