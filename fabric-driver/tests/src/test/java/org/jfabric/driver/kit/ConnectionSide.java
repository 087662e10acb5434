package org.jfabric.driver.kit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntSupplier;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.CompletionError;
import org.jfabric.CompletionQueue;
import org.jfabric.ConnectionRequest;
import org.jfabric.Endpoint;
import org.jfabric.EventEntry;
import org.jfabric.EventError;
import org.jfabric.EventQueue;
import org.jfabric.PassiveEndpoint;
import org.jfabric.info.CompletionFormat;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.EndpointType;
import org.jfabric.info.EventQueueAttr;
import org.jfabric.info.EventType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.test.Deadline;

/** What one application needs for connections, besides the objects of a {@link FabricNode}: goes with its fabric. */
public final class ConnectionSide {
    public static final byte[] NONE = {};
    private static final long DEADLINE_NS = Deadline.ns(20);
    /** Looks without a pause; an embedded pair has mostly what it needs after them. */
    private static final int BUSY_TRIES = 16;
    private static final long PAUSE_NS = TimeUnit.MICROSECONDS.toNanos(50);

    public final FabricNode node;
    public final Info info;
    public final EventQueue events;
    public final CompletionQueue cq;
    private final FabricPair pair;
    private final UnsafeBuffer entry = new UnsafeBuffer(new byte[48]);

    /** An event, or an error with its data. */
    public record Event(EventType type, Object fid, Info info, long context, long data, int err, byte[] bytes) {
        public String text() {
            return new String(bytes, StandardCharsets.US_ASCII);
        }

        public ConnectionRequest request() {
            return assertInstanceOf(ConnectionRequest.class, info.handle());
        }
    }

    /** A completion; err is 0 for success. */
    public record Entry(long context, long flags, long len, long data, long tag, int err) {
    }

    public ConnectionSide(FabricPair pair, FabricNode node) {
        this(pair, node, hints());
    }

    public ConnectionSide(FabricPair pair, FabricNode node, Info hints) {
        this(pair, node, hints, 1024);
    }

    /** With an event queue of that many entries. */
    public ConnectionSide(FabricPair pair, FabricNode node, Info hints, int eventQueueSize) {
        this.pair = pair;
        this.node = node;
        pair.setup.assumeCarried(hints);
        info = node.fabric.info(hints.copy().linkName(pair.setup.connectedLink())).best();
        events = node.fabric.openEventQueue(new EventQueueAttr().size(eventQueueSize));
        cq = node.domain.openCompletionQueue(
            new CompletionQueueAttr().size(512).format(CompletionFormat.TAGGED));
    }

    public static Info hints() {
        Info hints = new Info().caps(Flags.MSG | Flags.TAGGED);
        hints.epAttr().type(EndpointType.MSG);
        return hints;
    }

    /** An address that this application's driver can give and nobody has; with that name where names are chosen. */
    public String freeAddress(String name) {
        if (!pair.setup.isForeign()) {
            return "jfabric://" + node.fabric.driverName() + '/' + name;
        }
        PassiveEndpoint probe = node.fabric.openPassiveEndpoint(info);
        String address = probe.name();
        probe.close();
        return address;
    }

    /** A passive endpoint that listens; a negative backlog is the driver's. */
    public PassiveEndpoint listen(int backlog) {
        PassiveEndpoint passive = node.fabric.openPassiveEndpoint(info, 0x9E9);
        passive.bind(events, 0);
        if (backlog >= 0) {
            passive.setBacklog(backlog);
        }
        passive.listen();
        return passive;
    }

    /** An endpoint with queues that is not enabled. */
    public Endpoint open(Info with, long context) {
        Endpoint endpoint = node.domain.openEndpoint(with, context);
        endpoint.bind(cq, Flags.TRANSMIT | Flags.RECV);
        endpoint.bind(events, 0);
        return endpoint;
    }

    public Endpoint open(long context) {
        return open(info, context);
    }

    /** The next event or error. */
    public Event next() {
        EventEntry event = new EventEntry();
        int result = await("no event in " + events, () -> events.read(event, 0));
        if (result == -FabricErrno.EAVAIL) {
            EventError error = new EventError();
            assertEquals(1, events.readErr(error, 0));
            return new Event(
                null, error.fid(), null, error.context(), error.data(), error.err(), copy(error.errData()));
        }
        assertEquals(1, result, () -> FabricErrno.name(result));
        return new Event(
            event.type(), event.fid(), event.info(), event.context(), event.data(), 0, copy(event.bytes()));
    }

