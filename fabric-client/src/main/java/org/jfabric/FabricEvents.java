package org.jfabric;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jfabric.client.ClientConductor;
import org.jfabric.codec.control.ClientEnded;
import org.jfabric.codec.control.CompletionQueueOverrun;
import org.jfabric.codec.control.ConnectionEnded;
import org.jfabric.codec.control.ConnectionFailed;
import org.jfabric.codec.control.ConnectionMade;
import org.jfabric.codec.control.ConnectionRequested;
import org.jfabric.codec.control.ControlMessage.Event;
import org.jfabric.codec.control.DriverDraining;
import org.jfabric.codec.control.PeerDown;
import org.jfabric.info.EventType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * Hands events of the driver to the application; what its listener throws must not end the client's thread.
 *
 * <p>Owner: the client's thread, or the one that uses an embedded driver.
 */
final class FabricEvents implements ClientConductor.Listener {
    private static final byte[] NO_DATA = {};

    private final FabricListener listener;
    /** Enabled ones by the number that the driver gave; the live map. */
    private final Map<Long, Endpoint> endpoints;
    /** Enabled ones, those too that the next driver has not opened again; the live set. */
    private final Set<Endpoint> enabled;
    private final Children.Kind<EventQueue> eventQueues;
    private final Children.Kind<PassiveEndpoint> passiveEndpoints;
    private final Consumer<Runnable> lateAnswers;
    /** Null if the end of the driver is the end of the fabric. */
    private volatile Reconnection reconnection;
    /** Ends of drivers and returns, in their order; guarded by itself. */
    private final Deque<Runnable> changes = new ArrayDeque<>();
    /** Whether a thread takes them out; guarded by {@link #changes}. */
    private boolean delivers;

    FabricEvents(
        FabricListener listener, Map<Long, Endpoint> endpoints, Set<Endpoint> enabled,
        Children.Kind<EventQueue> eventQueues, Children.Kind<PassiveEndpoint> passiveEndpoints,
        Consumer<Runnable> lateAnswers) {
        this.listener = listener;
        this.endpoints = endpoints;
        this.enabled = enabled;
        this.eventQueues = eventQueues;
        this.passiveEndpoints = passiveEndpoints;
        this.lateAnswers = lateAnswers;
    }

    /** Before the first event. */
    void reconnection(Reconnection next) {
        reconnection = next;
    }

    @Override
    public boolean reconnects() {
        return reconnection != null;
    }

    @Override
    public void onLateAnswer(Runnable effect) {
        guarded(() -> lateAnswers.accept(effect));
    }

    @Override
    public void onDriverAway(FabricException why) {
        reconnection.begin(why);
    }

    /** The driver is gone, and the next one is awaited. */
    void onAway(FabricException why) {
        inOrder(() -> {
            // not the errno of the reason, which is another one for a driver that was drained or closed
            notifyEndpoints(FabricErrno.ENODEV);
            guarded(() -> listener.onDriverAway(why));
        });
    }

    /** Everything is open again. */
    void onReturned(List<KeyChange> keyChanges) {
        inOrder(() -> {
            for (KeyChange change : keyChanges) {
                guarded(() -> listener.onKeyChanged(change.region(), change.oldKey()));
            }
            notifyEndpoints(0);
            guarded(listener::onReconnected);
        });
    }

    /**
     * Delivers a change of the driver behind those before. A listener may be slow, and the next driver may end
     * meanwhile: the thread that is in the listener then delivers that too, and the one that waits for yet another
     * driver does not wait for the listener.
     */
    private void inOrder(Runnable change) {
        synchronized (changes) {
            changes.add(change);
            if (delivers) {
                return;
            }
            delivers = true;
        }
        for (Runnable next = nextChange(); next != null; next = nextChange()) {
            next.run();
        }
    }

    private Runnable nextChange() {
        synchronized (changes) {
            Runnable next = changes.poll();
            delivers = next != null;
            return next;
        }
    }

    /** A card has chosen another key. */
    record KeyChange(MemoryRegion region, long oldKey) {
    }

    private void notifyEndpoints(int errno) {
        for (Endpoint endpoint : enabled) {
            EventQueue queue = endpoint.bindings().eventQueue();
            if (queue != null) {
                guarded(() -> queue.report(EventType.NOTIFY, endpoint, null, errno, NO_DATA));
            }
        }
    }

