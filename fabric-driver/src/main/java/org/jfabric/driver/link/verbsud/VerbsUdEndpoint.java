package org.jfabric.driver.link.verbsud;

import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.Flags;
import org.jfabric.driver.ffi.Ibverbs;
import org.jfabric.driver.ffi.VerbsConstants;
import org.jfabric.driver.ffi.WorkCompletions;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.link.support.DatagramChannel;
import org.jfabric.driver.link.support.DatagramQueue;
import org.jfabric.driver.link.support.DatagramSources;
import org.jfabric.driver.link.support.WatchedDescriptors;
import org.jfabric.driver.resource.ResourceTask;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * One endpoint's queue pair: what waits to be sent, and whose datagrams are received.
 *
 * <p><b>Sending.</b> A message goes into the send queue at once, unless it is full or the way to the peer is still
 * being made: then it waits, and all that follow it, so that sends end in the order of their posting. A send has
 * reached the level "transmit" when the card has sent it. <b>Receiving.</b> No more datagrams are handed over than
 * receives are posted; see {@link VerbsUdReceiver}.
 *
 * <p>Owner: progress agent.
 */
final class VerbsUdEndpoint {
    /** Polls between two looks at the descriptors: the price of one is that of several cycles without work. */
    private static final int POLLS_PER_LOOK = 32;

    private final LocalEndpoint local;
    private final VerbsUdPort port;
    private final LinkServices services;
    private final ChannelLimits limits;
    private final VerbsUdQueuePair queuePair;
    private final VerbsUdSender sender;
    private final VerbsUdHandles handles;
    private final WatchedDescriptors descriptors;
    private final long lostCounter;
    private final DatagramQueue waiting = new DatagramQueue();
    private final DatagramSources sources = new DatagramSources();
    private final Map<String, VerbsUdChannel> byAddress = new HashMap<>();
    private final List<VerbsUdChannel> openings = new ArrayList<>();
    private final VerbsUdChannel strangers;
    private VerbsUdGroup[] groups = new VerbsUdGroup[0];
    private int pollsToLook;
    private boolean isResuming;
    /** Why nothing can be sent or received any more; a positive errno, 0 if all is well. */
    private int lostErrno;

    VerbsUdEndpoint(
        LocalEndpoint local, VerbsUdPort port, LinkServices services, ChannelLimits limits, long lostCounter) {
        this.local = local;
        this.port = port;
        this.services = services;
        this.limits = limits;
        this.lostCounter = lostCounter;
        queuePair = port.queuePair();
        sender = queuePair.sender();
        queuePair.receiver().countLost(lostCounter);
        handles = new VerbsUdHandles(port, services, port.settings().addressHandles());
        descriptors = new WatchedDescriptors(services);
        Ibverbs verbs = port.libraries().ibverbs();
        descriptors.add(verbs.channelFd(port.channel()), this::takeChannelEvents);
        int fd = verbs.asyncFd(port.context());
        if (fd >= 0) {
            descriptors.add(fd, this::takeAsyncEvents);
        }
        strangers = VerbsUdChannel.ofStrangers(limits, local.handlerFor(VerbsUdLink.STRANGERS), this);
        strangers.up();
    }

    LocalEndpoint local() {
        return local;
    }

    // ---- channels ----

    /**
     * An address was inserted: its channel is up at once, so that sends to it need not wait while later ones to others
     * go on (a strict completion order of datagrams holds for all peers together), and the way to it is looked for.
     */
    void introduce(String address) {
        if (!byAddress.containsKey(address)) {
            VerbsUdChannel channel = open(address, local.handlerFor(address));
            openings.remove(channel);
            up(channel);
        }
    }

    /** The channel to an address that has none; it is up in the next poll. */
    VerbsUdChannel open(String address, ChannelHandler handler) {
        VerbsUdChannel channel = VerbsUdChannel.to(limits, handler, this, address);
        byAddress.put(address, channel);
        openings.add(channel);
        return channel;
    }

    private void up(VerbsUdChannel channel) {
        if (channel.isSource()) {
            sources.put(channel);
        }
        handles.prepare(channel);
        channel.up();
    }

    /** A channel is closed; messages for it that wait end with the endpoint's own records. */
    void remove(VerbsUdChannel channel) {
        if (channel.isSource()) {
            sources.remove(channel);
        }
        openings.remove(channel);
        byAddress.remove(channel.address(), channel);
    }

    void join(VerbsUdGroup group) {
        groups = Arrays.copyOf(groups, groups.length + 1);
        groups[groups.length - 1] = group;
        group.queuePair().receiver().countLost(lostCounter);
    }

    void leave(String address) {
        for (VerbsUdGroup group : groups) {
            if (group.address().equals(address)) {
                groups = Arrays.stream(groups).filter(other -> other != group).toArray(VerbsUdGroup[]::new);
                onResourceThread(group::close);
                return;
            }
        }
    }

    // ---- sending ----

