package org.jfabric.driver.link.verbs;

import java.util.List;
import org.jfabric.driver.ffi.Ibverbs;
import org.jfabric.driver.ffi.VerbsConstants;
import org.jfabric.driver.ffi.WorkCompletions;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.link.support.DatagramChannel;
import org.jfabric.driver.link.support.DatagramEndpoint;
import org.jfabric.driver.link.support.WatchedDescriptors;
import org.jfabric.driver.resource.ResourceTask;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;

/**
 * One endpoint with its queue pair, the sends that wait, and the channels of its senders.
 *
 * <p><b>Sending.</b> A message is added to the send queue immediately, unless the queue is full or the address handle
 * of the peer is still being made. Then it waits, and so do all sends after it, so that sends complete in the order of
 * their posting. A send has reached the level "transmit" when the card has sent it. <b>Receiving.</b> No more datagrams
 * are delivered than receives are posted; see {@link VerbsUdReader}.
 *
 * <p>Owner: progress agent.
 */
final class VerbsUdEndpoint extends DatagramEndpoint<VerbsUdChannel, VerbsUdGroup> {
    /** Polls of the endpoint for each poll of the descriptors, which costs as much as several idle cycles. */
    private static final int POLLS_PER_LOOK = 32;

    private final VerbsUdPort port;
    private final LinkServices services;
    private final ChannelLimits limits;
    private final VerbsUdQueuePair queuePair;
    private final VerbsUdWriter writer;
    private final VerbsUdHandles handles;
    private final WatchedDescriptors descriptors;
    private final long lostCounter;
    private final WorkCompletions completions;
    private final VerbsUdChannel unknownSenders;
    private int pollsToLook;
    private boolean isResuming;
    /** Why nothing can be sent or received any more; a positive errno, 0 without an error. */
    private int lostErrno;

    VerbsUdEndpoint(
        LocalEndpoint local, VerbsUdPort port, LinkServices services, ChannelLimits limits,
        WorkCompletions completions, long lostCounter) {
        super(local);
        this.port = port;
        this.services = services;
        this.limits = limits;
        this.completions = completions;
        this.lostCounter = lostCounter;
        queuePair = port.queuePair();
        writer = queuePair.writer();
        queuePair.reader().countLost(lostCounter);
        handles = new VerbsUdHandles(port, services, port.settings().addressHandles());
        descriptors = new WatchedDescriptors(services);
        Ibverbs verbs = port.libraries().ibverbs();
        descriptors.add(verbs.channelFd(port.channel()), this::takeChannelEvents);
        int fd = verbs.asyncFd(port.context());
        if (fd >= 0) {
            descriptors.add(fd, this::takeAsyncEvents);
        }
        unknownSenders = VerbsUdChannel.ofUnknownSenders(limits, local.handlerFor(UNKNOWN_SENDERS), this);
        unknownSenders.up();
    }

    // ---- channels and groups ----

    @Override
    protected VerbsUdChannel newChannel(String address, ChannelHandler handler) {
        return VerbsUdChannel.to(limits, handler, this, address);
    }

    /** Begins to make the address handle of the peer. */
    @Override
    protected void prepare(VerbsUdChannel channel) {
        handles.prepare(channel);
    }

    @Override
    protected void join(BoundAddress joined) {
        VerbsUdGroup group = (VerbsUdGroup) joined;
        add(group);
        group.queuePair().reader().countLost(lostCounter);
    }

    @Override
    protected void leave(VerbsUdGroup group) {
        onResourceThread(group::close);
    }

    // ---- sending ----

    /** As {@link VerbsUdChannel#send}. */
    int send(VerbsUdChannel channel, TransmitOperation operation) {
        if (lostErrno != 0) {
            return -lostErrno;
        }
        if (!sendNow(channel, operation, true)) {
            waiting().add(channel, operation);
        }
        return VerbsUdChannel.PENDING;
    }

    /**
     * Puts a message into the send queue. Returns false if it has to wait, also because it must not complete before
     * sends whose completion is reported.
     */
    boolean sendNow(VerbsUdChannel channel, TransmitOperation operation, boolean isReported) {
        if (!waiting().isEmpty() || lostErrno != 0 || !writer.hasRoom() || !isReported && writer.isReporting()) {
            return false;
        }
        VerbsUdHandle handle = handles.use(channel);
        if (handle == null || handle.state != VerbsUdHandle.READY) {
            return false;
        }
        writer.add(channel, handle, operation, isReported);
        if ((operation.flags & Flags.MORE) == 0) {
            writer.postFirst();
        }
        return true;
    }

