package org.jfabric.driver.log;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

/**
 * The events in recordings of the Java runtime (JFR): one type of event for each group of kinds. While nothing records
 * an event costs one test. Any thread.
 */
final class RuntimeEvents implements EventSink {
    private static final String MODULE = "jdk.jfr";

    private RuntimeEvents() {
    }

    /** Returns null if the runtime has no recorder. */
    static EventSink openIfPresent() {
        return ModuleLayer.boot().findModule(MODULE).isPresent() ? new RuntimeEvents() : null;
    }

    @Override
    public void write(EventKind kind, long clientId, long objectId, long first, long second, String text) {
        // or the classes of the events would be loaded for nothing, at the first event of each type
        if (!FlightRecorder.isInitialized()) {
            return;
        }
        switch (kind) {
            case SLOW_CYCLE -> slowCycle(first, second);
            case CREDIT_WAIT_BEGAN, CREDIT_WAIT_ENDED -> creditWait(kind, clientId, objectId, first, second, text);
            case ERROR -> error(first, text);
            case PEER_UP, PEER_DOWN, PEER_BY_NEXT_LINK, CONNECTION_REQUESTED, CONNECTION_MADE, CONNECTION_FAILED,
                CONNECTION_ENDED -> connection(kind, clientId, objectId, first, text);
            case DRAIN_BEGAN, DRAIN_ENDED -> drain(kind, first);
            default -> object(kind, clientId, objectId, text);
        }
    }

    private static void slowCycle(long ns, long cycles) {
        SlowCycle event = new SlowCycle();
        if (event.shouldCommit()) {
            event.length = ns;
            event.cycles = cycles;
            event.commit();
        }
    }

    private static void creditWait(
        EventKind kind, long clientId, long objectId, long first, long second, String peer) {
        CreditWait event = new CreditWait();
        if (event.shouldCommit()) {
            boolean ended = kind == EventKind.CREDIT_WAIT_ENDED;
            event.kind = kind.text();
            event.client = clientId;
            event.endpoint = objectId;
            event.peer = peer;
            event.length = ended ? first : 0;
            event.sends = ended ? second : first;
            event.commit();
        }
    }

    private static void error(long errno, String text) {
        DriverError event = new DriverError();
        if (event.shouldCommit()) {
            event.errno = (int) errno;
            event.text = text;
            event.commit();
        }
    }

    private static void connection(EventKind kind, long clientId, long objectId, long first, String peer) {
        Connection event = new Connection();
        if (event.shouldCommit()) {
            event.kind = kind.text();
            event.client = clientId;
            event.endpoint = objectId;
            event.errno = kind.first().equals("errno") ? (int) first : 0;
            event.peer = peer;
            event.commit();
        }
    }

    private static void drain(EventKind kind, long first) {
        Drain event = new Drain();
        if (event.shouldCommit()) {
            event.kind = kind.text();
            event.sends = kind == EventKind.DRAIN_ENDED ? first : -1;
            event.commit();
        }
    }

    private static void object(EventKind kind, long clientId, long objectId, String text) {
        Lifecycle event = new Lifecycle();
        if (event.shouldCommit()) {
            event.kind = kind.text();
            event.client = clientId;
            event.object = objectId;
            event.text = text;
            event.commit();
        }
    }

    /** A duty cycle was slow. */
    @Name("jfabric.SlowCycle")
    @Label("Slow Duty Cycle")
    @Category("JFabric")
    @StackTrace(false)
    static final class SlowCycle extends Event {
        @Label("Length")
        @Timespan(Timespan.NANOSECONDS)
        private long length;
        @Label("Cycles")
        @Description("Cycles between the two reads of the clock")
        private long cycles;
    }

    /** Sends waited for a peer. */
    @Name("jfabric.CreditWait")
    @Label("Wait for Credit")
    @Category("JFabric")
    @StackTrace(false)
    static final class CreditWait extends Event {
        @Label("Kind")
        private String kind;
        @Label("Client")
        private long client;
        @Label("Endpoint")
        private long endpoint;
        @Label("Peer")
        private String peer;
        @Label("Length")
        @Timespan(Timespan.NANOSECONDS)
        private long length;
        @Label("Waiting Sends")
        private long sends;
    }

    /** The driver recorded an error. */
    @Name("jfabric.Error")
    @Label("Error")
    @Category("JFabric")
    @StackTrace(false)
    static final class DriverError extends Event {
        @Label("Error Number")
        private int errno;
        @Label("Text")
        private String text;
    }

    /** A peer or connection came or went. */
    @Name("jfabric.Connection")
    @Label("Connection")
    @Category("JFabric")
    @StackTrace(false)
    static final class Connection extends Event {
        @Label("Kind")
        private String kind;
        @Label("Client")
        private long client;
        @Label("Endpoint")
        private long endpoint;
        @Label("Error Number")
        private int errno;
        @Label("Peer")
        private String peer;
    }

    /** A tool drains the driver. */
    @Name("jfabric.Drain")
    @Label("Drain")
    @Category("JFabric")
    @StackTrace(false)
    static final class Drain extends Event {
        @Label("Kind")
        private String kind;
        @Label("Outstanding Sends")
        @Description("At the end; -1 at the begin")
        private long sends;
    }

    /** Driver, client or endpoint came or went. */
    @Name("jfabric.Lifecycle")
    @Label("Lifecycle")
    @Category("JFabric")
    @StackTrace(false)
    static final class Lifecycle extends Event {
        @Label("Kind")
        private String kind;
        @Label("Client")
        private long client;
        @Label("Object")
        private long object;
        @Label("Text")
        private String text;
    }
}
