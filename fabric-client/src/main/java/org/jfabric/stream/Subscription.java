package org.jfabric.stream;

import java.nio.ByteOrder;
import java.util.ArrayDeque;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.AddressVector;
import org.jfabric.Completion;
import org.jfabric.CompletionError;
import org.jfabric.CompletionHandler;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.EventEntry;
import org.jfabric.EventError;
import org.jfabric.EventQueue;
import org.jfabric.Fabric;
import org.jfabric.Fid;
import org.jfabric.MemoryRegion;
import org.jfabric.MessageHandler;
import org.jfabric.MulticastGroup;
import org.jfabric.RecvContext;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.Codes;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.EventQueueAttr;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.JoinAttr;
import org.jfabric.info.LogPosition;
import org.jfabric.info.Mode;
import org.jfabric.info.WaitObject;

/**
 * A reader of a group on one host: shows each message in order, in the driver's memory, with its position.
 *
 * <pre>{@code
 * try (Subscription quotes = Subscription.on(fabric, "jfabric://alpha/quotes").open()) {
 *     quotes.poll((buffer, offset, length, header) -> onQuote(header.position(), buffer.getLong(offset)), 16);
 * }
 * }</pre>
 *
 * <p>The data path answers with numbers, and allocates nothing. It is an endpoint with buffered receives: a message is
 * copied once, by the driver, out of the group's ring into memory that only this reader has; one that is longer than
 * {@code jfabric.queue.bufferedLimitBytes} once more. Owner: one thread at a time.
 */
public final class Subscription implements AutoCloseable {
    /** So many empty polls come between two looks at the events, each of which runs a whole duty cycle. */
    private static final int EMPTY_POLLS = 64;
    private static final UnsafeBuffer NO_BYTES = new UnsafeBuffer(new byte[0]);

    private final Builder.Opened opened;
    private final Endpoint endpoint;
    private final CompletionQueue queue;
    private final MulticastGroup group;
    private final MessageHandler messages = this::onMessage;
    private final CompletionHandler others = this::onEnd;
    private final StreamHeader header = new StreamHeader();
    private final CompletionError error = new CompletionError();
    private final EventEntry event = new EventEntry();
    private final EventError eventError = new EventError();
    /** Messages, and gaps of two longs, that came behind a longer one which is being fetched. */
    private final ArrayDeque<Object> held = new ArrayDeque<>();
    private StreamListener listener;
    private long position;
    private boolean isFetching;
    private int shown;
    private int emptyPolls;
    /** Why the membership has ended; a positive errno, or 0. */
    private int end;

    private Subscription(Builder.Opened opened, MulticastGroup group) {
        this.opened = opened;
        this.endpoint = opened.endpoint;
        this.queue = opened.queue;
        this.group = group;
        this.position = group.start().position();
        this.header.term = group.start().term();
    }

    /**
     * Settings of a subscription.
     *
     * @param fabric  of any driver of this user.
     * @param address {@code jfabric://driver/group}, with the driver of the writer.
     * @return a builder with defaults.
     */
    public static Builder on(Fabric fabric, String address) {
        return new Builder(Codes.required(fabric, "fabric"), Codes.required(address, "address"));
    }

    /**
     * Shows messages that are there, and has an embedded driver in mode INVOKER do its work. An exception of the
     * listener passes through; its message counts as read.
     *
     * @param newListener takes them, and the gaps between them; keep one and pass it to each poll, since a lambda that
     *                    captures variables is a new object each time.
     * @param limit      messages to show at most, 1 or more; a few more if they waited behind a longer one.
     * @return messages that were shown, or a negative errno: {@code -FI_EAGAIN} if there is none now;
     *     {@code -FI_ESHUTDOWN} once all was read of a writer that has left, {@code -FI_ECONNRESET} of one that has
     *     died, {@code -FI_ETIMEDOUT} if this reader was removed; {@code -FI_ETRUNC} once for a message that is longer
     *     than {@link Builder#maxLength(int)}; or as {@link CompletionQueue#pollMessages}.
     */
    public int poll(StreamListener newListener, int limit) {
        listener = newListener;
        shown = 0;
        int result = queue.pollMessages(messages, others, limit);
        if (result == -FabricErrno.EAVAIL) {
            result = readError();
        }
        if (!isFetching && !held.isEmpty()) {
            showHeld();
        }
        if (shown != 0) {
            emptyPolls = 0;
            return shown;
        }
        if (result >= 0 || result == -FabricErrno.EAGAIN) {
            return end == 0 || isFetching ? whenEmpty() : -end;
        }
        return result;
    }

    /**
     * Sleeps until there may be something to poll. Only of a subscription that was opened with
     * {@link Builder#blocking()}.
     *
     * @param timeoutNs nanoseconds; negative for no limit.
     * @return 0 or more if there is something; {@code -FI_EAGAIN} after the time; or as {@link CompletionQueue#sread}.
     */
    public int await(long timeoutNs) {
        int result = queue.sread(NO_BYTES, 0, 0, 0, timeoutNs);
        emptyPolls = EMPTY_POLLS;
        return result == -FabricErrno.EAVAIL ? 0 : result;
    }

    /**
     * The position of the next message.
     *
     * @return that behind the last message or gap that was shown.
     */
    public long position() {
        return position;
    }

    /**
     * The place of the next message, with log and term: a later subscription continues there
     * ({@link Builder#from(LogPosition)}).
     *
     * @return the place.
     */
    public LogPosition next() {
        return group.start().at(position);
    }

    /** Leaves the group. Has no effect if it is closed. */
    @Override
    public void close() {
        end = FabricErrno.EOPBADSTATE;
        opened.close();
    }

    @Override
    public String toString() {
        return "Subscription{" + group.address() + ", position=" + position + '}';
    }