    /** Adds waiting sends to the send queue, as long as there is room and their address handles are ready. */
    private int flush() {
        int work = 0;
        waiting().dropClosed();
        while (!waiting().isEmpty() && writer.hasRoom()) {
            VerbsUdChannel channel = (VerbsUdChannel) waiting().channel(0);
            TransmitOperation operation = waiting().operation(0);
            VerbsUdHandle handle = handles.use(channel);
            if (handle == null) {
                break;
            }
            if (handle.state == VerbsUdHandle.READY) {
                waiting().drop();
                writer.add(channel, handle, operation, true);
            } else if (writer.isReporting()) {
                // earlier sends complete first
                break;
            } else {
                waiting().drop();
                handle.state = VerbsUdHandle.GONE;
                channel.handler().onSent(operation.id(), handle.errno);
            }
            work++;
            waiting().dropClosed();
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
                    writer.resumed();
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

    @Override
    protected int poll(int limit) {
        int work = isOpening() ? openAll() : 0;
        if (--pollsToLook < 0 || services.isCatchingUp()) {
            pollsToLook = POLLS_PER_LOOK;
            work += descriptors.poll();
        }
        if (lostErrno != 0) {
            return work + tellLost();
        }
        work += complete(queuePair);
        if (!waiting().isEmpty()) {
            work += flush();
        }
        work += writer.poll();
        if (writer.failure() != 0) {
            lost(FabricErrno.EIO, "the card takes no send: " + FabricErrno.name(writer.failure()));
        } else if (!isResuming && writer.isResumable()) {
            resume();
        }
        return work + receive(limit);
    }

    private int receive(int limit) {
        int work = drain(queuePair, limit);
        for (int i = 0; i < groups().size(); i++) {
            VerbsUdQueuePair ofGroup = groups().get(i).queuePair();
            work += complete(ofGroup) + drain(ofGroup, limit);
        }
        return work;
    }

    private int complete(VerbsUdQueuePair from) {
        int taken = port.path().poll(from.queue(), completions);
        for (int i = 0; i < taken; i++) {
            boolean isReceive = (completions.id(i) & VerbsUdQueuePair.RECEIVE) != 0;
            boolean isGood = completions.status(i) == VerbsConstants.WC_SUCCESS;
            if (isReceive && isGood) {
                from.reader().completed(completions, i);
            } else if (isReceive) {
                from.reader().flushed();
            } else if (isGood) {
                writer.completed((int) completions.id(i));
            } else {
                failed(i);
            }
        }
        if (taken < 0) {
            lost(FabricErrno.EIO, "the completion queue cannot be polled");
        } else if (from.reader().hasFailed()) {
            lost(FabricErrno.EIO, "the queue pair gave back its receives");
        }
        return Math.max(0, taken);
    }

    private void failed(int entry) {
        int status = completions.status(entry);
        if (status != VerbsConstants.WC_WR_FLUSH_ERR) {
            services.onError(new FabricException(FabricErrno.EIO, "a send of " + port.address() + " failed: "
                + port.libraries().ibverbs().statusText(status) + " (status " + status + ", vendor's code 0x"
                + Integer.toHexString(completions.vendorError(entry)) + ')',
                "The sends behind it were not sent; the queue is resumed."));
        }
        writer.failed((int) completions.id(entry), VerbsUdWriter.errno(completions, entry));
    }

    private int drain(VerbsUdQueuePair from, int limit) {
        VerbsUdReader reader = from.reader();
        int posted = reader.isEmpty() ? 0 : local().postedReceives();
        int drained = posted == 0 ? 0 : reader.drain(sources(), unknownSenders, Math.min(limit, posted));
        return reader.hasFree() ? drained + reader.poll(drained == 0) : drained;
    }

    @Override
    protected boolean arm() {
        if (!waiting().isEmpty() || isOpening() || writer.hasWork() || descriptors.poll() > 0
            || lostErrno != 0 && writer.outstanding() != 0) {
            return false;
        }
        boolean canReceive = local().postedReceives() != 0;
        boolean isArmed = arm(queuePair, canReceive);
        for (VerbsUdGroup group : groups()) {
            isArmed &= arm(group.queuePair(), canReceive);
        }
        if (isArmed) {
            descriptors.arm();
        }
        return isArmed;
    }

    /** A completion from before the queue was armed causes no event: the poll that follows finds it. */
    private boolean arm(VerbsUdQueuePair each, boolean canReceive) {
        if (lostErrno != 0) {
            return true;
        }
        if (canReceive && !each.reader().isEmpty() || each.reader().hasFree()) {
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
            for (VerbsUdGroup group : groups()) {
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
                        + port.place().device() + ": " + text, "Messages that are sent while it is down are lost."));
                default -> {
                    // the other events that concern this endpoint show up as completions too
                }
            }
        }
    }

    /** Nothing can be sent or received any more; waiting sends fail in the next poll. */
    private void lost(int errno, String why) {
        if (lostErrno == 0) {
            lostErrno = errno;
            // the descriptors of a removed device would stay readable
            descriptors.remove(port.libraries().ibverbs().channelFd(port.channel()));
            descriptors.remove(port.libraries().ibverbs().asyncFd(port.context()));
            services.onError(new FabricException(errno, "the endpoint " + port.address() + " on "
                + port.place().device() + " is lost: " + why, "Close it and open another one; its sends fail."));
        }
    }

    private int tellLost() {
        int work = writer.outstanding() + waiting().size();
        writer.abort(lostErrno);
        while (!waiting().isEmpty()) {
            DatagramChannel channel = waiting().channel(0);
            TransmitOperation operation = waiting().operation(0);
            waiting().drop();
            if (!channel.isClosed()) {
                channel.handler().onSent(operation.id(), lostErrno);
            }
        }
        return work;
    }

    // ---- end ----

    /** The endpoint's objects of the device are freed on the resource thread. */
    @Override
    protected void detach() {
        Runnable rest = end();
        onResourceThread(rest);
    }

    @Override
    protected void close() {
        end().run();
    }

    private Runnable end() {
        waiting().clear();
        descriptors.close();
        List<VerbsUdGroup> joined = List.copyOf(groups());
        groups().clear();
        return () -> {
            joined.forEach(VerbsUdGroup::close);
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
                // there is no result
            }

            @Override
            protected void onFailed(Throwable cause) {
                services.onError(cause);
            }
        });
    }
}
