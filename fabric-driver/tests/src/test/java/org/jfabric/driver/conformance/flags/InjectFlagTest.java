package org.jfabric.driver.conformance.flags;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Endpoint;
import org.jfabric.IoVec;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** {@code FI_INJECT} as a flag of a call or of all sends, and injects with remote data. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
class InjectFlagTest {
    private static final long ANY = -1L;
    private static final int RECEIVE = 1 << 20;
    /** Enough to use up what the peer lets go at once, so that what follows waits in the driver. */
    private static final int SENDS = 110;
    private static final int SEND_LENGTH = 8192;
    private static final int TAG = 1000;

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"TAG-041", "TAG-042"})
    void shouldGiveTheMemoryBackAtTheReturnAndWriteAnEntry(Setup setup) {
        setup.assumeDeliveryBeforeMatch();
        try (FabricPair pair = new FabricPair(setup)) {
            int limit = pair.a.endpoint.injectSize();
            holdBack(pair);
            for (int i = 0; i < 20; i++) {
                int length = i == 0 ? limit : i * 6;
                pair.a.fill(RECEIVE, length, i);
                assertEquals(0, send(pair, i, length, Flags.INJECT | (i % 3 == 0 ? Flags.DELIVERY_COMPLETE : 0)));
                pair.a.memory.buffer(RECEIVE, limit).setMemory(0, limit, (byte) 0xEE);
            }
            release(pair);
            for (int i = 19; i >= 0; i--) {
                int length = i == 0 ? limit : i * 6;
                assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(RECEIVE), limit, ANY, TAG + i, 0, i));
                assertEquals(length, pair.b.await(i).len());
                pair.b.assertFilled(RECEIVE, length, i);
            }
            long contexts = 0;
            for (int i = 0; i < 20 + SENDS; i++) {
                FabricNode.Entry entry = pair.a.await();
                assertEquals(0, entry.err());
                contexts += entry.context();
            }
            assertEquals(20 * TAG + 190 + SENDS * (SENDS - 1) / 2, contexts);
            pair.a.assertQuiet(20);
        }
    }

    /** In one piece and in several. */
    private static int send(FabricPair pair, int i, int length, long flags) {
        long buf = pair.a.memory.address(RECEIVE);
        if (i % 2 == 0) {
            return pair.a.endpoint.messages().tsendmsg(buf, length, 0, pair.toB, TAG + i, TAG + i, flags);
        }
        IoVec iov = new IoVec().add(buf, 1).add(buf + 1, length - 3).add(buf + length - 2, 2);
        return pair.a.endpoint.messages().tsendmsg(iov, 0, pair.toB, TAG + i, TAG + i, flags);
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"TAG-042", "OPF-008"})
    void shouldRefuseMoreThanTheInjectSize(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            Endpoint endpoint = pair.a.endpoint;
            int limit = endpoint.injectSize();
            assertEquals(pair.a.info.txAttr().injectSize(), limit);
            long buf = pair.a.memory.address();
            IoVec iov = new IoVec().add(buf, limit).add(buf, 1);
            assertEquals(-FabricErrno.EINVAL, endpoint.messages().tsendmsg(
                buf, limit + 1, 0, pair.toB, 1, 1, Flags.INJECT));
            assertEquals(-FabricErrno.EINVAL, endpoint.messages().tsendmsg(iov, 0, pair.toB, 1, 1, Flags.INJECT));
            assertEquals(-FabricErrno.EINVAL, endpoint.messages().sendmsg(iov, 0, pair.toB, 1, Flags.INJECT));
            endpoint.setOpFlags(Flags.TRANSMIT | Flags.INJECT);
            assertEquals(-FabricErrno.EINVAL, endpoint.tsend(buf, limit + 1, pair.toB, 1, 1));
            assertEquals(-FabricErrno.EINVAL, endpoint.messages().sendv(iov, pair.toB, 1));
            pair.a.assertQuiet(20);
            // as many as the endpoint may have outstanding, while nobody takes them
            UnsafeBuffer array = new UnsafeBuffer(new byte[limit]);
            int posted = 0;
            int result = 0;
            while (result == 0 && posted < 1_000_000) {
                result = endpoint.tinject(array, 0, limit, pair.toB, 1);
                posted += result == 0 ? 1 : 0;
            }
            assertEquals(-FabricErrno.EAGAIN, result);
            for (int i = 0; i < posted; i++) {
                assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), limit, ANY, 1, 0, i));
                pair.b.await(i);
                pair.a.assertQuiet(1);
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"OPF-007", "OPF-001"})
    void shouldGiveTheMemoryBackAtTheReturnByDefault(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            Endpoint endpoint = pair.a.endpoint;
            long buf = pair.a.memory.address(RECEIVE);
            holdBack(pair);
            endpoint.setOpFlags(Flags.TRANSMIT | Flags.INJECT);
            for (int i = 0; i < 5; i++) {
                pair.a.fill(RECEIVE, 64, i);
                assertEquals(0, switch (i) {
                    case 0 -> endpoint.tsend(buf, 64, pair.toB, TAG, TAG + i);
                    case 1 -> endpoint.send(buf, 64, pair.toB, TAG + i);
                    case 2 -> endpoint.messages().tsenddata(buf, 64, 7, pair.toB, TAG + i, TAG + i);
                    case 3 -> endpoint.messages().tsendv(
                        new IoVec().add(buf, 60).add(buf + 60, 4), pair.toB, TAG + i, TAG + i);
                    default -> endpoint.messages().sendv(new IoVec().add(buf, 60).add(buf + 60, 4), pair.toB, TAG + i);
                });
                pair.a.memory.buffer(RECEIVE, 64).setMemory(0, 64, (byte) 0xEE);
            }
            endpoint.setOpFlags(Flags.TRANSMIT);
            release(pair);
            for (int i : new int[] {2, 0, 3, 1, 4}) {
                assertEquals(0, i == 1 || i == 4 ? pair.b.endpoint.recv(pair.b.memory.address(), 64, ANY, i)
                    : pair.b.endpoint.trecv(pair.b.memory.address(), 64, ANY, TAG + i, 0, i));
                assertEquals(i == 2 ? 7 : 0, pair.b.await(i).data());
                pair.b.assertFilled(0, 64, i);
            }
            for (int i = 0; i < 5 + SENDS; i++) {
                assertEquals(0, pair.a.await().err());
            }
            pair.a.assertQuiet(20);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("TAG-030")
    void shouldInjectWithDataForThePeerOnly(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            int limit = pair.a.endpoint.injectSize();
            UnsafeBuffer array = new UnsafeBuffer(new byte[limit + 1]);
            for (int length : new int[] {0, 1, 40, limit}) {
                for (int i = 0; i < length; i++) {
                    array.putByte(i, FabricNode.pattern(length, i));
                }
                assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), limit, ANY, 9, 0, 1));
                assertEquals(0, pair.a.endpoint.messages().tinjectdata(array, 0, length, -length - 1L, pair.toB, 9));
                array.setMemory(0, limit, (byte) 0xEE);
                FabricNode.Entry entry = pair.b.await(1);
                assertEquals(length, entry.len());
                assertEquals(-length - 1L, entry.data());
                assertTrue((entry.flags() & Flags.REMOTE_CQ_DATA) != 0);
                pair.b.assertFilled(0, length, length);
            }
            assertEquals(-FabricErrno.EINVAL, pair.a.endpoint.messages().tinjectdata(
                array, 0, limit + 1, 1, pair.toB, 9));
            assertEquals(-FabricErrno.EINVAL, pair.a.endpoint.messages().tinjectdata(array, 2, limit, 1, pair.toB, 9));
            assertEquals(-FabricErrno.EINVAL, pair.a.endpoint.messages().injectdata(array, 0, 8, 1, ANY));
            pair.a.assertQuiet(20);
        }
    }

    private static void holdBack(FabricPair pair) {
        for (int i = 0; i < SENDS; i++) {
            assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), SEND_LENGTH, pair.toB, i, i));
        }
    }

    private static void release(FabricPair pair) {
        for (int i = 0; i < SENDS; i++) {
            assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), SEND_LENGTH, ANY, i, 0, i));
            pair.b.await(i);
        }
    }
}