    /** As {@link VerbsUdChannel#send}. */
    int send(VerbsUdChannel channel, TransmitOperation operation) {
        if (lostErrno != 0) {
            return -lostErrno;
        }
        if (!sendNow(channel, operation, true)) {
            waiting.add(channel, operation);
        }
        return VerbsUdChannel.PENDING;
    }

    /**
     * Puts a message into the send queue.
     *
     * @param isTold whether its end is told.
     * @return false if it has to wait, also because it must not end before others whose end is still to be told.
     */
    boolean sendNow(VerbsUdChannel channel, TransmitOperation operation, boolean isTold) {
        if (!waiting.isEmpty() || lostErrno != 0 || !sender.hasRoom() || !isTold && sender.isTelling()) {
            return false;
        }
        VerbsUdHandle handle = handles.use(channel);
        if (handle == null || handle.state != VerbsUdHandle.READY) {
            return false;
        }
        sender.add(channel, handle, operation, isTold);
        if ((operation.flags & Flags.MORE) == 0) {
            sender.postFirst();
        }
        return true;
    }

    /** Puts what waits into the send queue, as far as there is room and the way is known. */
    private int flush() {
        int work = 0;
        waiting.dropClosed();
        while (!waiting.isEmpty() && sender.hasRoom()) {
            VerbsUdChannel channel = (VerbsUdChannel) waiting.channel(0);
            TransmitOperation operation = waiting.operation(0);
            VerbsUdHandle handle = handles.use(channel);
            if (handle == null) {
                break;
            }
            if (handle.state == VerbsUdHandle.READY) {
                waiting.drop();
                sender.add(channel, handle, operation, true);
            } else if (sender.isTelling()) {
                // those before it end first
                break;
            } else {
                waiting.drop();
                handle.state = VerbsUdHandle.GONE;
                channel.handler().onSent(operation.id(), handle.errno);
            }
            work++;
            waiting.dropClosed();
        }
        return work;
    }

    private void resume() {
        isResuming = true;
        services.submit(new ResourceTask() {
            private int result;

            @Override
            protected void execute() {
                result = port.resumeSends();
            }

            @Override
            protected void onDone() {
                isResuming = false;
                if (result == 0) {
                    sender.resumed();
                } else {
                    lost(FabricErrno.EIO, "sends cannot be resumed: " + FabricErrno.name(-result));
                }
            }

            @Override
            protected void onFailed(Throwable cause) {
                isResuming = false;
                services.onError(cause);
                lost(FabricErrno.EIO, "sends cannot be resumed");
            }
        });
    }

    // ---- steps ----

    int poll(WorkCompletions completions, int limit) {
        int work = openings.isEmpty() ? 0 : openAll();
        if (--pollsToLook < 0) {
            pollsToLook = POLLS_PER_LOOK;
            work += descriptors.poll();
        }
        if (lostErrno != 0) {
            return work + tellLost();
        }
        work += complete(queuePair, completions);
        if (!waiting.isEmpty()) {
            work += flush();
        }
        work += sender.poll();
        if (sender.failure() != 0) {
            lost(FabricErrno.EIO, "the card takes no send: " + FabricErrno.name(sender.failure()));
        } else if (!isResuming && sender.isResumable()) {
            resume();
        }
        return work + receive(completions, limit);
    }

    private int receive(WorkCompletions completions, int limit) {
        int work = drain(queuePair, limit);
        for (VerbsUdGroup group : groups) {
            work += complete(group.queuePair(), completions) + drain(group.queuePair(), limit);
        }
        return work;
    }

    private int complete(VerbsUdQueuePair from, WorkCompletions completions) {
        int taken = port.path().poll(from.queue(), completions);
        for (int i = 0; i < taken; i++) {
            boolean isReceive = (completions.id(i) & VerbsUdQueuePair.RECEIVE) != 0;
            boolean isGood = completions.status(i) == VerbsConstants.WC_SUCCESS;
            if (isReceive && isGood) {
                from.receiver().completed(completions, i);
            } else if (isReceive) {
                from.receiver().flushed();
            } else if (isGood) {
                sender.completed((int) completions.id(i));
            } else {
                failed(completions, i);
            }
        }
        if (taken < 0) {
            lost(FabricErrno.EIO, "the completion queue cannot be polled");
        } else if (from.receiver().hasFailed()) {
            lost(FabricErrno.EIO, "the queue pair gave back its receives");
        }
        return Math.max(0, taken);
    }

    private void failed(WorkCompletions completions, int entry) {
        int status = completions.status(entry);
        if (status != VerbsConstants.WC_WR_FLUSH_ERR) {
            services.onError(new FabricException(FabricErrno.EIO, "a send of " + port.address() + " failed: "
                + port.libraries().ibverbs().statusText(status) + " (status " + status + ", vendor's code 0x"
                + Integer.toHexString(completions.vendorError(entry)) + ')',
                "Those behind it were not sent; the queue is resumed."));
        }
        sender.failed((int) completions.id(entry), VerbsUdSender.errno(completions, entry));
    }

