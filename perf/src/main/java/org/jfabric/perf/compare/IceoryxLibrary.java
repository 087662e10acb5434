package org.jfabric.perf.compare;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jfabric.tool.ToolException;

/**
 * The C binding of Eclipse iceoryx 2, Debian's {@code libiceoryx-binding-c2}. The calls of a message are linked so that
 * they cost no more than in C.
 */
@SuppressWarnings("restricted")
final class IceoryxLibrary {
    /** Program to which all processes that use the library connect. */
    static final String DAEMON = "iox-roudi";

    private static final String LIBRARY = "libiceoryx_binding_c.so.2";
    private static final Pattern VERSION = Pattern.compile("version: ([0-9.]+)");
    /** Values of the enumerations in enums.h, by their order there. */
    private static final int ALLOCATED = 8;
    private static final int RECEIVED = 3;
    private static final int SUBSCRIBED = 2;
    /** More than the options of either side have. */
    private static final int OPTIONS_BYTES = 256;
    private static final Linker.Option[] QUICK = {Linker.Option.critical(false)};
    private static final Linker.Option[] USUAL = {};

    /** Linked when a side is opened: a machine without the library only asks {@link #version()}. */
    private static final class Calls {
        private static final SymbolLookup LOOKUP = SymbolLookup.libraryLookup(LIBRARY, Arena.global());
        private static final MethodHandle RUNTIME_INIT = link("iox_runtime_init", false, 1, USUAL);
        private static final MethodHandle PUB_OPTIONS = link("iox_pub_options_init", false, 1, USUAL);
        private static final MethodHandle PUB_INIT = link("iox_pub_init", true, 5, USUAL);
        private static final MethodHandle PUB_DEINIT = link("iox_pub_deinit", false, 1, USUAL);
        private static final MethodHandle HAS_SUBSCRIBERS = link("iox_pub_has_subscribers", true, 1, USUAL);
        private static final MethodHandle SUB_OPTIONS = link("iox_sub_options_init", false, 1, USUAL);
        private static final MethodHandle SUB_INIT = link("iox_sub_init", true, 5, USUAL);
        private static final MethodHandle SUB_DEINIT = link("iox_sub_deinit", false, 1, USUAL);
        private static final MethodHandle SUB_STATE = link("iox_sub_get_subscription_state", true, 1, USUAL);
        private static final MethodHandle LOAN = link("iox_pub_loan_chunk", true, 3, QUICK);
        private static final MethodHandle PUBLISH = link("iox_pub_publish_chunk", false, 2, QUICK);
        private static final MethodHandle TAKE = link("iox_sub_take_chunk", true, 2, QUICK);
        private static final MethodHandle RELEASE = link("iox_sub_release_chunk", false, 2, QUICK);

        private static MethodHandle link(String name, boolean answers, int arguments, Linker.Option... options) {
            MemoryLayout[] layouts =
                Collections.nCopies(arguments, ValueLayout.JAVA_LONG).toArray(MemoryLayout[]::new);
            return Linker.nativeLinker().downcallHandle(LOOKUP.findOrThrow(name),
                answers ? FunctionDescriptor.of(ValueLayout.JAVA_LONG, layouts) : FunctionDescriptor.ofVoid(layouts),
                options);
        }
    }

    private IceoryxLibrary() {
    }

    /** The version of the program, or null if it or the library is not installed. */
    static String version() throws InterruptedException {
        Path program = Installation.ofPath(System.getenv()).find(DAEMON);
        try (Arena arena = Arena.ofConfined()) {
            SymbolLookup.libraryLookup(LIBRARY, arena);
        } catch (IllegalArgumentException missing) {
            return null;
        }
        if (program == null) {
            return null;
        }
        try {
            Process process = new ProcessBuilder(program.toString(), "--version").redirectErrorStream(true).start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            process.waitFor();
            Matcher version = VERSION.matcher(output);
            return version.find() ? version.group(1) : "unknown";
        } catch (IOException ex) {
            return null;
        }
    }

    /** Connects this process, once, to the daemon. */
    static void connect(String name) {
        try (Arena arena = Arena.ofConfined()) {
            Calls.RUNTIME_INIT.invokeExact(arena.allocateFrom(name).address());
        } catch (Throwable thrown) {
            throw failed(thrown);
        }
    }

    /** Makes a publisher; its memory is that of {@code arena}. */
    static long publisher(Arena arena, List<String> names) {
        try {
            long options = arena.allocate(OPTIONS_BYTES, Long.BYTES).address();
            Calls.PUB_OPTIONS.invokeExact(options);
            return (long) Calls.PUB_INIT.invokeExact(arena.allocate(ValueLayout.JAVA_LONG).address(),
                text(arena, names.get(0)), text(arena, names.get(1)), text(arena, names.get(2)), options);
        } catch (Throwable thrown) {
            throw failed(thrown);
        }
    }

    /** Makes a subscriber; its memory is that of {@code arena}. */
    static long subscriber(Arena arena, List<String> names) {
        try {
            long options = arena.allocate(OPTIONS_BYTES, Long.BYTES).address();
            Calls.SUB_OPTIONS.invokeExact(options);
            return (long) Calls.SUB_INIT.invokeExact(arena.allocate(ValueLayout.JAVA_LONG).address(),
                text(arena, names.get(0)), text(arena, names.get(1)), text(arena, names.get(2)), options);
        } catch (Throwable thrown) {
            throw failed(thrown);
        }
    }

    private static long text(Arena arena, String name) {
        return arena.allocateFrom(name).address();
    }

    static boolean areConnected(long publisher, long subscriber) {
        try {
            // a bool and an enumeration, of which the upper bytes are not defined
            boolean hasSubscriber = ((long) Calls.HAS_SUBSCRIBERS.invokeExact(publisher) & 0xFF) != 0;
            return hasSubscriber && (int) (long) Calls.SUB_STATE.invokeExact(subscriber) == SUBSCRIBED;
        } catch (Throwable thrown) {
            throw failed(thrown);
        }
    }

    static void close(long publisher, long subscriber) {
        try {
            Calls.PUB_DEINIT.invokeExact(publisher);
            Calls.SUB_DEINIT.invokeExact(subscriber);
        } catch (Throwable thrown) {
            throw failed(thrown);
        }
    }

    /** Takes memory for a message and writes its address to {@code place}; false if there is none. */
    static boolean loan(long publisher, MemorySegment place, long lengthBytes) {
        try {
            return (int) (long) Calls.LOAN.invokeExact(publisher, place.address(), lengthBytes) == ALLOCATED;
        } catch (Throwable thrown) {
            throw failed(thrown);
        }
    }

    static void publish(long publisher, long payload) {
        try {
            Calls.PUBLISH.invokeExact(publisher, payload);
        } catch (Throwable thrown) {
            throw failed(thrown);
        }
    }

    /** Takes a message and writes its address to {@code place}; false if there is none. */
    static boolean take(long subscriber, MemorySegment place) {
        try {
            return (int) (long) Calls.TAKE.invokeExact(subscriber, place.address()) == RECEIVED;
        } catch (Throwable thrown) {
            throw failed(thrown);
        }
    }

    static void release(long subscriber, long payload) {
        try {
            Calls.RELEASE.invokeExact(subscriber, payload);
        } catch (Throwable thrown) {
            throw failed(thrown);
        }
    }

    private static ToolException failed(Throwable thrown) {
        return new ToolException("A call of " + LIBRARY + " failed: " + thrown);
    }
}
