package org.jfabric;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.agrona.collections.Long2ObjectHashMap;
import org.jfabric.ffi.Epoll;
import org.jfabric.ffi.EventFd;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.NativeCallException;
import org.jfabric.info.EndpointType;
import org.jfabric.info.EventType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Info;

/**
 * The socket endpoints of a domain, and the thread that brings their connection events into event queues. The thread
 * begins with the first stream and ends with the domain; it takes no part in transfers.
 *
 * <p>Everything is done under the fabric's lock, except for the wait and the reports: an event queue may be read with a
 * lock of the application held.
 */
final class DomainSockets {
    private static final long WAKE = 0;
    private static final int MAX_EVENTS = 64;
    /** After a listener could not accept, for example for want of descriptors. */
    private static final int RETRY_MS = 100;
    private static final byte[] NO_DATA = new byte[0];

    private final Domain domain;
    private final Long2ObjectHashMap<SocketEndpoint> open = new Long2ObjectHashMap<>();
    private final ArrayDeque<SocketEndpoint> stalled = new ArrayDeque<>();
    /** Of one round; the thread's own. */
    private final List<Event> events = new ArrayList<>();
    private long lastId = WAKE;
    private Epoll epoll;
    private int wakeFd = -1;
    private boolean isStopped;

    /** An event that is reported when the lock is free; an error if there is one. */
    private record Event(EventQueue queue, EventType type, SocketEndpoint endpoint, Info info, int error) {
        void report() {
            if (error != 0) {
                queue.reportError(endpoint, endpoint.context(), 0, error, NO_DATA);
            } else {
                queue.report(type, endpoint, info, 0, NO_DATA);
            }
        }
    }

    DomainSockets(Domain domain) {
        this.domain = domain;
    }

    /** Refuses an info of socket endpoints where another endpoint is opened. */
    static void refuse(Info wanted) {
        if (isSocket(wanted.epAttr().type())) {
            throw new FabricException(FabricErrno.EINVAL, "ep_attr.type is " + wanted.epAttr().type()
                + ", which openEndpoint does not open", "Call openSocketEndpoint.");
        }
    }

    SocketEndpoint open(Info wanted, long context, boolean isPassive) {
        EndpointType type = wanted.epAttr().type();
        if (domain.info().fabricAttr().isVersion2()) {
            throw new FabricException(FabricErrno.EOPNOTSUPP, "ep_attr.type is " + type
                + ", which libfabric 2.x has no more", "Open the domain with an info of API version 1.18.");
        }
        if (!isSocket(type) || isPassive && type != EndpointType.SOCK_STREAM) {
            throw new FabricException(FabricErrno.EINVAL, "ep_attr.type is " + type + ", needed is SOCK_STREAM"
                + (isPassive ? "" : " or SOCK_DGRAM"), "Open it with a match of Fabric.info for that type.");
        }
        SocketEndpoint.Request request = null;
        if (wanted.handle() != null) {
            if (isPassive || !(wanted.handle() instanceof SocketEndpoint.Request found)
                || found.domain() != domain || type != EndpointType.SOCK_STREAM) {
                throw new FabricException(FabricErrno.EINVAL, "the handle is " + wanted.handle() + ", needed is a"
                    + " request that a passive socket endpoint of this domain reported, or none",
                    "Open with the info of its CONNREQ event.");
            }
            request = found;
        }
        SocketEndpoint endpoint = new SocketEndpoint(domain, this, ++lastId, wanted, context, isPassive, request);
        open.put(lastId, endpoint);
        return endpoint;
    }

    /** Forgets an endpoint; closing its descriptor ends the watch. */
    void remove(long id) {
        stalled.remove(open.remove(id));
    }

    /** Waits once for a descriptor of an endpoint. */
    void watch(long id, int fd, int events) {
        if (epoll == null) {
            start();
        }
        int added = epoll.add(fd, events | Epoll.EPOLLONESHOT, id);
        if (added < 0 && !epoll.modify(fd, events | Epoll.EPOLLONESHOT, id)) {
            throw new FabricException(-added, "the descriptor cannot be watched", "Raise the limit of watches.");
        }
    }

    /** Reports an event after this round; on the thread of the events. */
    void report(EventQueue queue, EventType type, SocketEndpoint endpoint, Info info) {
        events.add(new Event(queue, type, endpoint, info, 0));
    }

    /** As {@link #report}, an error entry. */
    void reportError(EventQueue queue, SocketEndpoint endpoint, int error) {
        events.add(new Event(queue, null, endpoint, null, error));
    }

    /** The listener cannot accept now. */
    void retryLater(SocketEndpoint endpoint) {
        stalled.add(endpoint);
    }

    void stop() {
        isStopped = true;
        if (epoll != null) {
            EventFd.write(wakeFd, 1);
        }
    }

    private void start() {
        Epoll opened;
        try {
            opened = new Epoll(MAX_EVENTS);
        } catch (NativeCallException refused) {
            throw noDescriptor(refused.errno());
        }
        wakeFd = EventFd.create();
        int added = wakeFd < 0 ? wakeFd : opened.add(wakeFd, Epoll.EPOLLIN, WAKE);
        if (added < 0) {
            opened.close();
            if (wakeFd >= 0) {
                Libc.close(wakeFd);
            }
            throw noDescriptor(-added);
        }
        epoll = opened;
        Thread thread = new Thread(this::run, "jfabric-socket-events");
        thread.setDaemon(true);
        thread.start();
    }

    private static FabricException noDescriptor(int errno) {
        return new FabricException(errno, "no descriptor for the events of socket endpoints",
            "Raise the limit of open files (ulimit -n).");
    }

    private void run() {
        int timeoutMs = -1;
        while (true) {
            int count = epoll.poll(timeoutMs);
            synchronized (domain.lock()) {
                if (isStopped) {
                    epoll.close();
                    Libc.close(wakeFd);
                    return;
                }
                for (int i = stalled.size(); i > 0; i--) {
                    ready(stalled.remove());
                }
                for (int i = 0; i < count; i++) {
                    SocketEndpoint endpoint = open.get(epoll.data(i));
                    if (endpoint != null) {
                        ready(endpoint);
                    }
                }
                timeoutMs = stalled.isEmpty() ? -1 : RETRY_MS;
            }
            events.forEach(Event::report);
            events.clear();
        }
    }

    /** The failure of one endpoint must not end the events of the others. */
    private static void ready(SocketEndpoint endpoint) {
        try {
            endpoint.onReady();
        } catch (FabricException failed) {
            endpoint.onFailed(failed.errno());
        } catch (RuntimeException failed) {
            endpoint.onFailed(FabricErrno.EOTHER);
        }
    }

    private static boolean isSocket(EndpointType type) {
        return type == EndpointType.SOCK_STREAM || type == EndpointType.SOCK_DGRAM;
    }
}
