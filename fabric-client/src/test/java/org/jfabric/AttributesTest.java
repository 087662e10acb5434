package org.jfabric;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionFormat;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.CounterAttr;
import org.jfabric.info.DomainAttr;
import org.jfabric.info.EndpointAttr;
import org.jfabric.info.EndpointSource;
import org.jfabric.info.EventQueueAttr;
import org.jfabric.info.FabricAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Info;
import org.jfabric.info.RxAttr;
import org.jfabric.info.TxAttr;
import org.jfabric.info.WaitObject;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AttributesTest {
    private static final Set<Class<?>> NESTED =
        Set.of(TxAttr.class, RxAttr.class, EndpointAttr.class, DomainAttr.class, FabricAttr.class);

    @ParameterizedTest
    @ValueSource(classes = {CompletionQueueAttr.class, EventQueueAttr.class, CounterAttr.class,
        AddressVectorAttr.class, EndpointAttr.class, TxAttr.class, RxAttr.class, DomainAttr.class, FabricAttr.class,
        Info.class})
    void shouldStartWithZeroedMembers(Class<?> type) throws ReflectiveOperationException {
        Object attributes = type.getDeclaredConstructor().newInstance();
        for (Method member : members(type)) {
            Object value = read(attributes, member);
            if (value instanceof Enum<?> constant) {
                assertEquals(0, constant.getClass().getMethod("code").invoke(constant), member.getName());
            } else if (value instanceof byte[] key) {
                assertEquals(0, key.length, member.getName());
            } else if (value instanceof Number number) {
                assertEquals(0, number.longValue(), member.getName());
            } else if (member.getReturnType() == boolean.class) {
                assertEquals(false, value, member.getName());
            } else if (member.getReturnType() == String.class) {
                assertEquals(null, value, member.getName());
            } else {
                assertTrue(NESTED.contains(member.getReturnType()), member.getName());
                assertInstanceOf(member.getReturnType(), value, member.getName());
            }
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {CompletionQueueAttr.class, EventQueueAttr.class, CounterAttr.class,
        AddressVectorAttr.class, EndpointAttr.class, TxAttr.class, RxAttr.class, DomainAttr.class, FabricAttr.class,
        Info.class})
    void shouldReturnEveryMemberThatWasSet(Class<?> type) throws ReflectiveOperationException {
        Object attributes = type.getDeclaredConstructor().newInstance();
        List<Object> written = fill(attributes);
        List<Method> members = members(type);
        for (int i = 0; i < members.size(); i++) {
            assertEqualValue(written.get(i), read(attributes, members.get(i)), members.get(i).getName());
            assertTrue(attributes.toString().contains(members.get(i).getName() + '='),
                members.get(i).getName() + " is missing in " + attributes);
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {CompletionQueueAttr.class, EventQueueAttr.class, CounterAttr.class,
        AddressVectorAttr.class, EndpointAttr.class, TxAttr.class, RxAttr.class, DomainAttr.class, FabricAttr.class,
        Info.class})
    void shouldCopyEveryMemberAndShareNone(Class<?> type) throws ReflectiveOperationException {
        Object original = type.getDeclaredConstructor().newInstance();
        List<Object> written = fill(original);
        Object copy = type.getMethod("copy").invoke(original);
        assertNotSame(original, copy);
        assertEquals(original.toString(), copy.toString());

        List<Method> members = members(type);
        for (int i = 0; i < members.size(); i++) {
            Method member = members.get(i);
            if (NESTED.contains(member.getReturnType())) {
                assertNotSame(read(original, member), read(copy, member), member.getName());
                assertEquals(read(original, member).toString(), read(copy, member).toString(), member.getName());
            } else {
                assertEqualValue(written.get(i), read(copy, member), member.getName());
            }
        }
        String before = original.toString();
        Object blank = type.getDeclaredConstructor().newInstance();
        for (Method member : members(type)) {
            if (NESTED.contains(member.getReturnType())) {
                Object nestedBlank = member.getReturnType().getDeclaredConstructor().newInstance();
                for (Method inner : members(member.getReturnType())) {
                    write(read(copy, member), inner, read(nestedBlank, inner));
                }
            } else {
                write(copy, member, read(blank, member));
            }
        }
        assertEquals(before, original.toString(), "a change of the copy reached the original");
        assertEquals(blank.toString(), copy.toString());
    }

    @ParameterizedTest
    @ValueSource(classes = {CompletionQueueAttr.class, EventQueueAttr.class, CounterAttr.class,
        AddressVectorAttr.class, EndpointAttr.class, DomainAttr.class, Info.class})
    void shouldRefuseNullWhereAValueIsNeeded(Class<?> type) throws ReflectiveOperationException {
        Object attributes = type.getDeclaredConstructor().newInstance();
        for (Method member : members(type)) {
            if (member.getReturnType().isEnum() || NESTED.contains(member.getReturnType())) {
                InvocationTargetException thrown =
                    assertThrows(InvocationTargetException.class, () -> write(attributes, member, null));
                FabricException refused = assertInstanceOf(FabricException.class, thrown.getCause());
                assertEquals(FabricErrno.EINVAL, refused.errno());
                assertTrue(refused.getMessage().contains(member.getName()), refused.getMessage());
            }
        }
    }

    @Test
    void shouldCopyKeysInAndOutAndNeverPrintThem() {
        byte[] key = {71, 72, 73};
        EndpointAttr attr = new EndpointAttr().authKey(key);
        key[0] = 1;
        assertArrayEquals(new byte[] {71, 72, 73}, attr.authKey());
        attr.authKey()[1] = 1;
        assertArrayEquals(new byte[] {71, 72, 73}, attr.authKey());
        assertEquals(3, attr.authKeySize());
        assertTrue(attr.toString().contains("authKey=3 bytes"), attr.toString());
        assertFalse(attr.toString().contains("71"), attr.toString());

        assertEquals(0, attr.authKey(null).authKeySize());
        assertEquals(0, new DomainAttr().authKeySize());
    }

    @Test
    void shouldPackVersionsThatCompareAsUnsignedInts() {
        assertEquals(0x10005, FabricAttr.version(1, 5));
        assertTrue(Integer.compareUnsigned(FabricAttr.version(0xffff, 0), FabricAttr.version(1, 0xffff)) > 0);
        assertTrue(new FabricAttr().apiVersion(FabricAttr.version(65535, 7)).toString().contains("apiVersion=65535.7"));
        for (int part : new int[] {-1, 0x10000}) {
            assertEquals(22, assertThrows(FabricException.class, () -> FabricAttr.version(part, 0)).errno());
            assertEquals(22, assertThrows(FabricException.class, () -> FabricAttr.version(0, part)).errno());
        }
    }

    @Test
    void shouldChainSetters() {
        CompletionQueueAttr attr = new CompletionQueueAttr();
        assertSame(attr, attr.size(4096).format(CompletionFormat.TAGGED).waitObject(WaitObject.FD));
        assertEquals("CompletionQueueAttr{size=4096, flags=0, format=TAGGED, waitObject=FD, signalingVector=0, "
            + "waitCondition=NONE, waitSetId=0}", attr.toString());
    }

    /** What can be read and set; all but open objects, which only a driver makes. */
    private static List<Method> members(Class<?> type) {
        return Arrays.stream(type.getDeclaredMethods())
            .filter(method -> method.getParameterCount() == 0 && method.getReturnType() != EndpointSource.class
                && Arrays.stream(type.getDeclaredMethods()).anyMatch(setter -> setter.getName().equals(method.getName())
                    && Arrays.equals(setter.getParameterTypes(), new Class<?>[] {method.getReturnType()})))
            .sorted(Comparator.comparing(Method::getName)).toList();
    }

    /** Sets each member to a value of its own that differs from every default, and returns the values. */
    private static List<Object> fill(Object attributes) throws ReflectiveOperationException {
        List<Object> values = new ArrayList<>();
        int number = 1;
        for (Method member : members(attributes.getClass())) {
            Object value = distinctValue(member.getReturnType(), number++);
            values.add(value);
            assertSame(attributes, write(attributes, member, value), member.getName() + " does not chain");
        }
        return values;
    }

    private static Object distinctValue(Class<?> type, int number) throws ReflectiveOperationException {
        if (type == long.class) {
            return 0x1_0000_0001L * number;
        }
        if (type == int.class) {
            return 0x1_0001 * number;
        }
        if (type == boolean.class) {
            return true;
        }
        if (type == String.class) {
            return "text" + number;
        }
        if (type == byte[].class) {
            return new byte[] {(byte) number, 2};
        }
        if (type.isEnum()) {
            Object[] constants = type.getEnumConstants();
            return constants[constants.length - 1];
        }
        Object nested = type.getDeclaredConstructor().newInstance();
        fill(nested);
        return nested;
    }

    private static Object read(Object attributes, Method member) throws ReflectiveOperationException {
        return attributes.getClass().getMethod(member.getName()).invoke(attributes);
    }

    private static Object write(Object attributes, Method member, Object value) throws ReflectiveOperationException {
        Method setter = attributes.getClass().getMethod(member.getName(), member.getReturnType());
        return setter.invoke(attributes, value);
    }

    private static void assertEqualValue(Object expected, Object actual, String member) {
        if (expected instanceof byte[] bytes) {
            assertTrue(Arrays.equals(bytes, (byte[]) actual), member);
        } else {
            assertEquals(expected, actual, member);
        }
    }
}