    public Event next(EventType type, Object fid) {
        Event event = next();
        assertEquals(type, event.type, () -> "got " + event + ", error " + FabricErrno.name(event.err));
        assertSame(fid, event.fid);
        return event;
    }

    /** The next entry must be an error of that object. */
    public Event nextError(int errno, Object fid) {
        Event event = next();
        assertEquals(FabricErrno.name(errno), FabricErrno.name(event.err), () -> "got " + event);
        assertSame(fid, event.fid);
        return event;
    }

    /** The next entries must be errors of these objects, in any order. */
    public void nextErrors(int errno, Object... fids) {
        Set<Object> left = Collections.newSetFromMap(new IdentityHashMap<>());
        Collections.addAll(left, fids);
        while (!left.isEmpty()) {
            Event event = next();
            assertEquals(FabricErrno.name(errno), FabricErrno.name(event.err), () -> "got " + event);
            assertTrue(left.remove(event.fid), () -> "got " + event);
        }
    }

    /**
     * Asks for a connection where nobody listens any more, until that is refused. A process that another test starts
     * has the closed listening socket for a moment, too: the system then takes the connection and resets it.
     */
    public void connectInVain(Endpoint asking, String name) {
        Deadline deadline = Deadline.usual();
        Event event;
        do {
            deadline.check("a refusal", asking::toString);
            asking.connect(name);
            event = next();
            assertSame(asking, event.fid);
        } while (event.err == FabricErrno.ECONNRESET);
        assertEquals(FabricErrno.name(FabricErrno.ECONNREFUSED), FabricErrno.name(event.err));
    }

    /** Nothing comes in many rounds. */
    public void assertNoEvent(int rounds) {
        EventEntry event = new EventEntry();
        for (int i = 0; i < rounds; i++) {
            int result = events.read(event, 0);
            assertEquals(-FabricErrno.EAGAIN, result, () -> "got " + event);
            pair.pump();
            Thread.yield();
        }
    }

    public Entry poll() {
        int read = cq.read(entry, 0, 1);
        if (read == 1) {
            return new Entry(
                entry.getLong(0), entry.getLong(8), entry.getLong(16), entry.getLong(32), entry.getLong(40), 0);
        }
        if (read == -FabricErrno.EAVAIL) {
            CompletionError error = new CompletionError();
            assertEquals(1, cq.readErr(error, 0));
            return new Entry(
                error.opContext(), error.flags(), error.len(), error.data(), error.tag(), error.err());
        }
        assertEquals(-FabricErrno.EAGAIN, read, () -> FabricErrno.name(read));
        return null;
    }

    /** The next completion. */
    public Entry completion() {
        Entry[] found = new Entry[1];
        await("no completion in " + cq, () -> {
            found[0] = poll();
            return found[0] == null ? -FabricErrno.EAGAIN : 1;
        });
        return found[0];
    }

    /** The next completion, which must be that context's success. */
    public Entry completion(long context) {
        Entry next = completion();
        assertEquals(0, next.err, () -> "got " + next);
        assertEquals(context, next.context, () -> "got " + next);
        return next;
    }

    private int await(String what, IntSupplier call) {
        long deadline = System.nanoTime() + DEADLINE_NS;
        int result;
        int tries = 0;
        while ((result = call.getAsInt()) == -FabricErrno.EAGAIN) {
            assertTrue(System.nanoTime() - deadline < 0, what);
            pair.pump();
            if (++tries > BUSY_TRIES) {
                // who yields to a busy process waits for its whole time slice, who sleeps a little does not
                LockSupport.parkNanos(PAUSE_NS);
            }
        }
        return result;
    }

    public static UnsafeBuffer bytes(String text) {
        return new UnsafeBuffer(text.getBytes(StandardCharsets.US_ASCII));
    }

    private static byte[] copy(DirectBuffer bytes) {
        byte[] copy = new byte[bytes.capacity()];
        bytes.getBytes(0, copy);
        return copy;
    }
}
