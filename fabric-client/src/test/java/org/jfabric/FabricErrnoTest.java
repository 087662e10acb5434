package org.jfabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.ProtocolErrno;
import org.jfabric.info.SocketName;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Test;

class FabricErrnoTest {
    private static final String NUMBERS = """
        SUCCESS=0 EPERM=1 ENOENT=2 EINTR=4 EIO=5 E2BIG=7 EBADF=9 EAGAIN=11 ENOMEM=12 EACCES=13 EFAULT=14 EBUSY=16
        ENODEV=19 EINVAL=22 EMFILE=24 ENOSPC=28 ENOSYS=38 EWOULDBLOCK=11 ENOMSG=42 ENODATA=61 EOVERFLOW=75
        EMSGSIZE=90 ENOPROTOOPT=92 EOPNOTSUPP=95 EADDRINUSE=98 EADDRNOTAVAIL=99 ENETDOWN=100 ENETUNREACH=101
        ECONNABORTED=103 ECONNRESET=104 ENOBUFS=105 EISCONN=106 ENOTCONN=107 ESHUTDOWN=108 ETIMEDOUT=110
        ECONNREFUSED=111 EHOSTDOWN=112 EHOSTUNREACH=113 EALREADY=114 EINPROGRESS=115 EREMOTEIO=121 ECANCELED=125
        EKEYREJECTED=129 EOTHER=256 ETOOSMALL=257 EOPBADSTATE=258 EAVAIL=259 EBADFLAGS=260 ENOEQ=261 EDOMAIN=262
        ENOCQ=263 ECRC=264 ETRUNC=265 ENOKEY=266 ENOAV=267 EOVERRUN=268 ENORX=269 ENOMR=270 EFIREWALLADDR=271
        """;

    @Test
    @Requirement("ERR-003")
    void shouldHaveTheNumberOfTheTableForEveryCode() throws ReflectiveOperationException {
        ConstantTable.assertInts(FabricErrno.class, NUMBERS);
    }

    @Test
    @Requirement({"ERR-020", "REF-015"})
    void shouldDescribeEveryCodeWithItsOwnSentenceOfEitherSign() {
        Map<String, Integer> numbers = ConstantTable.parse(NUMBERS);
        Set<String> sentences = new HashSet<>();
        for (Map.Entry<String, Integer> entry : numbers.entrySet()) {
            int code = entry.getValue();
            String sentence = FabricErrno.describe(code);
            assertTrue(sentence.endsWith("."), entry.getKey() + ": " + sentence);
            assertFalse(sentence.contains("operating system: see errno"), entry.getKey() + " has no text of its own");
            assertEquals(sentence, FabricErrno.describe(-code), entry.getKey());
            sentences.add(sentence);
        }
        assertEquals(new HashSet<>(numbers.values()).size(), sentences.size(), "codes share a text");
    }

    /** The event that most readers of these codes have met is in their sentence. */
    @Test
    void shouldNameTheRealEventInSentencesOfCodesWithSeveralCauses() {
        assertTrue(FabricErrno.describe(FabricErrno.ENODEV).contains("driver has ended"));
        assertTrue(FabricErrno.describe(FabricErrno.EOPBADSTATE).contains("driver has ended"));
        assertTrue(FabricErrno.describe(FabricErrno.EIO).contains("peer sent what does not belong to the protocol"));
        assertTrue(ErrorText.of(ProtocolErrno.RXM, null, null, 0, 0).contains("-p 'tcp;ofi_rxm' -e rdm"));
        assertTrue(ErrorText.of(-ProtocolErrno.TCP, null, null, 0, 0).contains("-p tcp -e rdm"));
        assertTrue(ErrorText.of(ProtocolErrno.MSG, null, null, 0, 0).contains("endpoint type"));
        assertTrue(ErrorText.of(ProtocolErrno.UNKNOWN, null, null, 0, 0).contains("same provider"));
        assertEquals("ENOTDIR", FabricErrno.name(-20));
        assertTrue(FabricErrno.describe(20).contains("not a directory"), FabricErrno.describe(20));
        FabricException port = assertThrows(
            FabricException.class, () -> SocketName.parse("fi_sockaddr_in://127.0.0.1:99999"));
        assertTrue(port.getMessage().contains("a port from 0 to 65535"), port.getMessage());
        for (int other : new int[] {0, FabricErrno.EIO, -FabricErrno.EIO, 1 << 30, (1 << 30) + (1 << 29),
            Integer.MAX_VALUE, Integer.MIN_VALUE}) {
            assertFalse(ProtocolErrno.isProtocol(other), Integer.toHexString(other));
        }
    }

    @Test
    void shouldNameEveryCodeOfEitherSign() {
        for (Map.Entry<String, Integer> entry : ConstantTable.parse(NUMBERS).entrySet()) {
            String expected = entry.getKey().equals("EWOULDBLOCK") ? "FI_EAGAIN" : "FI_" + entry.getKey();
            assertEquals(expected, FabricErrno.name(entry.getValue()));
            assertEquals(expected, FabricErrno.name(-entry.getValue()));
        }
    }

    @Test
    void shouldListExactlyTheCodesOfTheTable() {
        Set<Integer> listed = new TreeSet<>();
        for (int code : FabricErrno.codes()) {
            assertTrue(listed.add(code), code + " is listed twice");
        }
        assertEquals(new TreeSet<>(ConstantTable.parse(NUMBERS).values()), listed);
    }

    @Test
    void shouldStillTellSomethingWhenTheCodeIsUnknown() {
        assertEquals("host errno 71", FabricErrno.name(-71));
        assertEquals("unknown fabric errno 272", FabricErrno.name(272));
        assertEquals("unknown fabric errno " + Integer.MAX_VALUE, FabricErrno.name(-Integer.MAX_VALUE));
        assertEquals("unknown fabric errno " + Integer.MIN_VALUE, FabricErrno.name(Integer.MIN_VALUE));
        for (int code : new int[] {71, 255, 272, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
            assertTrue(FabricErrno.describe(code).contains(Integer.toString(code)), FabricErrno.describe(code));
        }
    }

    @Test
    void shouldPutCodeTextAndRemedyIntoTheExceptionMessage() {
        FabricException refused = new FabricException(-22, "size is -1, needed is 0 or more", "Correct the size.");
        assertEquals(22, refused.errno());
        assertEquals("FI_EINVAL (22): size is -1, needed is 0 or more. Correct the size.", refused.getMessage());

        Throwable cause = new IllegalStateException("below");
        for (String none : new String[] {null, "", " "}) {
            String text = new FabricException(FabricErrno.ENODEV, "poll", none).getMessage();
            assertEquals("FI_ENODEV (19): poll. " + FabricErrno.describe(FabricErrno.ENODEV), text);
        }
        FabricException general = new FabricException(16, "2 endpoints are open.", null, cause);
        assertEquals(16, general.errno());
        assertEquals("FI_EBUSY (16): 2 endpoints are open. " + FabricErrno.describe(16), general.getMessage());
        assertEquals(cause, general.getCause());
    }

    @Test
    @Requirement("ERR-012")
    void shouldCarryAPositiveErrnoWhenTheCodeIsNone() {
        assertEquals(256, new FabricException(0, "nothing").errno());
        assertEquals(256, new FabricException(Integer.MIN_VALUE, "nothing").errno());
        assertEquals(Integer.MAX_VALUE, new FabricException(-Integer.MAX_VALUE, "nothing").errno());
    }
}
