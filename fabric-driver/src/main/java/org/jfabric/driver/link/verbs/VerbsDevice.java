package org.jfabric.driver.link.verbs;

import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.SocketName;
import org.jfabric.driver.ffi.AsyncEvents;
import org.jfabric.driver.ffi.Ibverbs;
import org.jfabric.driver.ffi.VerbsConstants;
import org.jfabric.driver.ffi.VerbsDataPath;
import org.jfabric.driver.ffi.VerbsLibraries;
import org.jfabric.driver.ffi.VerbsSelfCheck;
import org.jfabric.driver.ffi.WorkCompletions;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * One device that the connection manager has led to: its protection domain, the queues for completions and the
 * registrations of regions.
 *
 * <p>Opened on the resource thread. Then: what connections reserve belongs to the resource thread, what is polled to
 * the progress agent.
 */
final class VerbsDevice {
    /** Found by a call and not told by an asynchronous event. */
    static final int NO_EVENT = -1;

    private static final int POLL_BATCH = 32;
    /** Queues are shared, so they are made larger than one connection needs. */
    private static final int USUAL_COMPLETIONS = 4096;

    private final VerbsLink link;
    private final VerbsLibraries libraries;
    private final Ibverbs verbs;
    private final long context;
    private final RegionKeys keys;
    private final WorkCompletions completions = new WorkCompletions(POLL_BATCH);
    private final List<CompletionQueue> queues = new ArrayList<>();
    /** Set by the resource thread, last. */
    private volatile boolean isOpen;
    private Ibverbs.DeviceAttributes attributes;
    private long domain;
    private long channel;
    private VerbsDataPath path;
    /** What happens to it; null until there is a connection. */
    private AsyncEvents.Feed events;
    private SharedReceives shared;
    private CompletionQueue[] polled = {};
    /** Connections that end: the card may still use memory of the application for them. */
    private int ending;
    private boolean isLost;
    /** Lost for ever, and not only what its connections share. */
    private boolean isGone;
    private DeviceAnchor anchor;
    /** That of the context, which may be closed when its descriptor is looked at no more. */
    private int asyncFd;

    VerbsDevice(VerbsLink link, VerbsLibraries libraries, long context) {
        this.link = link;
        this.libraries = libraries;
        this.verbs = libraries.ibverbs();
        this.context = context;
        this.keys = new RegionKeys(verbs, link.services(), this, link.settings().exposes(), link::onKeyReady);
    }

    // ---- resource thread ----

    /** Opens it, once, for a connection with an identifier. */
    void open(long id) {
        if (isOpen) {
            return;
        }
        VerbsSelfCheck.checkObjects(verbs, context);
        path = verbs.dataPath(context);
        attributes = verbs.queryDevice(context);
        SocketName local = SocketName.ofBytes(libraries.cm().localAddress(id)).withPort(0);
        domain = checked("ibv_alloc_pd", verbs.allocateDomain(context));
        try {
            openChannel();
        } catch (RuntimeException | Error e) {
            verbs.freeDomain(domain);
            throw e;
        }
        anchor = new DeviceAnchor(link, this, local);
        isOpen = true;
    }

    private void openChannel() {
        channel = checked("ibv_create_comp_channel", verbs.createChannel(context));
        try {
            if (link.settings().sharedReceives() != 0) {
                shared = new SharedReceives(link, this, link.settings());
            }
        } catch (RuntimeException | Error e) {
            verbs.destroyChannel(channel);
            throw e;
        }
    }

