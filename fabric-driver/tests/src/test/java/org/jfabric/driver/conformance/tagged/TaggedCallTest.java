package org.jfabric.driver.conformance.tagged;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.BitSet;
import java.util.List;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Mode;
import org.jfabric.info.MrMode;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** Arguments of tagged calls: buffers, their owners, and data for the peer's entry. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
class TaggedCallTest {
    private static final long ANY = -1L;
    private static final int LONG = 1 << 20;

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement("TAG-008")
    void shouldCompleteReceivesOfDifferentTagsInWhateverOrderTheirMessagesCome(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            int count = 20;
            for (int tag = 0; tag < count; tag++) {
                assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(tag * 64L), 64, ANY, tag, 0, tag));
            }
            BitSet seen = new BitSet();
            for (int tag = count - 1; tag >= 0; tag--) {
                pair.a.fill(tag * 64L, 64, tag);
                assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(tag * 64L), 64, pair.toB, tag, tag));
            }
            for (int i = 0; i < count; i++) {
                FabricNode.Entry entry = pair.b.await();
                assertEquals(0, entry.err());
                assertEquals(entry.context(), entry.tag());
                seen.set((int) entry.context());
                pair.b.assertFilled(entry.tag() * 64, 64, (int) entry.tag());
            }
            assertEquals(count, seen.cardinality());
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement("TAG-010")
    void shouldReturnBeforeOperationsEnd(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            assertTrue((pair.a.info.caps() & Flags.TAGGED) != 0);
            assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), LONG, ANY, 2, 0, 1));
            pair.b.assertQuiet(50);
            int length = setup.heldLength();
            assertEquals(0, pair.a.endpoint.messages().tsendmsg(
                pair.a.memory.address(), length, 0, pair.toB, 1, 2, setup.heldFlags()));
            pair.a.assertQuiet(50);
            assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), length, ANY, 1, 0, 3));
            pair.b.await(3);
            pair.a.await(2);
        }
    }

    /** Local memory has to be registered, which discovery says; its address names the region, so no call has a desc. */
    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement("TAG-011")
    void shouldRefuseMemoryThatIsNotRegisteredAndSaySoBefore(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            Info hints = new Info().caps(Flags.TAGGED);
            for (long able : new long[] {0, MrMode.LOCAL, MrMode.LOCAL | MrMode.VIRT_ADDR | MrMode.ALLOCATED, -1L}) {
                hints.domainAttr().mrMode(able);
                List<Info> offers = pair.a.fabric.info(hints).matches();
                assertFalse(offers.isEmpty(), hints::toString);
                for (Info offer : offers) {
                    assertEquals(MrMode.LOCAL, offer.domainAttr().mrMode(), "only what is needed");
                }
            }
            // an application that cannot register local memory finds no link
            for (long unable : new long[] {MrMode.VIRT_ADDR, MrMode.ALLOCATED | MrMode.PROV_KEY, ~MrMode.LOCAL}) {
                hints.domainAttr().mrMode(unable);
                assertEquals(List.of(), pair.a.fabric.info(hints).matches());
                assertTrue(pair.a.fabric.info(hints).explain().contains("domain_attr.mr_mode: seen LOCAL, needed "),
                    () -> pair.a.fabric.info(hints).explain());
            }
            // the form of API versions below 1.5
            hints.mode(Mode.LOCAL_MR).domainAttr().mrMode(MrMode.VIRT_ADDR);
            assertEquals(0, pair.a.fabric.info(hints).best().mode());
            assertEquals(0, pair.a.memory.desc());
            pair.assertTransfers(pair.a.endpoint);
            assertEquals(0, pair.a.endpoint.tsend(4096, 8, pair.toB, 1, 5));
            FabricNode.Entry refused = pair.a.await();
            assertEquals(5, refused.context());
            assertEquals(FabricErrno.EFAULT, refused.err());
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement("TAG-016")
    void shouldOwnAReceiveBufferUntilItsEntryAndNotLonger(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            for (int length : new int[] {8, 4000, 100_000}) {
                pair.b.memory.buffer().setMemory(0, 2 * length, (byte) 0x55);
                assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), 2L * length, ANY, 1, 0, 1));
                // what the application writes meanwhile is lost
                pair.b.memory.buffer().setMemory(0, length, (byte) 0x66);
                pair.a.fill(0, length, length);
                assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), length, pair.toB, 1, 2));
                pair.b.await(1);
                pair.a.await(2);
                pair.b.assertFilled(0, length, length);
                for (int i = length; i < 2 * length; i++) {
                    assertEquals(0x55, pair.b.memory.buffer().getByte(i), "behind the message nothing is written");
                }
                // after the entry, here that of a cancel, it is the application's again
                assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), length, ANY, 2, 0, 3));
                assertEquals(0, pair.b.endpoint.cancel(3));
                assertEquals(FabricErrno.ECANCELED, pair.b.await().err());
                pair.b.memory.buffer().setMemory(0, length, (byte) 0x77);
                assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), length, pair.toB, 2, 4));
                pair.b.assertQuiet(100);
                assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(LONG), length, ANY, 2, 0, 5));
                pair.b.await(5);
                pair.a.await(4);
                for (int i = 0; i < length; i++) {
                    assertEquals(0x77, pair.b.memory.buffer().getByte(i));
                }
            }
        }
    }

    /** What is forbidden, and why: the driver reads a long message when it is taken. */
    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement("TAG-017")
    void shouldSendWhatIsInTheBufferWhenTheMessageIsTaken(Setup setup) {
        setup.assumeAnnouncements();
        try (FabricPair pair = new FabricPair(setup)) {
            pair.a.fill(0, LONG, 1);
            assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), LONG, pair.toB, 1, 1));
            pair.a.assertQuiet(50);
            pair.a.fill(0, LONG, 2);
            assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), LONG, ANY, 1, 0, 11));
            pair.b.await(11);
            pair.b.assertFilled(0, LONG, 2);
            pair.a.await(1);
            // after the completion, and after an inject at once, the buffer is free
            pair.a.fill(0, 64, 3);
            assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), 64, pair.toB, 2, 2));
            pair.a.await(2);
            pair.a.fill(0, 64, 4);
            assertEquals(0, pair.a.endpoint.tinject(pair.a.memory.buffer(), 0, 64, pair.toB, 3));
            pair.a.fill(0, 64, 5);
            for (int tag = 2; tag <= 3; tag++) {
                assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), 64, ANY, tag, 0, tag));
                pair.b.await(tag);
                pair.b.assertFilled(0, 64, tag + 1);
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement("TAG-031")
    void shouldCarryAsManyBytesOfDataAsTheDomainSays(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            long bytes = pair.a.info.domainAttr().cqDataSize();
            assertEquals(8, bytes, "a long has no more, so nothing can be too wide");
            Info hints = new Info().caps(Flags.TAGGED);
            hints.domainAttr().cqDataSize(bytes + 1);
            assertEquals(FabricErrno.ENODATA,
                assertThrows(FabricException.class, () -> pair.a.fabric.info(hints).best()).errno());
            long[] values = {0, 1, 0xFFFF_FFFFL, 0x1_0000_0000L, Long.MAX_VALUE, Long.MIN_VALUE, -1L};
            for (int length : new int[] {0, 64, 100_000}) {
                for (long data : values) {
                    assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), LONG, ANY, 1, 0, 1));
                    assertEquals(0, pair.a.endpoint.messages().tsenddata(
                        pair.a.memory.address(), length, data, pair.toB, 1, 2));
                    FabricNode.Entry entry = pair.b.await(1);
                    assertEquals(data, entry.data());
                    assertTrue((entry.flags() & Flags.REMOTE_CQ_DATA) != 0);
                    pair.a.await(2);
                }
            }
        }
    }
}
