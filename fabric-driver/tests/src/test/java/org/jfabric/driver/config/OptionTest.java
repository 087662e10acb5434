package org.jfabric.driver.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class OptionTest {

    private static final List<Class<?>> GROUP_CLASSES = List.of(
        DirectoryConfig.class, ThreadingConfig.class, QueueConfig.class, EngineConfig.class, ShmConfig.class,
        TcpConfig.class, TlsConfig.class, RxmConfig.class, UdpConfig.class, DtlsConfig.class, VerbsConfig.class,
        TableConfig.class, LivenessConfig.class, CncConfig.class, LinkConfig.class, LogConfig.class,
        MetricsConfig.class);

    static Stream<Option<?>> allOptions() {
        return DriverConfig.optionGroups().stream().flatMap(group -> group.options().stream());
    }

    @ParameterizedTest
    @MethodSource("allOptions")
    <T> void shouldReadItsOwnDefaultBack(Option<T> option) {
        T value = option.defaultValue();
        assertEquals(value, option.parse(option.format(value)));
        assertEquals(value, option.parse("  " + option.format(value) + " "));
    }

    @ParameterizedTest
    @MethodSource("allOptions")
    void shouldBeDescribedWholly(Option<?> option) {
        assertTrue(option.name().matches("jfabric\\.[a-z]+\\.[a-z][A-Za-z]+"), option.name());
        assertTrue(option.why().endsWith("."), option.why());
        assertTrue(option.why().length() > 40, option.why());
        assertFalse(option.rangeText().isBlank());
        assertFalse(option.unit().isBlank());
        assertFalse(option.defaultText().isBlank());
        assertNotNull(option.setIn());
        if ("bytes".equals(option.unit())) {
            assertTrue(option.name().endsWith("Bytes"), option.name());
        }
        if ("ns".equals(option.unit())) {
            assertTrue(option.name().endsWith("Ns"), option.name());
        }
    }

    @ParameterizedTest
    @MethodSource("allOptions")
    <T> void shouldAllowBothEndsOfItsRangeAndNothingBeyond(Option<T> option) {
        if (option.min() == null) {
            return;
        }
        long min = ((Number) option.min()).longValue();
        long max = ((Number) option.max()).longValue();
        assertEquals(option.min(), option.parse(String.valueOf(min)));
        assertEquals(option.max(), option.parse(String.valueOf(max)));
        assertThrows(IllegalArgumentException.class, () -> option.parse(String.valueOf(max + 1)));
        T below = option.defaultValue();
        if (!option.isDerived(below) || min != 0) {
            assertThrows(IllegalArgumentException.class, () -> option.parse(String.valueOf(min - 1)));
        }
    }

    @Test
    void shouldListEveryDeclaredOptionOnce() throws IllegalAccessException {
        Set<Object> declared = new HashSet<>();
        for (Class<?> groupClass : GROUP_CLASSES) {
            for (Field field : groupClass.getDeclaredFields()) {
                if (field.getType() == Option.class) {
                    assertTrue(Modifier.isPublic(field.getModifiers()), field.toString());
                    declared.add(field.get(null));
                }
            }
        }
        List<Option<?>> listed = allOptions().toList();
        assertEquals(declared, new HashSet<>(listed));
        assertEquals(listed.size(), listed.stream().map(Option::name).distinct().count());
    }

    @Test
    void shouldRefuseNumberWhenOtherRulesFail() {
        assertThrows(IllegalArgumentException.class, () -> ShmConfig.RING_LENGTH_BYTES.parse("65537"));
        assertThrows(IllegalArgumentException.class, () -> QueueConfig.INJECT_SIZE_BYTES.parse("100"));
        assertThrows(IllegalArgumentException.class, () -> QueueConfig.TX_SIZE.parse("4294967552"));
        assertThrows(IllegalArgumentException.class, () -> QueueConfig.TX_SIZE.parse(" "));
    }

    @Test
    void shouldTakeDerivedMarkBesideTheRange() {
        assertEquals(-1, QueueConfig.CQ_DRIVER_SHARE.parse("-1"));
        assertTrue(QueueConfig.CQ_DRIVER_SHARE.isDerived(-1));
        assertFalse(QueueConfig.CQ_DRIVER_SHARE.isDerived(16));
        assertThrows(IllegalArgumentException.class, () -> QueueConfig.CQ_DRIVER_SHARE.parse("0"));
    }

    @Test
    void shouldRefuseDriverNameWhenItIsNoPlainFileName() {
        assertEquals("a.B_9-", DirectoryConfig.NAME.parse("a.B_9-"));
        assertEquals("...", DirectoryConfig.NAME.parse("..."));
        for (String name : List.of(".", "..", "a/b", "a b", "x".repeat(65), "\u00e4")) {
            assertThrows(IllegalArgumentException.class, () -> DirectoryConfig.NAME.parse(name), name);
        }
    }

    @Test
    void shouldReadListWithSpacesAndRefuseGapsAndTwins() {
        assertEquals(List.of("shm", "loopback"), LinkConfig.ENABLED.parse("shm , loopback"));
        assertThrows(IllegalArgumentException.class, () -> LinkConfig.ENABLED.parse("shm,,loopback"));
        assertThrows(IllegalArgumentException.class, () -> LinkConfig.ENABLED.parse("shm,shm"));
        assertThrows(IllegalArgumentException.class, () -> LinkConfig.ENABLED.parse("SHM"));
    }
}
