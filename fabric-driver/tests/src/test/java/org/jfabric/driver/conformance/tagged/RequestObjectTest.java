package org.jfabric.driver.conformance.tagged;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.jfabric.IoVec;
import org.jfabric.ReceiveRequest;
import org.jfabric.SendRequest;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** Arguments that are set by name come where they belong. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
class RequestObjectTest {
    private static final int RECEIVE = 1 << 20;
    private static final int LENGTH = 40;

    private final SendRequest send = new SendRequest();
    private final ReceiveRequest receive = new ReceiveRequest();

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    void shouldPostTaggedMessages(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            pair.a.fill(0, LENGTH, 3);
            assertEquals(0, pair.b.endpoint.messages().trecvmsg(
                receive.memory(pair.b.memory.address(RECEIVE), LENGTH).tag(0x70)
                .ignore(0xF).opContext(11).flags(Flags.COMPLETION)));
            send.memory(pair.a.memory.address(), LENGTH).destAddr(pair.toB).tag(0x75).remoteCqData(9).opContext(12);
            assertEquals(0, pair.a.endpoint.messages().tsendmsg(send));
            FabricNode.Entry entry = pair.b.await(11);
            assertEquals(0x75, entry.tag());
            assertEquals(9, entry.data());
            assertEquals(Flags.REMOTE_CQ_DATA, entry.flags() & Flags.REMOTE_CQ_DATA);
            pair.b.assertFilled(RECEIVE, LENGTH, 3);
            pair.a.await(12);
            // without data again only after a clear; 0 is data too
            assertEquals(Flags.REMOTE_CQ_DATA, flagsOfNext(pair, send.remoteCqData(0)));
            assertEquals(0, flagsOfNext(pair,
                send.clear().memory(pair.a.memory.address(), LENGTH).destAddr(pair.toB).tag(0x75).opContext(12)));
        }
    }

    private long flagsOfNext(FabricPair pair, SendRequest request) {
        assertEquals(0, pair.b.endpoint.messages().trecvmsg(receive));
        assertEquals(0, pair.a.endpoint.messages().tsendmsg(request));
        FabricNode.Entry entry = pair.b.await(11);
        assertEquals(0, entry.data());
        pair.a.await(12);
        return entry.flags() & Flags.REMOTE_CQ_DATA;
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    void shouldPostUntaggedMessagesOfSeveralPieces(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            pair.a.fill(0, LENGTH, 5);
            long from = pair.a.memory.address();
            long to = pair.b.memory.address(RECEIVE);
            receive.memory(new IoVec().add(to, 1).add(to + 1, LENGTH - 1)).opContext(21);
            assertEquals(0, pair.b.endpoint.messages().recvmsg(receive));
            send.memory(new IoVec().add(from, LENGTH - 1).add(from + LENGTH - 1, 1)).destAddr(pair.toB).opContext(22);
            assertEquals(0, pair.a.endpoint.messages().sendmsg(send));
            assertEquals(0, pair.b.await(21).flags() & Flags.REMOTE_CQ_DATA);
            pair.b.assertFilled(RECEIVE, LENGTH, 5);
            pair.a.await(22);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    void shouldForgetWhatWasSetAndRefuseNull(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            send.memory(pair.a.memory.address(), 8).destAddr(pair.toB).remoteCqData(1).flags(Flags.MULTI_RECV);
            assertEquals(-FabricErrno.EBADFLAGS, pair.a.endpoint.messages().tsendmsg(send));
            assertEquals(-FabricErrno.EINVAL, pair.a.endpoint.messages().tsendmsg(send.clear()), "no destination");
            assertEquals(-FabricErrno.EINVAL, pair.a.endpoint.messages().sendmsg((SendRequest) null));
            assertEquals(-FabricErrno.EINVAL, pair.a.endpoint.messages().recvmsg((ReceiveRequest) null));
        }
    }
}