    /** A queue with room for one connection more. */
    CompletionQueue reserve(int entries) {
        for (CompletionQueue queue : queues) {
            if (!queue.isLost && queue.reserve(entries)) {
                return queue;
            }
        }
        // those of shared receives may all come here
        int ofShared = link.settings().sharedReceives();
        if (entries + ofShared > attributes.maxCompletions()) {
            throw new FabricException(FabricErrno.ENOSPC, "a connection has up to " + (entries + ofShared)
                + " completions unread, but a queue of this device takes " + attributes.maxCompletions(),
                "Set fewer jfabric.verbs.receives, sharedReceives and jfabric.verbs.sends.");
        }
        int capacity = Math.max(
            entries + ofShared, Math.min(attributes.maxCompletions(), USUAL_COMPLETIONS + ofShared));
        long pointer = checked("ibv_create_cq", verbs.createCompletionQueue(context, capacity, channel));
        CompletionQueue queue = new CompletionQueue(pointer, capacity);
        queue.reserve(entries + ofShared);
        queues.add(queue);
        return queue;
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

    long domain() {
        return domain;
    }

    VerbsDataPath path() {
        return path;
    }

    /** What its connections share; null if each has receives of its own. */
    SharedReceives shared() {
        return shared;
    }

    Ibverbs.DeviceAttributes attributes() {
        return attributes;
    }

    String name() {
        return verbs.deviceName(verbs.deviceOf(context));
    }

    // ---- progress agent ----

    RegionKeys keys() {
        return keys;
    }

    /** A connection's queue is polled from now on. */
    void poll(CompletionQueue queue) {
        for (CompletionQueue known : polled) {
            if (known == queue) {
                return;
            }
        }
        polled = Arrays.copyOf(polled, polled.length + 1);
        polled[polled.length - 1] = queue;
        watch();
    }

    /** Looks at what happens to it from now on, also where no queue pair could be made. */
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

    /** Takes completions; how many. */
    int poll() {
        int work = 0;
        for (CompletionQueue queue : polled) {
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
        return shared == null || events == null ? work : work + shared.poll(work == 0);
    }

    private void lose(long pointer, String text, int event) {
        for (CompletionQueue queue : polled) {
            if (queue.pointer() == pointer) {
                queue.isLost = true;
                queue.mayHaveMore = false;
            }
        }
        link.onQueueLost(this, pointer, text, event);
    }

    /** Has the card tell of completions, if it does; what came before is found by the poll that has to follow. */
    boolean arm() {
        boolean isArmed = true;
        for (CompletionQueue queue : polled) {
            if (!queue.isArmed && !queue.isLost) {
                queue.isArmed = path.arm(queue.pointer()) == 0;
                isArmed &= queue.isArmed;
            }
        }
        return isArmed;
    }

    /** Gives back what belongs to closed regions, unless the card may still use them; registrations given back. */
    int sweep() {
        return ending == 0 ? keys.sweep() : 0;
    }

    /** A connection ends whose requests use the application's memory: they come back from now on. */
    void beginEnd() {
        ending++;
    }

    /** They have. */
    void end() {
        ending--;
    }

    /** Nothing can be made with it any more; what was made is given back by and by. */
    void lose(boolean forEver) {
        isLost = true;
        isGone |= forEver;
    }

    boolean isLost() {
        return isLost;
    }

    /** Its descriptors are looked at no more. */
    void unwatch() {
        if (events != null) {
            link.descriptors().remove(verbs.channelFd(channel));
            link.descriptors().remove(asyncFd);
            link.descriptors().remove(events.fd());
            anchor.unwatch();
        }
    }

    /** Another one was let go of, and the descriptor with it: of the same context, or of one that was closed before. */
    void watchAgain(VerbsDevice retired) {
        if (events != null && asyncFd == retired.asyncFd) {
            watch(asyncFd);
        }
    }

    private void takeChannelEvents() {
        for (long queue = verbs.takeChannelEvent(channel); queue > 0; queue = verbs.takeChannelEvent(channel)) {
            for (CompletionQueue known : polled) {
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
                        "Connections go on if it comes back in time.");
                default -> {
                    // connections tell by their own completions and events
                }
            }
        }
    }

    /** It is lost, or the driver ends; no connection is left. Resource thread. */
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
        // else the context may be closed, and the kernel has taken back what belonged to it; the library's objects stay
        anchor.free(isGone);
    }

    private void freeObjects() {
        keys.free();
        for (CompletionQueue queue : queues) {
            verbs.destroyCompletionQueue(queue.pointer());
        }
        if (shared != null) {
            shared.close();
        }
        verbs.destroyChannel(channel);
        verbs.freeDomain(domain);
    }
}
