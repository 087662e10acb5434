package org.jfabric.driver.link.verbs;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jfabric.driver.ffi.AsyncEvents;
import org.jfabric.driver.ffi.Ibverbs;
import org.jfabric.driver.ffi.VerbsConstants;
import org.jfabric.driver.ffi.VerbsDataPath;
import org.jfabric.driver.ffi.VerbsLibraries;
import org.jfabric.driver.ffi.VerbsSelfCheck;
import org.jfabric.driver.ffi.WorkCompletions;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.SocketName;

/**
 * One device that connections use: its protection domains with the registrations of regions, and the completion queues.
 *
 * <p>Opened on the resource thread. After that the reservations of connections belong to the resource thread, and the
 * polled queues to the progress agent.
 */
final class VerbsDevice {
    /** The failure was found by a call, not reported by an asynchronous event. */
    static final int NO_EVENT = -1;

    private static final int POLL_BATCH = 32;
    /** Queues are shared, so they are made larger than one connection needs. */
    private static final int USUAL_COMPLETIONS = 4096;

    private final VerbsLink link;
    private final VerbsLibraries libraries;
    private final Ibverbs verbs;
    private final long context;
    /** Of all connections whose peers access no memory. */
    private final ProtectionDomain common;
    private final List<ProtectionDomain> domains = new ArrayList<>();
    private final WorkCompletions completions = new WorkCompletions(POLL_BATCH);
    private final List<CompletionRing> queues = new ArrayList<>();
    /** Set by the resource thread, last. */
    private volatile boolean isOpen;
    private Ibverbs.DeviceAttributes attributes;
    private long channel;
    private VerbsDataPath path;
    /** Asynchronous events of the device; null until there is a connection. */
    private AsyncEvents.Feed events;
    private CompletionRing[] polled = {};
    /** Shared receives of domains with connections. */
    private SharedReceiveQueue[] shared = {};
    private int domainsMade;
    /** Connections that are closing: the card may still use memory of the application for them. */
    private int ending;
    private boolean isLost;
    /** Lost permanently, and not only its shared receive queue. */
    private boolean isGone;
    private DeviceAnchor anchor;
    /** Descriptor of the context; kept here because the context may be closed before it is unwatched. */
    private int asyncFd;

    VerbsDevice(VerbsLink link, VerbsLibraries libraries, long context) {
        this.link = link;
        this.libraries = libraries;
        this.verbs = libraries.ibverbs();
        this.context = context;
        this.common = new ProtectionDomain(this, link, 0, null);
    }

    // ---- resource thread ----

    /** Opens it, once, for a connection with an identifier. */
    void open(long id) {
        if (!isOpen) {
            open(SocketName.ofBytes(libraries.cm().localAddress(id)));
        }
    }

    void open(SocketName address) {
        if (isOpen) {
            return;
        }
        VerbsSelfCheck.checkObjects(verbs, context);
        path = verbs.dataPath(context);
        attributes = verbs.queryDevice(context);
        common.open();
        try {
            channel = checked("ibv_create_comp_channel", verbs.createChannel(context));
        } catch (RuntimeException | Error e) {
            common.free();
            throw e;
        }
        anchor = new DeviceAnchor(link, this, address.withPort(0));
        isOpen = true;
    }

    /**
     * Reserves entries for one more connection in a queue that has room.
     *
     * @param sharing domain whose shared receives it has, all of which may complete in the queue; null if it has none.
     */
    CompletionRing reserve(int entries, ProtectionDomain sharing) {
        int ofShared = sharing == null ? 0 : link.settings().sharedReceives();
        for (CompletionRing queue : queues) {
            if (!queue.isLost && queue.reserve(entries, sharing, ofShared)) {
                return queue;
            }
        }
        if (entries + ofShared > attributes.maxCompletions()) {
            throw new FabricException(FabricErrno.ENOSPC, "a connection has up to " + (entries + ofShared)
                + " completions unread, but a queue of this device takes " + attributes.maxCompletions(),
                "Set fewer jfabric.verbs.receives, sharedReceives and jfabric.verbs.sends.");
        }
        int capacity = Math.max(
            entries + ofShared, Math.min(attributes.maxCompletions(), USUAL_COMPLETIONS + ofShared));
        long pointer = checked("ibv_create_cq", verbs.createCompletionQueue(context, capacity, channel));
        CompletionRing queue = new CompletionRing(pointer, capacity);
        queue.reserve(entries, sharing, ofShared);
        queues.add(queue);
        return queue;
    }