    private int drain(VerbsUdQueuePair from, int limit) {
        VerbsUdReceiver receiver = from.receiver();
        int posted = receiver.isEmpty() ? 0 : local.postedReceives();
        int drained = posted == 0 ? 0 : receiver.drain(sources, strangers, Math.min(limit, posted));
        return receiver.hasFree() ? drained + receiver.poll(drained == 0) : drained;
    }

    private int openAll() {
        int work = 0;
        while (!openings.isEmpty()) {
            up(openings.removeFirst());
            work++;
        }
        return work;
    }

    /** Whether the thread may sleep; arriving datagrams and ends of sends wake it. */
    boolean arm() {
        if (!waiting.isEmpty() || !openings.isEmpty() || sender.hasWork() || descriptors.poll() > 0
            || lostErrno != 0 && sender.outstanding() != 0) {
            return false;
        }
        boolean canReceive = local.postedReceives() != 0;
        boolean isArmed = arm(queuePair, canReceive);
        for (VerbsUdGroup group : groups) {
            isArmed &= arm(group.queuePair(), canReceive);
        }
        if (isArmed) {
            descriptors.arm();
        }
        return isArmed;
    }

    /** One that came before it was armed tells nobody: the poll that follows finds it. */
    private boolean arm(VerbsUdQueuePair each, boolean canReceive) {
        if (lostErrno != 0) {
            return true;
        }
        if (canReceive && !each.receiver().isEmpty() || each.receiver().hasFree()) {
            return false;
        }
        if (each.isArmed) {
            return true;
        }
        each.isArmed = port.path().arm(each.queue()) == 0;
        return false;
    }

    // ---- events ----

    private void takeChannelEvents() {
        Ibverbs verbs = port.libraries().ibverbs();
        for (long queue = verbs.takeChannelEvent(port.channel()); queue > 0;
            queue = verbs.takeChannelEvent(port.channel())) {
            if (queue == queuePair.queue()) {
                queuePair.isArmed = false;
            }
            for (VerbsUdGroup group : groups) {
                if (queue == group.queuePair().queue()) {
                    group.queuePair().isArmed = false;
                }
            }
        }
    }

    private void takeAsyncEvents() {
        Ibverbs verbs = port.libraries().ibverbs();
        for (Ibverbs.AsyncEvent event = verbs.takeAsyncEvent(port.context()); event != null;
            event = verbs.takeAsyncEvent(port.context())) {
            String text = verbs.eventText(event.type());
            switch (event.type()) {
                case VerbsConstants.EVENT_CQ_ERR -> lost(FabricErrno.EIO, "a completion queue is lost: " + text);
                case VerbsConstants.EVENT_QP_FATAL -> lost(FabricErrno.EIO, "a queue pair is lost: " + text);
                case VerbsConstants.EVENT_DEVICE_FATAL -> lost(FabricErrno.ENODEV, "the device is lost: " + text);
                case VerbsConstants.EVENT_PORT_ERR, VerbsConstants.EVENT_PORT_ACTIVE ->
                    services.onError(new FabricException(FabricErrno.ENETDOWN, "port " + (int) event.element() + " of "
                        + port.place().device() + ": " + text, "What is sent while it is down is lost."));
                default -> {
                    // what concerns this endpoint is told by completions too
                }
            }
        }
    }

    /** Nothing can be sent or received any more; whoever waits is told in the next poll. */
    private void lost(int errno, String why) {
        if (lostErrno == 0) {
            lostErrno = errno;
            // those of a device that is gone would be readable for ever
            descriptors.remove(port.libraries().ibverbs().channelFd(port.channel()));
            descriptors.remove(port.libraries().ibverbs().asyncFd(port.context()));
            services.onError(new FabricException(errno, "the endpoint " + port.address() + " on "
                + port.place().device() + " is lost: " + why, "Close it and open another one; its sends fail."));
        }
    }

    private int tellLost() {
        int work = sender.outstanding() + waiting.size();
        sender.abort(lostErrno);
        while (!waiting.isEmpty()) {
            DatagramChannel channel = waiting.channel(0);
            TransmitOperation operation = waiting.operation(0);
            waiting.drop();
            if (!channel.isClosed()) {
                channel.handler().onSent(operation.id(), lostErrno);
            }
        }
        return work;
    }

    // ---- end ----

    /** The endpoint is detached: what it has of the device is given back on the resource thread. */
    void detach() {
        Runnable rest = end();
        onResourceThread(rest);
    }

    /** The driver ends. */
    void close() {
        end().run();
    }

    private Runnable end() {
        waiting.clear();
        descriptors.close();
        VerbsUdGroup[] joined = groups;
        groups = new VerbsUdGroup[0];
        return () -> {
            for (VerbsUdGroup group : joined) {
                group.close();
            }
            port.close();
        };
    }

    private void onResourceThread(Runnable work) {
        services.submit(new ResourceTask() {
            @Override
            protected void execute() {
                work.run();
            }

            @Override
            protected void onDone() {
                // nobody waits for it
            }

            @Override
            protected void onFailed(Throwable cause) {
                services.onError(cause);
            }
        });
    }
}
