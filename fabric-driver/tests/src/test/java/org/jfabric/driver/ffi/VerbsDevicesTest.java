package org.jfabric.driver.ffi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.abort;

import java.util.List;
import org.jfabric.info.Reason;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Reasons of a machine that cannot use RDMA devices, and the state of this one's libraries. */
class VerbsDevicesTest {
    private static final long PINNED = 1 << 20;

    private final FakeVerbs fake = new FakeVerbs(new FakeVerbs.Network(), "10.0.0.1");

    private List<Reason> examine(long limit) {
        return VerbsDevices.examine(fake.libraries(), PINNED, limit);
    }

    @Test
    void shouldFindNothingWrongWithAnActivePort() {
        assertEquals(List.of(), examine(PINNED));
    }

    @Test
    void shouldNameTheMissingDevice() {
        fake.hasDevice = false;
        List<Reason> reasons = examine(PINNED);
        assertEquals(1, reasons.size());
        assertEquals("RDMA devices: seen none, needed one or more.", firstSentence(reasons));
        assertFalse(reasons.getFirst().remedy().isEmpty());
    }

    @Test
    void shouldNameThePortThatIsDown() {
        fake.portState = 1;
        assertEquals("device fake0 port 1: seen PORT_DOWN, needed PORT_ACTIVE.", firstSentence(examine(PINNED)));
    }

    @Test
    void shouldNameTheLimitOfLockedMemory() {
        assertEquals("locked memory: seen 65536 bytes, needed 1048576 bytes for each connection.",
            firstSentence(examine(65536)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"poll_cq", "req_notify_cq", "post_srq_recv", "post_send", "post_recv"})
    void shouldNameTheFunctionThatTheDevicesLibraryLacks(String name) {
        assertTrue(FakeVerbs.FUNCTIONS.containsValue(name));
        fake.lack(name);
        String text = examine(PINNED).getFirst().toString();
        assertTrue(text.startsWith("ibv_context.ops." + name + ": seen null, needed a function."), text);
    }

    private static String firstSentence(List<Reason> reasons) {
        String text = reasons.getFirst().toString();
        return text.substring(0, text.indexOf('.') + 1);
    }

    @Test
    void shouldBindTheLibrariesOfThisSystemOrSayWhyNot() {
        try {
            VerbsLibraries libraries = VerbsLibraries.system();
            assertTrue(libraries.ibverbs().version().startsWith("libibverbs.so.1"), libraries.ibverbs().version());
            assertTrue(libraries.cm().version().startsWith("librdmacm.so.1"), libraries.cm().version());
        } catch (VerbsUnavailableException e) {
            assertTrue(e.reason().condition().startsWith("library lib"), e::getMessage);
            abort("the libraries are not installed: " + e.reason());
        }
    }
}