    @Override
    public void onEvent(Event event) {
        switch (event) {
            case PeerDown down -> onPeerDown(down);
            case CompletionQueueOverrun overrun -> onCompletionQueueOverrun(overrun.cqId());
            case DriverDraining draining -> guarded(() -> listener.onDriverDraining(draining.begins() != 0));
            case ConnectionRequested requested -> {
                PassiveEndpoint passive = passiveEndpoints.find(requested.passiveId());
                if (passive != null) {
                    guarded(() -> passive.onRequest(requested));
                }
            }
            case ConnectionMade made -> {
                Endpoint endpoint = endpoints.get(made.endpointId());
                if (endpoint != null) {
                    endpoint.connection().onConnected(made);
                    guarded(() -> endpoint.bindings().eventQueue().report(
                        EventType.CONNECTED, endpoint, null, 0, made.cmData()));
                }
            }
            case ConnectionFailed failed -> onConnectionFailed(failed);
            case ConnectionEnded ended -> {
                Endpoint endpoint = endpoints.get(ended.endpointId());
                if (endpoint != null && endpoint.connection().onEnded()) {
                    guarded(() -> endpoint.bindings().eventQueue().report(
                        EventType.SHUTDOWN, endpoint, null, ended.errno(), NO_DATA));
                }
            }
            case ClientEnded ended -> throw new IllegalStateException(ended.toString());
        }
    }

    private void onPeerDown(PeerDown event) {
        Endpoint endpoint = endpoints.get(event.endpointId());
        if (endpoint != null) {
            EventQueue queue = endpoint.bindings().eventQueue();
            if (queue != null) {
                guarded(() -> queue.reportError(endpoint, endpoint.context(), event.fiAddr(), event.errno(),
                    event.provErrno(), event.address().getBytes(StandardCharsets.US_ASCII)));
            }
            guarded(() -> listener.onPeerDown(endpoint, event.fiAddr(), event.errno(), event.address()));
        }
    }

    private void onCompletionQueueOverrun(long cqId) {
        Set<EventQueue> notified = new HashSet<>();
        for (Endpoint endpoint : endpoints.values()) {
            CompletionQueue overrun = endpoint.bindings().completionQueue(cqId);
            EventQueue queue = endpoint.bindings().eventQueue();
            if (overrun != null && queue != null && notified.add(queue)) {
                guarded(() -> queue.reportError(overrun, overrun.context(), 0, FabricErrno.EOVERRUN, NO_DATA));
            }
        }
    }

    private void onConnectionFailed(ConnectionFailed failed) {
        Endpoint endpoint = endpoints.get(failed.objectId());
        if (endpoint != null) {
            endpoint.connection().onFailed();
            guarded(() -> endpoint.bindings().eventQueue().reportError(
                endpoint, endpoint.context(), 0, failed.errno(), failed.cmData()));
            return;
        }
        PassiveEndpoint passive = passiveEndpoints.find(failed.objectId());
        if (passive != null) {
            guarded(() -> passive.eventQueue().reportError(
                passive, passive.context(), 0, failed.errno(), failed.cmData()));
        }
    }

    @Override
    public void onPaused(long pauseNs) {
        guarded(() -> listener.onPaused(pauseNs));
    }

    @Override
    public void onDriverGone(FabricException why) {
        inOrder(() -> deliverGone(why));
    }

    private void deliverGone(FabricException why) {
        for (Endpoint endpoint : enabled) {
            tellGone(endpoint.bindings().eventQueue(), endpoint, why.errno());
        }
        passiveEndpoints.all().forEach(each -> tellGone(each.eventQueue(), each, why.errno()));
        for (EventQueue queue : eventQueues.all()) {
            guarded(queue::onDriverGone);
        }
        guarded(() -> listener.onDriverGone(why));
    }

    private void tellGone(EventQueue queue, Fid object, int errno) {
        if (queue != null) {
            guarded(() -> queue.reportError(object, object.context(), 0, errno, NO_DATA));
        }
    }

    private void guarded(Runnable call) {
        try {
            call.run();
        } catch (RuntimeException | Error failed) {
            try {
                listener.onError(failed);
            } catch (RuntimeException | Error again) {
                failed.addSuppressed(again);
            }
        }
    }
}
