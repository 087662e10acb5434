package org.jfabric;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HexFormat;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.IbUdName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Addresses of datagram queue pairs, as text and as the bytes of C programs. */
class IbUdNameTest {
    @ParameterizedTest
    @ValueSource(strings = {
        "fi_addr_ib_ud://::ffff:10.0.0.1:9f/0/ffff/0",
        "fi_addr_ib_ud://fe80::ff:fe00:1:1/0/ffff/0",
        "fi_addr_ib_ud://2001:db8:0:1:1:1:1:1:ffffff/ffff/7fff/f",
        "fi_addr_ib_ud://:::0/0/0/0"})
    void shouldReadWhatItWrites(String text) {
        assertTrue(IbUdName.isName(text));
        IbUdName name = IbUdName.parse(text);
        assertEquals(text, name.toString());
        assertEquals(name, IbUdName.ofBytes(name.toBytes()));
    }

    @Test
    void shouldWriteTheBytesOfC() {
        byte[] image = IbUdName.parse("fi_addr_ib_ud://::ffff:10.0.0.1:12345/2/ff01/3").toBytes();
        assertEquals("00000000000000000000ffff0a000001" + "45230100" + "0200" + "01ff" + "0000" + "03" + "0000000000",
            HexFormat.of().formatHex(image));
    }

    @Test
    void shouldGiveItsParts() {
        IbUdName name = IbUdName.parse("fi_addr_ib_ud://fe80::1:12/3/ffff/5");
        assertEquals(0x12, name.queuePair());
        assertEquals(3, name.lid());
        assertEquals(-1, name.partitionKey());
        assertEquals(5, name.level());
        assertEquals((byte) 0xfe, name.gid()[0]);
        assertEquals(1, name.gid()[15]);
    }

    @Test
    void shouldHaveOneTextForEachAddress() {
        assertEquals(IbUdName.parse("fi_addr_ib_ud://::ffff:10.0.0.1:9f/0/ffff/0").toString(),
            IbUdName.parse("fi_addr_ib_ud://0:0:0:0:0:FFFF:a00:1:09F/00/FFFF/0").toString());
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "", "fi_addr_ib_ud://", "fi_addr_ib_ud://::1", "fi_addr_ib_ud://::1:9f", "fi_addr_ib_ud://::1:9f/0/ffff",
        "fi_addr_ib_ud://::1:9f/0/ffff/0/0", "fi_addr_ib_ud://::1:1000000/0/ffff/0", "fi_addr_ib_ud://::1:9f/10000/0/0",
        "fi_addr_ib_ud://10.0.0.1:9f/0/ffff/0", "fi_addr_ib_ud://host:9f/0/ffff/0", "fi_addr_ib_ud://::1:x/0/ffff/0",
        "fi_addr_ib_ud://fe80::1%2:9f/0/ffff/0", "fi_sockaddr_in://10.0.0.1:5", "fi_addr_ib_ud://::1:-1/0/ffff/0",
        "fi_addr_ib_ud://::1:9f/0/ffff/100"})
    void shouldTakeNothingElse(String text) {
        assertFalse(IbUdName.isName(text));
        assertEquals(FabricErrno.EINVAL, assertThrows(FabricException.class, () -> IbUdName.parse(text)).errno());
    }

    @Test
    void shouldRefuseImagesThatAreNone() {
        assertThrows(FabricException.class, () -> IbUdName.ofBytes(new byte[16]));
        byte[] image = new byte[IbUdName.LENGTH];
        image[19] = 1;
        assertThrows(FabricException.class, () -> IbUdName.ofBytes(image));
        assertArrayEquals(new byte[IbUdName.LENGTH], IbUdName.ofBytes(new byte[IbUdName.LENGTH]).toBytes());
    }
}
