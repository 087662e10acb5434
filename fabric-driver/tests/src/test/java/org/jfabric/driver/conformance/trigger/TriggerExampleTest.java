package org.jfabric.driver.conformance.trigger;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import org.jfabric.Counter;
import org.jfabric.DeferredWork;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.MemoryRegion;
import org.jfabric.SendRequest;
import org.jfabric.TriggeredContext;
import org.jfabric.driver.kit.ExamplePage;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.info.CounterAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The code of docs/triggered-operations.md: it compiles, it runs, and the page shows it as it is here. */
@Tag("conformance")
@Timeout(120)
class TriggerExampleTest {
    private static final long ANY = -1L;

    // example: hints
    static Info hints() {
        return new Info().caps(Flags.TAGGED | Flags.TRIGGER);
    }
    // end of example

    // example: send
    private final TriggeredContext trigger = new TriggeredContext();
    private final SendRequest request = new SendRequest();

    /** Sends 64 bytes of the memory when three messages were received, without a further call. */
    void answerThree(Endpoint endpoint, Counter received, MemoryRegion memory, long peer) {
        request.clear().memory(memory.address(), 64).destAddr(peer).tag(9).opContext(1)
            .trigger(trigger.threshold(received, received.read() + 3));
        check(endpoint.messages().tsendmsg(request));
    }
    // end of example

    // example: forward
    private final DeferredWork work = new DeferredWork();

    /**
     * Forwards the next message with tag 1 to a peer. The driver does it: the counter of the endpoint's receives starts
     * the send when the message is in the memory.
     */
    void forwardNext(
        Domain domain, Endpoint endpoint, Counter received, Counter forwarded, MemoryRegion memory, long peer) {
        long next = received.read() + 1;
        check(endpoint.trecv(memory.address(), 64, ANY, 1, 0, 2));
        request.clear().memory(memory.address(), 64).destAddr(peer).tag(2);
        work.clear().trigger(received, next).completionCounter(forwarded).tsend(endpoint, request);
        check(domain.queueWork(work));
    }
    // end of example

    // example: join
    /** Lets a counter advance by 1 when two others have reached their thresholds, in whatever order. */
    static void whenBoth(Domain domain, Counter first, Counter second, Counter steps, Counter both) {
        DeferredWork part = new DeferredWork();
        check(domain.queueWork(part.trigger(first, 1).counterAdd(steps, 1)));
        check(domain.queueWork(part.trigger(second, 1).counterAdd(steps, 1)));
        check(domain.queueWork(part.trigger(steps, 2).counterAdd(both, 1)));
    }
    // end of example

    // example: check
    static void check(int result) {
        if (result < 0) {
            throw new IllegalStateException(FabricErrno.describe(-result));
        }
    }
    // end of example

    @Tag("link")
    @ParameterizedTest(name = "{0}")
    @EnumSource(value = Setup.class, names = {"LOOPBACK_EMBEDDED", "LOOPBACK_DAEMON", "SHM_DAEMON"})
    void shouldAnswerForwardAndJoin(Setup setup) {
        try (TriggerPair pair = new TriggerPair(new FabricPair(setup, hints(), 64))) {
            FabricNode a = pair.a;
            FabricNode b = pair.b;
            Counter received = pair.counter;
            Counter sent = a.domain.openCounter(new CounterAttr());
            Counter forwarded = a.domain.openCounter(new CounterAttr());
            Endpoint endpoint = pair.counted(sent, received);
            long to = b.av.insert(endpoint.name());
            answerThree(endpoint, received, a.memory, pair.toB);
            assertEquals(0, b.endpoint.trecv(b.memory.address(), 64, ANY, 9, 0, 1));
            for (int i = 1; i <= 3; i++) {
                check(endpoint.trecv(a.memory.address(), 64, ANY, 5, 0, 1));
                b.fill(100, 64, i);
                check(b.endpoint.tsend(b.memory.address(100), 64, to, 5, 10 + i));
                pair.awaitValue(received, i);
            }
            for (int seen = 0; seen < 4; seen++) {
                pair.nextTag();
            }
            b.assertFilled(0, 64, 3);

            forwardNext(a.domain, endpoint, received, forwarded, a.memory, pair.toB);
            check(b.endpoint.trecv(b.memory.address(), 64, ANY, 2, 0, 1));
            b.fill(100, 64, 8);
            check(b.endpoint.tsend(b.memory.address(100), 64, to, 1, 20));
            pair.nextTag();
            pair.nextTag();
            b.assertFilled(0, 64, 8);
            pair.awaitValue(forwarded, 1);
            pair.awaitValue(sent, 1);

            Counter steps = a.domain.openCounter(new CounterAttr());
            Counter both = a.domain.openCounter(new CounterAttr());
            Counter first = a.domain.openCounter(new CounterAttr());
            whenBoth(a.domain, first, forwarded, steps, both);
            pair.awaitValue(steps, 1);
            assertEquals(0, both.read());
            first.add(1);
            pair.awaitValue(both, 1);
        }
    }

    @Test
    void shouldBeShownOnThePageAsItIsHere() throws IOException {
        ExamplePage.assertShows("docs/triggered-operations.md", TriggerExampleTest.class, 5);
    }
}
