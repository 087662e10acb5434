package org.jfabric.driver.conformance.tagged;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jfabric.CompletionError;
import org.jfabric.CompletionQueue;
import org.jfabric.Endpoint;
import org.jfabric.MemoryRegion;
import org.jfabric.ReceiveRequest;
import org.jfabric.driver.kit.ExamplePage;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.PeekNode;
import org.jfabric.driver.kit.Setup;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The code of docs/tagged-messages.md: it compiles, it runs, and the page shows it as it is here. */
@Tag("conformance")
@Timeout(120)
class TaggedMessageExampleTest {

    private final List<String> said = new ArrayList<>();

    // example: match
    /** The upper half of the tag is the kind of message, the lower half a number. */
    static final long NUMBER = 0xFFFF_FFFFL;
    /** Used again and again, by one thread. */
    static final ReceiveRequest BY_NAME = new ReceiveRequest();

    static long tag(int kind, int number) {
        return (long) kind << 32 | number & NUMBER;
    }

    static void post(Endpoint endpoint, MemoryRegion memory, long venue) {
        // one message with exactly this tag
        check(endpoint.trecv(memory.address(0), 256, FabricAddress.ADDR_UNSPEC, tag(1, 42), 0, 101));
        // any message of kind 2
        check(endpoint.trecv(memory.address(256), 256, FabricAddress.ADDR_UNSPEC, tag(2, 0), NUMBER, 102));
        // any message of this peer; the endpoint was opened with Flags.DIRECTED_RECV
        check(endpoint.messages().trecvmsg(
            BY_NAME.clear().memory(memory.address(512), 256).srcAddr(venue).ignore(-1L).opContext(103)));
    }
    // end of example

    // example: peek
    /** Receives the oldest message of a kind at the start of the memory; its length, or -1 if there is none. */
    static long receive(Endpoint endpoint, CompletionQueue queue, MemoryRegion memory, int kind, long context) {
        // one entry is the answer in any case: a success or FI_ENOMSG
        check(endpoint.messages().trecvmsg(0, 0, FabricAddress.ADDR_UNSPEC, tag(kind, 0), NUMBER, context,
            Flags.PEEK | Flags.CLAIM));
        long[] length = {-1};
        if (next(queue, length) == FabricErrno.ENOMSG) {
            return -1;
        }
        // the length is known before there is a buffer, and no other receive takes the message meanwhile; the context
        // identifies it, so tag and source do not matter
        check(endpoint.messages().trecvmsg(
            memory.address(0), length[0], FabricAddress.ADDR_UNSPEC, 0, 0, context, Flags.CLAIM));
        check(-next(queue, length));
        return length[0];
    }
    // end of example

    // example: discard
    /** Drops all messages of a kind that have arrived. */
    static int drop(Endpoint endpoint, CompletionQueue queue, int kind, long context) {
        for (int dropped = 0;; dropped++) {
            check(endpoint.messages().trecvmsg(0, 0, FabricAddress.ADDR_UNSPEC, tag(kind, 0), NUMBER, context,
                Flags.PEEK | Flags.DISCARD));
            if (next(queue, new long[1]) == FabricErrno.ENOMSG) {
                return dropped;
            }
        }
    }
    // end of example

    // example: next
    /** Reads one entry, notes its length, and returns 0 or the error of the operation. */
    static int next(CompletionQueue queue, long[] length) {
        int read;
        do {
            read = queue.poll(entry -> length[0] = entry.len(), 1);
        } while (read == 0 || read == -FabricErrno.EAGAIN);
        if (read == -FabricErrno.EAVAIL) {
            CompletionError error = new CompletionError();
            queue.readErr(error, 0);
            return error.err();
        }
        check(Math.min(read, 0));
        return 0;
    }

    static void check(int result) {
        if (result < 0) {
            throw new IllegalStateException(FabricErrno.describe(-result));
        }
    }
    // end of example

    @Tag("link")
    @ParameterizedTest(name = "{0}")
    @EnumSource(value = Setup.class, names = {"LOOPBACK_EMBEDDED", "SHM_DAEMON"})
    void shouldMatchPeekAndDiscard(Setup setup) {
        try (FabricPair pair = new FabricPair(setup); PeekNode node = new PeekNode(pair)) {
            post(node.endpoint, pair.b.memory, node.source);
            for (long tag : new long[] {tag(2, 7), tag(1, 42), tag(3, 9)}) {
                node.send(tag, 100, 1);
                said.add(node.await().context() + " has " + Long.toHexString(tag));
            }
            assertEquals(List.of("102 has 200000007", "101 has 10000002a", "103 has 300000009"), said);
            for (int i = 0; i < 5; i++) {
                node.send(tag(4 + i % 2, i), 100 + i, i);
            }
            node.find(tag(4, 4));
            assertEquals(101, receive(node.endpoint, node.queue, pair.b.memory, 5, 200));
            pair.b.assertFilled(0, 101, 1);
            assertEquals(3, drop(node.endpoint, node.queue, 4, 201));
            assertEquals(1, drop(node.endpoint, node.queue, 5, 202));
            assertEquals(-1, receive(node.endpoint, node.queue, pair.b.memory, 5, 200));
        }
    }

    @Test
    void shouldBeShownOnThePageAsItIsHere() throws IOException {
        ExamplePage.assertShows("docs/tagged-messages.md", TaggedMessageExampleTest.class, 4);
    }
}
