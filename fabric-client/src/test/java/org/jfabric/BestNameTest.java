package org.jfabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jfabric.info.BestName;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.junit.jupiter.api.Test;

class BestNameTest {
    private static final String TEXT = "best://0123456789abcdef/alpha/ep-1;shm;tcp=fi_sockaddr_in6://[fe80::1%3]:45007";

    @Test
    void shouldReadWhatItWrites() {
        BestName name = BestName.parse(TEXT);
        assertEquals("0123456789abcdef", name.folder());
        assertEquals("alpha", name.driver());
        assertEquals("ep-1", name.endpoint());
        assertEquals("jfabric://alpha/ep-1", name.fabricName());
        assertEquals("jfabric://alpha/ep-1", name.way("shm"));
        assertEquals("fi_sockaddr_in6://[fe80::1%3]:45007", name.way("tcp"));
        assertNull(name.way("rxm"));
        assertEquals(TEXT, name.toString());
        assertEquals(name, BestName.parse(name.toString()));
        assertTrue(BestName.isName(TEXT));
    }

    @Test
    void shouldBeReachedByNoLinkIfItNamesNone() {
        BestName name = new BestName("0123456789abcdef", "alpha", "ep", Map.of());
        assertEquals("best://0123456789abcdef/alpha/ep", name.toString());
        assertEquals(name, BestName.parse(name.toString()));
    }

    /** Links that are not known here may follow in later versions. */
    @Test
    void shouldKeepLinksThatItDoesNotKnow() {
        String text = TEXT + ";verbs=fi_sockaddr_in://192.0.2.2:1;other";
        assertEquals(List.of("shm", "tcp", "verbs", "other"), List.copyOf(BestName.parse(text).ways().keySet()));
        assertEquals(text, BestName.parse(text).toString());
    }

    @Test
    void shouldRefuseEverythingElse() {
        for (String text : List.of("", "best://", "jfabric://alpha/ep", "best://0123456789abcdef/alpha",
            "best://0123456789ABCDEF/alpha/ep", "best://0123456789abcdef/.alpha/ep", "best://0123456789abcdef/a/b/c",
            "best://0123456789abcdef/alpha/e p", TEXT + ";", TEXT + ";shm", TEXT + ";tcp=x", TEXT + ";rxm=",
            TEXT + ";RXM", TEXT + ";rxm=\u00e9", TEXT + ";rxm=a b", TEXT + ";rxm=" + "x".repeat(BestName.MAX_LENGTH))) {
            assertFalse(BestName.isName(text), text);
            FabricException refused = assertThrows(FabricException.class, () -> BestName.parse(text), text);
            assertEquals(FabricErrno.EINVAL, refused.errno());
        }
        assertFalse(BestName.isName(null));
        assertThrows(FabricException.class, () -> new BestName("0123456789abcdef", "a/b", "ep", Map.of()));
        assertThrows(FabricException.class, () -> new BestName("0123456789abcdef", "a", "ep", Map.of("tcp", "a;b")));
    }

    @Test
    void shouldNotChangeWithTheMapItWasMadeOf() {
        Map<String, String> ways = new LinkedHashMap<>(Map.of("shm", ""));
        BestName name = new BestName("0123456789abcdef", "alpha", "ep", ways);
        ways.put("tcp", "x");
        assertEquals(Map.of("shm", ""), name.ways());
        assertThrows(UnsupportedOperationException.class, () -> name.ways().put("tcp", "x"));
    }
}