    /** A domain and its shared receives are gone: those of another one may have its queues. */
    void giveQueues(ProtectionDomain domain) {
        for (CompletionRing queue : queues) {
            queue.releaseShared(domain, link.settings().sharedReceives());
        }
    }

    static long checked(String call, long result) {
        if (result < 0) {
            int errno = (int) -result;
            throw new FabricException(errno, call + ": " + FabricErrno.name(errno),
                errno == FabricErrno.ENOMEM ? "Raise the limit of locked memory (ulimit -l)."
                    : "See the kernel's messages.");
        }
        return result;
    }

    long context() {
        return context;
    }

    VerbsDataPath path() {
        return path;
    }

    Ibverbs.DeviceAttributes attributes() {
        return attributes;
    }

    String name() {
        return verbs.deviceName(verbs.deviceOf(context));
    }

    // ---- progress agent ----

    /** The protection domain of an application's domain; the common one for null. */
    ProtectionDomain domain(Object owner) {
        if (owner == null) {
            return common;
        }
        for (ProtectionDomain known : domains) {
            if (known.isOf(owner)) {
                return known;
            }
        }
        // not the number of one that was freed lately, whose completions may still come
        do {
            domainsMade = domainsMade % (VerbsLink.MAX_DOMAINS - 1) + 1;
        } while (domains.stream().anyMatch(known -> known.number() == domainsMade));
        ProtectionDomain made = new ProtectionDomain(this, link, domainsMade, owner);
        domains.add(made);
        return made;
    }

    /** Serves the shared receives of a domain, which has a connection, from now on. */
    void serve(SharedReceiveQueue queue) {
        for (SharedReceiveQueue known : shared) {
            if (known == queue) {
                return;
            }
        }
        shared = Arrays.copyOf(shared, shared.length + 1);
        shared[shared.length - 1] = queue;
    }

    /** Processes a completion of a shared receive; that of a domain that is gone concerns nobody. */
    void onShared(int number, WorkCompletions completed, int entry) {
        for (SharedReceiveQueue queue : shared) {
            if (queue.number() == number) {
                queue.onCompletion(completed, entry);
            }
        }
    }

    /** The driver closes, or the device is lost: no transfer is left. */
    void closeKeys() {
        common.keys().close();
        for (ProtectionDomain domain : domains) {
            domain.keys().close();
        }
    }

    /** Polls the queue of a connection from now on. */
    void poll(CompletionRing queue) {
        for (CompletionRing known : polled) {
            if (known == queue) {
                return;
            }
        }
        polled = Arrays.copyOf(polled, polled.length + 1);
        polled[polled.length - 1] = queue;
        watch();
    }

    /** Watches the device's events from now on, also if no queue pair could be made. */
    void watch() {
        if (isOpen && !isLost && events == null) {
            link.descriptors().add(verbs.channelFd(channel), this::takeChannelEvents);
            events = libraries.asyncEvents().open(context);
            asyncFd = verbs.asyncFd(context);
            watch(asyncFd);
            watch(events.fd());
            anchor.watch();
        }
    }

    private void watch(int fd) {
        if (fd >= 0) {
            link.descriptors().add(fd, this::takeAsyncEvents);
        }
    }

    /** Processes completions; their number. */
    int poll() {
        int work = 0;
        for (CompletionRing queue : polled) {
            if (queue.isLost) {
                continue;
            }
            int taken = path.poll(queue.pointer(), completions);
            queue.mayHaveMore = taken == completions.capacity();
            if (taken < 0) {
                lose(queue.pointer(), "cannot be polled", NO_EVENT);
            }
            for (int i = 0; i < taken; i++) {
                link.onCompletion(this, completions, i);
            }
            work += Math.max(0, taken);
        }
        boolean isQuiet = work == 0;
        for (SharedReceiveQueue queue : shared) {
            work += queue.poll(isQuiet);
        }
        return work;
    }

    private void lose(long pointer, String text, int event) {
        for (CompletionRing queue : polled) {
            if (queue.pointer() == pointer) {
                queue.isLost = true;
                queue.mayHaveMore = false;
            }
        }
        link.onQueueLost(this, pointer, text, event);
    }

