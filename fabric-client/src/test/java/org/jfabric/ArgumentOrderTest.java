package org.jfabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jfabric.future.FutureEndpoint;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * All public calls take their arguments in one order, because the compiler does not see that two numbers are swapped:
 * memory, data, destination or source, remote place, tag, bits to ignore, context, flags. It is that of libfabric, so
 * that code that is ported from C does not compile into another destination.
 */
class ArgumentOrderTest {
    private static final Map<String, Integer> PLACES = Map.ofEntries(
        Map.entry("buf", 0), Map.entry("iov", 0), Map.entry("message", 0), Map.entry("source", 0),
        Map.entry("offset", 1), Map.entry("len", 2), Map.entry("length", 2), Map.entry("lengthBytes", 2),
        Map.entry("data", 3), Map.entry("destAddr", 4), Map.entry("srcAddr", 4), Map.entry("to", 4),
        Map.entry("remoteAddr", 5), Map.entry("key", 6), Map.entry("tag", 7), Map.entry("ignore", 8),
        Map.entry("opContext", 9), Map.entry("context", 9), Map.entry("flags", 10));
    /** Names of C; a descriptor is no argument here, and a buffer has an offset. */
    private static final Map<String, String> NAMES_OF_C = Map.of("dest_addr", "destAddr", "src_addr", "srcAddr",
        "addr", "remoteAddr", "context", "opContext");
    /** Calls that post a message. */
    private static final String TRANSFER =
        "t?(send|recv|inject)(v|msg|data)?|commit|(read|write)v?|(injectW|w)rite(data)?";

    @Test
    void shouldTakeArgumentsInOneOrder() throws Exception {
        List<String> wrong = new ArrayList<>();
        int transfers = 0;
        for (Class<?> type : publicClasses()) {
            for (Method method : type.getDeclaredMethods()) {
                if (Modifier.isPublic(method.getModifiers()) && !method.isSynthetic()) {
                    // a table takes the key first, as every map does
                    if (!isOrdered(method) && type != TableWriter.class) {
                        wrong.add(text(method));
                    }
                    transfers += isTransfer(method) ? 1 : 0;
                }
            }
        }
        assertEquals(List.of(), wrong);
        assertTrue(transfers >= 26, "calls that post a message: " + transfers);
    }

    @Test
    void shouldTakeEveryTimeInNanoseconds() throws Exception {
        List<String> waiting = new ArrayList<>();
        for (Class<?> type : publicClasses()) {
            for (Method method : type.getDeclaredMethods()) {
                for (Parameter parameter : method.getParameters()) {
                    if (Modifier.isPublic(method.getModifiers())
                        && parameter.getName().matches(".*([tT]imeout|[mM]illis|Ms$).*")) {
                        waiting.add(type.getSimpleName());
                        assertTrue(parameter.getName().matches("(\\w+T|t)imeoutNs")
                            && parameter.getType() == long.class, text(method));
                    }
                }
            }
        }
        assertTrue(waiting.containsAll(List.of("CompletionQueue", "EventQueue", "Counter", "WaitSet")), "" + waiting);
    }

    @Test
    void shouldKnowEveryArgumentOfCallsThatPostAMessage() {
        List<String> unknown = new ArrayList<>();
        for (Class<?> type : List.of(
            Endpoint.class, Messages.class, RemoteMemory.class, SendClaim.class, FutureEndpoint.class)) {
            for (Method method : type.getDeclaredMethods()) {
                if (Modifier.isPublic(method.getModifiers()) && isTransfer(method)
                    && !Arrays.stream(method.getParameters()).allMatch(p -> PLACES.containsKey(p.getName()))) {
                    unknown.add(text(method));
                }
            }
        }
        assertEquals(List.of(), unknown);
    }

    /** The prototypes of fi_msg(3), fi_tagged(3) and fi_rma(3), without the endpoint. */
    @ParameterizedTest
    @CsvSource({
        "send, buf len desc dest_addr context",
        "senddata, buf len desc data dest_addr context",
        "inject, buf len dest_addr",
        "injectdata, buf len data dest_addr",
        "recv, buf len desc src_addr context",
        "tsend, buf len desc dest_addr tag context",
        "tsenddata, buf len desc data dest_addr tag context",
        "tinject, buf len dest_addr tag",
        "tinjectdata, buf len data dest_addr tag",
        "trecv, buf len desc src_addr tag ignore context",
        "read, buf len desc src_addr addr key context",
        "write, buf len desc dest_addr addr key context",
        "writedata, buf len desc data dest_addr addr key context",
        "injectWrite, buf len dest_addr addr key",
        "injectWritedata, buf len data dest_addr addr key"})
    void shouldHaveTheOrderOfC(String name, String prototype) {
        Method method = Stream.of(Endpoint.class, Messages.class, RemoteMemory.class)
            .flatMap(type -> Arrays.stream(type.getDeclaredMethods()))
            .filter(each -> each.getName().equals(name) && Modifier.isPublic(each.getModifiers())
                && each.getParameterTypes()[0] != MemorySlice.class)
            .findAny().orElseThrow();
        assertEquals(
            Stream.of(prototype.split(" ")).filter(each -> !each.equals("desc"))
                .map(each -> NAMES_OF_C.getOrDefault(each, each)).toList(),
            Arrays.stream(method.getParameters()).map(Parameter::getName).filter(each -> !each.equals("offset"))
                .map(each -> each.equals("source") ? "buf" : each).toList());
    }

    @Test
    void shouldSeeASwap() throws Exception {
        assertTrue(isOrdered(Swapped.class.getDeclaredMethod("good", long.class, long.class, long.class)));
        assertTrue(!isOrdered(Swapped.class.getDeclaredMethod("bad", long.class, long.class, long.class)));
    }

    /** Public for reflection, not a part of the API. */
    private interface Swapped {
        void good(long data, long context, long flags);

        void bad(long context, long data, long flags);
    }

    private static boolean isTransfer(Method method) {
        return method.getName().matches(TRANSFER) && method.getParameterCount() > 1;
    }

    private static boolean isOrdered(Method method) {
        int last = -1;
        for (Parameter parameter : method.getParameters()) {
            assertTrue(parameter.isNamePresent(), "compiled without names of parameters: " + method);
            Integer place = isNumber(parameter) || isTransfer(method) ? PLACES.get(parameter.getName()) : null;
            if (place != null) {
                if (place < last) {
                    return false;
                }
                last = place;
            }
        }
        return true;
    }

    private static boolean isNumber(Parameter parameter) {
        return parameter.getType() == long.class || parameter.getType() == int.class;
    }

    private static String text(Method method) {
        return method.getDeclaringClass().getSimpleName() + '.' + method.getName() + Arrays.stream(
            method.getParameters()).map(Parameter::getName).toList();
    }

    private static List<Class<?>> publicClasses() throws IOException, URISyntaxException, ClassNotFoundException {
        Path classes = Path.of(Endpoint.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        List<Class<?>> found = new ArrayList<>();
        for (String folder : List.of("org/jfabric", "org/jfabric/info", "org/jfabric/future", "org/jfabric/stream")) {
            try (Stream<Path> files = Files.list(classes.resolve(folder))) {
                for (Path file : files.filter(path -> path.toString().endsWith(".class")).sorted().toList()) {
                    String name = classes.relativize(file).toString().replace('/', '.');
                    Class<?> type = Class.forName(name.substring(0, name.length() - ".class".length()), false,
                        ArgumentOrderTest.class.getClassLoader());
                    if (Modifier.isPublic(type.getModifiers())) {
                        found.add(type);
                    }
                }
            }
        }
        return found;
    }
}