    private int whenEmpty() {
        if (++emptyPolls < EMPTY_POLLS) {
            return -FabricErrno.EAGAIN;
        }
        emptyPolls = 0;
        int result = opened.events.read(event, 0);
        if (result == -FabricErrno.EAVAIL && opened.events.readErr(eventError, 0) == 1
            && eventError.fid() == endpoint) {
            // the entries of all messages were written before
            end = eventError.err();
        }
        return -FabricErrno.EAGAIN;
    }

    private void onMessage(RecvContext message) {
        if (!isFetching && held.isEmpty()) {
            show(message);
        } else if (message.retain() == 0) {
            held.add(message);
        }
    }

    private void show(RecvContext message) {
        if (message.isWhole()) {
            header.of(message.flags(), message.tag(), message.data());
            show(message.buffer(), (int) message.messageLength(), message.position());
        } else {
            isFetching = endpoint.messages().recvmsg(opened.memory.address(), opened.maxLength,
                FabricAddress.ADDR_UNSPEC, message.id(), Flags.CLAIM) == 0;
            if (!isFetching) {
                held.addFirst(message);
            }
        }
    }

    private void show(DirectBuffer buffer, int length, long at) {
        header.position = at;
        position = at + 1;
        shown++;
        listener.onMessage(buffer, 0, length, header);
    }

    /** A longer message was fetched. */
    private void onEnd(Completion entry) {
        isFetching = false;
        header.of(entry.flags(), entry.tag(), entry.data());
        show(opened.memory.buffer(), (int) entry.len(), entry.position());
        showHeld();
    }

    private void showHeld() {
        for (int left = held.size(); left > 0 && !isFetching; left--) {
            Object next = held.poll();
            if (next instanceof long[] gap) {
                gap(gap[0], gap[1]);
            } else {
                showHeld((RecvContext) next);
            }
        }
    }

    private void showHeld(RecvContext message) {
        boolean isWhole = message.isWhole();
        show(message);
        while (isWhole && message.release() == -FabricErrno.EAGAIN) {
            // until the driver has taken what was posted before
            Thread.onSpinWait();
        }
    }

    private void gap(long first, long last) {
        position = last + 1;
        listener.onGap(first, last);
    }

    private int readError() {
        if (queue.readErr(error, 0) != 1) {
            return -FabricErrno.EAGAIN;
        }
        if (error.err() == FabricErrno.ENODATA && (error.flags() & Flags.MULTICAST) != 0) {
            long first = error.errData().getLong(0, ByteOrder.LITTLE_ENDIAN);
            long last = error.errData().getLong(Long.BYTES, ByteOrder.LITTLE_ENDIAN);
            if (isFetching || !held.isEmpty()) {
                held.add(new long[] {first, last});
            } else {
                gap(first, last);
            }
            return -FabricErrno.EAGAIN;
        }
        // of the message that was fetched, which counts as read
        isFetching = false;
        position++;
        return -error.err();
    }

    /** Settings of a {@link Subscription}. */
    public static final class Builder {
        private final Fabric fabric;
        private final String address;
        private final JoinAttr attr = new JoinAttr();
        private int maxLength = 131_072;
        private boolean isBlocking;

        private Builder(Fabric fabric, String address) {
            this.fabric = fabric;
            this.address = address;
        }

        /**
         * Sets where it begins, for example {@link Subscription#next()} of an earlier one.
         *
         * @param place the first message, which the ring has to have still; null, the default, for what is written from
         *              now on.
         * @return this.
         */
        public Builder from(LogPosition place) {
            attr.from(place);
            return this;
        }

        /**
         * Sets the length of the longest message.
         *
         * @param bytes 1 or more; default 128 KiB.
         * @return this.
         */
        public Builder maxLength(int bytes) {
            maxLength = bytes;
            return this;
        }

        /**
         * Makes {@link Subscription#await(long)} possible.
         *
         * @return this.
         */
        public Builder blocking() {
            isBlocking = true;
            return this;
        }

        /**
         * Joins the group.
         *
         * @return its reader.
         * @throws FabricException as {@link Endpoint#join(String, long, long, JoinAttr)}.
         */
        public Subscription open() {
            Opened opened = new Opened(this);
            boolean joined = false;
            try {
                opened.open();
                Subscription result = new Subscription(opened, opened.endpoint.join(address, 0, Flags.RECV, attr));
                joined = true;
                return result;
            } finally {
                if (!joined) {
                    opened.close();
                }
            }
        }

        /** What one subscription consists of. */
        private static final class Opened {
            private final int maxLength;
            private final boolean isBlocking;
            private final Fabric fabric;
            private final Domain domain;
            private CompletionQueue queue;
            private AddressVector peers;
            private EventQueue events;
            private MemoryRegion memory;
            private Endpoint endpoint;

            Opened(Builder builder) {
                maxLength = builder.maxLength;
                isBlocking = builder.isBlocking;
                fabric = builder.fabric;
                domain = fabric.domain(fabric.info(Publication.hints().mode(Mode.BUFFERED_RECV)).best());
            }

            void open() {
                queue = domain.openCompletionQueue(
                    new CompletionQueueAttr().waitObject(isBlocking ? WaitObject.UNSPEC : WaitObject.NONE));
                peers = domain.openAddressVector(new AddressVectorAttr());
                events = fabric.openEventQueue(new EventQueueAttr());
                memory = domain.allocate(maxLength);
                endpoint = domain.openEndpoint(domain.info());
                endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
                endpoint.bind(peers);
                endpoint.bind(events, 0);
                endpoint.enable();
            }

            void close() {
                for (Fid object : new Fid[] {endpoint, events, queue, peers, memory, domain}) {
                    if (object != null) {
                        object.close();
                    }
                }
            }
        }
    }
}
