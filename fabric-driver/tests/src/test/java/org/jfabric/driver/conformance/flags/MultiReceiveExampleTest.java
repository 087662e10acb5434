package org.jfabric.driver.conformance.flags;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.AddressVector;
import org.jfabric.Completion;
import org.jfabric.CompletionError;
import org.jfabric.CompletionHandler;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.Fabric;
import org.jfabric.MemoryRegion;
import org.jfabric.driver.kit.ExamplePage;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionFormat;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.EndpointOption;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** The code of docs/multi-receive.md: it compiles, it runs, and the page shows it as it is here. */
@Tag("conformance")
@Timeout(120)
class MultiReceiveExampleTest {

    private final List<String> said = new ArrayList<>();

    private Endpoint open(Fabric fabric, String link) {
        // example: open
        Info hints = new Info().caps(Flags.MSG | Flags.MULTI_RECV).linkName(link);
        hints.rxAttr().opFlags(Flags.MULTI_RECV);
        Info info = fabric.info(hints).best();
        Domain domain = fabric.domain(info);
        memory = domain.allocate(BUFFERS * BUFFER_BYTES);
        bytes = memory.buffer();
        completions = domain.openCompletionQueue(
            new CompletionQueueAttr().size(256).format(CompletionFormat.DATA));
        AddressVector peers = domain.openAddressVector(new AddressVectorAttr());

        Endpoint endpoint = domain.openEndpoint(info);
        endpoint.bind(completions, Flags.TRANSMIT | Flags.RECV);
        endpoint.bind(peers);
        endpoint.setopt(EndpointOption.MIN_MULTI_RECV, LONGEST_MESSAGE);
        endpoint.enable();
        for (int buffer = 0; buffer < BUFFERS; buffer++) {
            post(endpoint, buffer);
        }
        // end of example
        return endpoint;
    }

    // example: receive
    private static final int BUFFERS = 2;
    private static final int BUFFER_BYTES = 1024;
    private static final int LONGEST_MESSAGE = 256;

    private final CompletionHandler handler = this::onEntry;
    private final CompletionError error = new CompletionError();
    private MemoryRegion memory;
    private UnsafeBuffer bytes;
    private CompletionQueue completions;
    private Endpoint endpoint;

    private void post(Endpoint to, int buffer) {
        int result = to.recv(memory.address((long) buffer * BUFFER_BYTES), BUFFER_BYTES,
            FabricAddress.ADDR_UNSPEC, buffer);
        assert result == 0 : FabricErrno.name(result);
    }

    private void receive() {
        int result = completions.poll(handler, 16);
        if (result == -FabricErrno.EAVAIL && completions.readErr(error, 0) == 1) {
            say("lost: " + completions.strerror(error.provErrno()));
        }
    }

    private void onEntry(Completion entry) {
        if (entry.flags() == Flags.MULTI_RECV) {
            // all its messages were shown, and nothing comes into it any more
            post(endpoint, (int) entry.opContext());
        } else if ((entry.flags() & Flags.RECV) != 0) {
            onMessage(bytes, (int) (entry.buf() - memory.address()), (int) entry.len());
        }
    }
    // end of example

    private void onMessage(DirectBuffer buffer, int offset, int length) {
        said.add(buffer.getStringWithoutLengthAscii(offset, length));
    }

    private void say(String text) {
        said.add(text);
    }

    @Tag("link")
    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldRunAsThePageSays(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            endpoint = open(pair.b.fabric, setup.link);
            long to = pair.a.av.insert(endpoint.name());
            List<String> sent = new ArrayList<>();
            for (int i = 0; i < 40; i++) {
                String text = "message " + i + " " + "x".repeat(i * 6);
                sent.add(text);
                pair.a.memory.buffer().putStringWithoutLengthAscii(i * LONGEST_MESSAGE, text);
                while (pair.a.endpoint.send(
                    pair.a.memory.address((long) i * LONGEST_MESSAGE), text.length(), to, i) != 0) {
                    pair.a.poll();
                    receive();
                }
            }
            long deadlineNs = System.nanoTime() + Deadline.ns(20);
            while (said.size() < sent.size()) {
                receive();
                pair.a.poll();
                Thread.yield();
                assertTrue(System.nanoTime() - deadlineNs < 0, () -> "" + said);
            }
            assertEquals(sent, said);
        }
    }

    @Test
    void shouldBeShownOnThePageAsItIsHere() throws IOException {
        ExamplePage.assertShows("docs/multi-receive.md", MultiReceiveExampleTest.class, 2);
    }
}
