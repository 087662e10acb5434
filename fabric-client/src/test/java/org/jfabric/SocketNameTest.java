package org.jfabric;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetSocketAddress;
import java.nio.ByteOrder;
import java.util.HexFormat;
import org.jfabric.info.AddressFormat;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.SocketName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SocketNameTest {
    static boolean isLittleEndian() {
        return ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;
    }

    /** From a capture of the C program. */
    @Test
    @EnabledIf("isLittleEndian")
    void shouldHaveTheBytesThatLibfabricSends() {
        byte[] image = HexFormat.of().parseHex("0200AFCFC00002020000000000000000");
        SocketName name = SocketName.ofBytes(image);
        assertEquals("fi_sockaddr_in://192.0.2.2:45007", name.toString());
        assertEquals(AddressFormat.SOCKADDR_IN, name.format());
        assertArrayEquals(image, name.toBytes());
    }

    @ParameterizedTest
    @CsvSource({
        "fi_sockaddr_in://127.0.0.1:0, fi_sockaddr_in://127.0.0.1:0",
        "fi_sockaddr_in://255.255.255.255:65535, fi_sockaddr_in://255.255.255.255:65535",
        "fi_sockaddr_in6://[::1]:47592, fi_sockaddr_in6://[::1]:47592",
        "fi_sockaddr_in6://[0:0:0:0:0:0:0:0]:1, fi_sockaddr_in6://[::]:1",
        "fi_sockaddr_in6://[2001:DB8:0:0:1:0:0:1]:1, fi_sockaddr_in6://[2001:db8::1:0:0:1]:1",
        "fi_sockaddr_in6://[1:0:2:3:4:5:6:7]:1, fi_sockaddr_in6://[1:0:2:3:4:5:6:7]:1",
        "fi_sockaddr_in6://[1:2:3:4:5:6:0:0]:1, fi_sockaddr_in6://[1:2:3:4:5:6::]:1",
        "fi_sockaddr_in6://[fe80::1%2]:9, fi_sockaddr_in6://[fe80::1%2]:9",
    })
    void shouldWriteOneTextForEachAddress(String text, String canonical) {
        SocketName name = SocketName.parse(text);
        assertEquals(canonical, name.toString());
        assertEquals(name, SocketName.ofBytes(name.toBytes()));
        assertEquals(name, SocketName.of(new InetSocketAddress(name.inetAddress(), name.port())));
        assertEquals(name.hashCode(), SocketName.parse(canonical).hashCode());
        assertTrue(SocketName.isName(canonical));
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "", "jfabric://a/b", "fi_sockaddr_in://", "fi_sockaddr_in://1.2.3.4", "fi_sockaddr_in://1.2.3.4:",
        "fi_sockaddr_in://1.2.3:1", "fi_sockaddr_in://1.2.3.256:1", "fi_sockaddr_in://1.2.3.4:65536",
        "fi_sockaddr_in://1.2.3.4:-1", "fi_sockaddr_in://localhost:1", "fi_sockaddr_in6://::1:1",
        "fi_sockaddr_in6://[::g]:1", "fi_sockaddr_in6://[]:1", "fi_sockaddr_in6://[fe80::1%x]:1",
        "fi_sockaddr://127.0.0.1:1"
    })
    void shouldRefuseWhatIsNoAddress(String text) {
        assertFalse(SocketName.isName(text));
        FabricException refused = assertThrows(FabricException.class, () -> SocketName.parse(text));
        assertEquals(FabricErrno.EINVAL, refused.errno());
    }

    @Test
    void shouldRefuseBytesOfAnotherFamily() {
        assertThrows(FabricException.class, () -> SocketName.ofBytes(new byte[0]));
        assertThrows(FabricException.class, () -> SocketName.ofBytes(new byte[28]));
        byte[] cut = SocketName.parse("fi_sockaddr_in6://[::1]:1").toBytes();
        assertThrows(FabricException.class, () -> SocketName.ofBytes(java.util.Arrays.copyOf(cut, 27)));
    }

    @Test
    void shouldPutBracketsAroundANumberOfIpv6() {
        assertEquals("fi_sockaddr://host.example:80", SocketName.ofHost("host.example", "80"));
        assertEquals("fi_sockaddr://[::1]:80", SocketName.ofHost("::1", "80"));
    }
}
