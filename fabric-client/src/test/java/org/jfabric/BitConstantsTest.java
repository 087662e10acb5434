package org.jfabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.jfabric.info.FabricAddress;
import org.jfabric.info.Flags;
import org.jfabric.info.Mode;
import org.jfabric.info.MrMode;
import org.jfabric.info.Order;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Test;

class BitConstantsTest {
    /** Bit number of every common flag, as the tables of the manual list them. */
    private static final String FLAG_BITS = """
        MSG=1 RMA=2 TAGGED=3 ATOMIC=4 MULTICAST=5 COLLECTIVE=6 READ=8 WRITE=9 RECV=10 SEND=11 TRANSMIT=11
        REMOTE_READ=12 REMOTE_WRITE=13 MULTI_RECV=16 REMOTE_CQ_DATA=17 MORE=18 PEEK=19 TRIGGER=20 FENCE=21
        COMPLETION=24 INJECT=25 INJECT_COMPLETE=26 TRANSMIT_COMPLETE=27 DELIVERY_COMPLETE=28 AFFINITY=29
        COMMIT_COMPLETE=30 MATCH_COMPLETE=31 PEER_TRANSFER=36 AV_USER_ID=41 PEER=43 XPU_TRIGGER=44
        HMEM_HOST_ALLOC=45 HMEM_DEVICE_ONLY=46 HMEM=47 VARIABLE_MSG=48 RMA_PMEM=49 SOURCE_ERR=50 LOCAL_COMM=51
        REMOTE_COMM=52 SHARED_AV=53 PROV_ATTR_ONLY=54 NUMERICHOST=55 RMA_EVENT=56 SOURCE=57 NAMED_RX_CTX=58
        DIRECTED_RECV=59 CLAIM=59 DISCARD=58 SELECTIVE_COMPLETION=59 SYMMETRIC=59 SYNC_ERR=58 REG_MR=59
        COMPARE_ATOMIC=59 FETCH_ATOMIC=58 XPU=44 EVENT=24 TAGGED_DIRECTED_RECV=45 TAGGED_MULTI_RECV=46
        EXACT_DIRECTED_RECV=48
        """;

    private static final String MODE_BITS = """
        CONTEXT=59 MSG_PREFIX=58 ASYNC_IOV=57 RX_CQ_DATA=56 LOCAL_MR=55 NOTIFY_FLAGS_ONLY=54 RESTRICTED_COMP=53
        CONTEXT2=52 BUFFERED_RECV=51
        """;

    private static final String ORDER_BITS = """
        RAR=0 RAW=1 RAS=2 WAR=3 WAW=4 WAS=5 SAR=6 SAW=7 SAS=8 DATA=16 RMA_RAR=32 RMA_RAW=33 RMA_WAR=34 RMA_WAW=35
        ATOMIC_RAR=36 ATOMIC_RAW=37 ATOMIC_WAR=38 ATOMIC_WAW=39
        """;

    private static final String MR_MODE_BITS = """
        LOCAL=2 RAW=3 VIRT_ADDR=4 ALLOCATED=5 PROV_KEY=6 MMU_NOTIFY=7 RMA_EVENT=8 ENDPOINT=9 HMEM=10 COLLECTIVE=11
        """;

    @Test
    void shouldHaveTheBitOfTheTableForEveryFlag() throws ReflectiveOperationException {
        ConstantTable.assertBits(Flags.class, FLAG_BITS, "LENT", "RECORDED", "TIMESTAMP", "CARD_CLOCK");
        assertEquals(1L << 34, Flags.LENT, "a bit of JFabric's own, in none of the tables");
        assertEquals(1L << 35, Flags.RECORDED, "as well");
        assertEquals(1L << 37, Flags.TIMESTAMP, "as well");
        assertEquals(1L << 38, Flags.CARD_CLOCK, "as well");
    }

    @Test
    @Requirement("REF-007")
    void shouldHaveTheBitOfTheTableForEveryMode() throws ReflectiveOperationException {
        ConstantTable.assertBits(Mode.class, MODE_BITS);
    }

    @Test
    void shouldHaveTheBitOfTheTableForEveryOrder() throws ReflectiveOperationException {
        ConstantTable.assertBits(Order.class, ORDER_BITS, "NONE", "STRICT");
        assertEquals(0, Order.NONE);
        assertEquals((1L << 9) - 1, Order.STRICT, "all nine bits of message order");
    }