    /** Requests completion events, false if the card refuses; a poll has to follow, to find earlier completions. */
    boolean arm() {
        boolean isArmed = true;
        for (CompletionRing queue : polled) {
            if (!queue.isArmed && !queue.isLost) {
                queue.isArmed = path.arm(queue.pointer()) == 0;
                isArmed &= queue.isArmed;
            }
        }
        return isArmed;
    }

    /**
     * Ends the access of peers to closed regions, and frees their other registrations, unless the card may still use
     * them; their number. Frees domains without users.
     */
    int sweep() {
        int work = sweep(common);
        for (int i = domains.size() - 1; i >= 0; i--) {
            ProtectionDomain domain = domains.get(i);
            work += sweep(domain);
            if (domain.isUnused()) {
                domains.remove(i);
                shared = Arrays.stream(shared).filter(queue -> queue != domain.shared())
                    .toArray(SharedReceiveQueue[]::new);
                CmTask.submit(link.services(), domain::free);
            }
        }
        return work;
    }

    private int sweep(ProtectionDomain domain) {
        return domain.keys().sweepExposed() + (ending == 0 ? domain.keys().sweep() : 0);
    }

    /** A connection closes whose requests use the application's memory: they are flushed from now on. */
    void beginEnd() {
        ending++;
    }

    /** The requests of such a connection have completed. */
    void end() {
        ending--;
    }

    /** Marks the device as lost: no connection uses it any more, and its objects are freed as connections close. */
    void lose(boolean forEver) {
        isLost = true;
        isGone |= forEver;
    }

    boolean isLost() {
        return isLost;
    }

    /** Stops watching its descriptors. */
    void unwatch() {
        if (events != null) {
            link.descriptors().remove(verbs.channelFd(channel));
            link.descriptors().remove(asyncFd);
            link.descriptors().remove(events.fd());
            anchor.unwatch();
        }
    }

    /** Watches again the descriptor that a retired device had too: the same context, or a reused descriptor number. */
    void watchAgain(VerbsDevice retired) {
        if (events != null && asyncFd == retired.asyncFd) {
            watch(asyncFd);
        }
    }

    private void takeChannelEvents() {
        for (long queue = verbs.takeChannelEvent(channel); queue > 0; queue = verbs.takeChannelEvent(channel)) {
            for (CompletionRing known : polled) {
                if (known.pointer() == queue) {
                    known.isArmed = false;
                }
            }
        }
    }

    private void takeAsyncEvents() {
        for (Ibverbs.AsyncEvent event = events.next(); event != null; event = events.next()) {
            String text = verbs.eventText(event.type());
            switch (event.type()) {
                case VerbsConstants.EVENT_CQ_ERR -> lose(event.element(), text, event.type());
                case VerbsConstants.EVENT_QP_FATAL -> link.onQueuePairLost(event.element(), text, event.type());
                case VerbsConstants.EVENT_QP_LAST_WQE_REACHED -> link.onLastReceive(event.element());
                case VerbsConstants.EVENT_SRQ_ERR, VerbsConstants.EVENT_DEVICE_FATAL -> {
                    if (!isLost) {
                        link.onDeviceLost(this, text, event.type());
                    }
                }
                case VerbsConstants.EVENT_PORT_ERR, VerbsConstants.EVENT_PORT_ACTIVE ->
                    link.onError(FabricErrno.ENETDOWN, "port " + (int) event.element() + " of " + name() + ": " + text,
                        "Connections continue if the port becomes active in time.");
                default -> {
                    // connections notice the others by their own completions and events
                }
            }
        }
    }

    /** Frees the device when it is lost or the driver closes; no connection is left. Resource thread. */
    void free() {
        if (events != null) {
            events.close();
        }
        completions.close();
        if (!isOpen) {
            return;
        }
        if (anchor.holds() || !isGone) {
            freeObjects();
        }
        // otherwise the context may be closed, and the kernel has freed its objects; those of the library leak
        anchor.free(isGone);
    }

    private void freeObjects() {
        for (CompletionRing queue : queues) {
            verbs.destroyCompletionQueue(queue.pointer());
        }
        verbs.destroyChannel(channel);
        for (ProtectionDomain domain : domains) {
            domain.free();
        }
        common.free();
    }
}
