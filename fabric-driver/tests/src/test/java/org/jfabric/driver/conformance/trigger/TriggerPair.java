package org.jfabric.driver.conformance.trigger;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Counter;
import org.jfabric.DeferredWork;
import org.jfabric.Endpoint;
import org.jfabric.ReceiveRequest;
import org.jfabric.SendRequest;
import org.jfabric.TriggeredContext;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.info.CounterAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.test.Deadline;

/** A pair whose endpoints have the capability TRIGGER, and a counter of the first application. */
final class TriggerPair implements AutoCloseable {
    static final long ANY = -1L;
    static final long CAPS = Flags.TAGGED | Flags.MSG | Flags.SOURCE | Flags.DIRECTED_RECV | Flags.TRIGGER;
    static final int QUIET = 200;

    final FabricPair pair;
    final FabricNode a;
    final FabricNode b;
    final long toA;
    final long toB;
    /** Starts what the tests post. */
    final Counter counter;
    final TriggeredContext trigger = new TriggeredContext();
    final DeferredWork work = new DeferredWork();
    private final UnsafeBuffer bytes;
    private final SendRequest send = new SendRequest();
    private final ReceiveRequest receive = new ReceiveRequest();

    TriggerPair(Setup setup) {
        this(new FabricPair(setup, new Info().caps(CAPS), 512));
    }

    TriggerPair(Setup setup, long moreCaps) {
        this(new FabricPair(setup, new Info().caps(CAPS | moreCaps), 512));
    }

    TriggerPair(FabricPair pair) {
        this.pair = pair;
        a = pair.a;
        b = pair.b;
        bytes = a.memory.buffer();
        toA = pair.toA;
        toB = pair.toB;
        counter = a.domain.openCounter(new CounterAttr());
    }

    /** A tagged message of 8 bytes, a word of the first application's memory. */
    SendRequest message(int word, long tag, long context) {
        bytes.putLong(8 * word, tag);
        return send.clear().memory(a.memory.address(8L * word), 8).destAddr(toB).tag(tag).opContext(context);
    }

    ReceiveRequest receive(int word, long tag, long context) {
        return receive.clear().memory(a.memory.address(8L * word), 8).tag(tag).opContext(context);
    }

    /** Posts a message that starts at a value of the counter. */
    int sendAt(long threshold, long tag, long context) {
        return a.endpoint.messages().tsendmsg(
            message((int) tag, tag, context).trigger(trigger.threshold(counter, threshold)));
    }

    /** Posts receives for any message at the second application. */
    void expect(int messages) {
        for (int i = 0; i < messages; i++) {
            assertEquals(0, b.endpoint.trecv(b.memory.address(8L * i), 8, ANY, 0, -1L, 1000 + i));
        }
    }

    /** The tag of the next message at the second application. */
    long nextTag() {
        long deadline = System.nanoTime() + Deadline.ns(20);
        FabricNode.Entry entry = null;
        while (entry == null) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("no message");
            }
            // an embedded driver of the sender makes progress only in its own calls
            counter.read();
            pair.pump();
            entry = b.poll();
        }
        assertEquals(0, entry.err());
        return entry.tag();
    }

    void quiet() {
        for (int i = 0; i < QUIET; i++) {
            a.assertQuiet(1);
            b.assertQuiet(1);
        }
    }

    /** Nothing else arrives at the second application, whatever ended at the first. */
    void quietEnd() {
        for (int i = 0; i < QUIET; i++) {
            a.poll();
            b.assertQuiet(1);
        }
    }

    void await(String what, BooleanSupplier condition, Supplier<?> state) {
        Deadline.await(what, () -> {
            pair.pump();
            counter.read();
            return condition.getAsBoolean();
        }, state);
    }

    void awaitValue(Counter awaited, long value) {
        await("value " + value, () -> awaited.read() == value, awaited::toString);
    }

    /** Counters are written behind the entries. */
    void awaitErrors(Counter awaited, long count) {
        await(count + " errors", () -> awaited.readErr() == count, awaited::toString);
    }

    void assertFailed(long context, int errno) {
        FabricNode.Entry entry = a.await();
        assertEquals(FabricErrno.name(errno), FabricErrno.name(entry.err()));
        assertEquals(context, entry.context());
    }

    /** An endpoint of the first application with counters. */
    Endpoint counted(Counter sends, Counter receives) {
        Endpoint endpoint = a.domain.openEndpoint(a.info);
        endpoint.bind(a.cq, Flags.TRANSMIT | Flags.RECV | Flags.SELECTIVE_COMPLETION);
        endpoint.bind(sends, Flags.SEND);
        endpoint.bind(receives, Flags.RECV);
        endpoint.bind(a.av);
        endpoint.enable();
        return endpoint;
    }

    @Override
    public void close() {
        pair.close();
    }
}