    @Test
    void shouldHaveTheBitOfTheTableForEveryRegistrationMode() throws ReflectiveOperationException {
        ConstantTable.assertBits(MrMode.class, MR_MODE_BITS);
    }

    @Test
    void shouldHaveAllOnesForSpecialAddresses() {
        assertEquals(~0L, FabricAddress.ADDR_UNSPEC);
        assertEquals(~0L, FabricAddress.ADDR_NOTAVAIL);
        assertEquals(~0L, FabricAddress.KEY_NOTAVAIL);
        assertEquals(~0L, FabricAddress.SHARED_CONTEXT);
        assertEquals(~0L, FabricAddress.ORDER_SIZE_UNLIMITED);
        assertEquals(~0L, FabricAddress.BUFFERED_LIMIT_MAX);
        for (int bit = 0; bit < Long.SIZE; bit++) {
            assertEquals(bit % 2, (FabricAddress.TAG_FORMAT_GENERIC >>> bit) & 1, "bit " + bit);
        }
    }

    @Test
    void shouldNameAReusedBitByTheKindOfItsWord() {
        long bit59 = 1L << 59;
        assertEquals("CLAIM", Flags.toString(bit59, Flags.Kind.OPERATION));
        assertEquals("CLAIM", Flags.toString(bit59, Flags.Kind.COMPLETION));
        assertEquals("DIRECTED_RECV", Flags.toString(bit59, Flags.Kind.CAPABILITY));
        assertEquals("SELECTIVE_COMPLETION", Flags.toString(bit59, Flags.Kind.CQ_BIND));
        assertEquals("SYMMETRIC", Flags.toString(bit59, Flags.Kind.AV_OPEN));
        assertEquals("REG_MR", Flags.toString(bit59, Flags.Kind.DOMAIN_BIND));
        assertEquals("COMPARE_ATOMIC", Flags.toString(bit59, Flags.Kind.ATOMIC_QUERY));
        assertEquals("CONTEXT", Mode.toString(bit59));

        long bit11 = 1L << 11;
        assertEquals("TRANSMIT", Flags.toString(bit11, Flags.Kind.CQ_BIND));
        assertEquals("SEND", Flags.toString(bit11, Flags.Kind.COUNTER_BIND));
        assertEquals("SEND", Flags.toString(bit11, Flags.Kind.COMPLETION));

        long bit24 = 1L << 24;
        assertEquals("COMPLETION", Flags.toString(bit24, Flags.Kind.OPERATION));
        assertEquals("EVENT", Flags.toString(bit24, Flags.Kind.AV_OPEN));
    }

    @Test
    void shouldJoinNamesAndShowUndefinedBitsByNumber() {
        assertEquals("0", Flags.toString(0, Flags.Kind.COMPLETION));
        assertEquals("TAGGED|RECV|REMOTE_CQ_DATA",
            Flags.toString(1L << 3 | 1L << 10 | 1L << 17, Flags.Kind.COMPLETION));
        assertEquals("RECV|bit62?", Flags.toString(1L << 10 | 1L << 62, Flags.Kind.CQ_BIND));
        assertEquals("bit63?", Flags.toString(Long.MIN_VALUE, Flags.Kind.OPERATION));
        assertEquals("SAS|DATA", Order.toString(1L << 8 | 1L << 16));
        assertEquals("bit0?|VIRT_ADDR", MrMode.toString(1L << 4 | 1L));
    }

    @Test
    void shouldKnowWhichBitsAWordMayHave() {
        assertEquals(1L << 29, Flags.mask(Flags.Kind.CQ_OPEN));
        assertEquals(1L << 10 | 1L << 11 | 1L << 59, Flags.mask(Flags.Kind.CQ_BIND));
        assertEquals(0b11_1111L << 8, Flags.mask(Flags.Kind.COUNTER_BIND));
        assertEquals(1L << 10 | 1L << 11,
            Flags.mask(Flags.Kind.OPERATION_DEFAULT) & ~Flags.mask(Flags.Kind.OPERATION),
            "defaults differ from operation flags by the direction");
        for (Flags.Kind kind : Flags.Kind.values()) {
            long mask = Flags.mask(kind);
            assertTrue(mask != 0, kind + " has no flags");
            assertEquals(-1, Flags.toString(mask, kind).indexOf('?'), kind + " has a bit without a name");
        }
    }
}
