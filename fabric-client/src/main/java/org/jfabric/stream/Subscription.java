package org.jfabric.stream;

import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.function.Consumer;
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
 * <p>Of a group that is recorded ({@link Publication.Builder#recordIn}) it shows messages from the log, too: those from
 * before it was opened, and those that the writer has overwritten because this reader was slow. Each comes once, in
 * order; nothing holds the writer back.
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
    private final StreamListener fromLog = new FromLog();
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
    /** Of the last message; any earlier position is in it, or in one before. */
    private int term;
    private int emptyPolls;
    /** Null until something is read from the log. */
    private LogReader log;
    /** Messages before this position are read from the log first. */
    private long fillUntil;
    /** The writer has died, and the log does not lead to what is left in the ring. */
    private boolean isCutOff;
    /** A long message that was read from the log is being dropped. */
    private boolean isDropping;
    /** Why the membership has ended; a positive errno, or 0. */
    private int end;

    private Subscription(Builder.Opened opened, MulticastGroup group, LogReader log) {
        this.opened = opened;
        this.endpoint = opened.endpoint;
        this.queue = opened.queue;
        this.group = group;
        this.log = log;
        this.fillUntil = group.start().position();
        this.position = log == null ? fillUntil : log.position();
        this.term = group.start().term();
        this.header.term = term;
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
        if (isCutOff) {
            return -end;
        }
        if (isFilling()) {
            return pollLog(limit);
        }
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
        if (result > 0 || isFilling()) {
            // what came was read from the log before, or comes behind messages that are in the log
            return -FabricErrno.EAGAIN;
        }
        if (result == 0 || result == -FabricErrno.EAGAIN) {
            return end == 0 || isFetching ? whenEmpty() : -end;
        }
        return result;
    }

    /** Of a recorded group: the next message is in the log, and not in the ring any more. */
    private boolean isFilling() {
        return position < fillUntil;
    }

    private void fill(long until) {
        if (log == null) {
            log = openLog(group);
        }
        log.fromOrEnd(position);
        fillUntil = until;
    }

    private static LogReader openLog(MulticastGroup group) {
        LogReader reader = LogReader.open(group.log());
        if (!reader.logId().equals(group.start().logId())) {
            reader.close();
            throw new FabricException(FabricErrno.EIO, group.log() + " has another log than " + group.address(),
                "Read the group where its writer's files are, and from now on elsewhere.");
        }
        return reader;
    }

    /** Shows messages from the log. */
    private int pollLog(int limit) {
        shown = 0;
        if (log.poll(fromLog, limit) == 0 && isFilling() && !log.hasWriter() && log.poll(fromLog, limit) == 0
            && isFilling()) {
            // the writer has died before these were recorded: the next one continues here, in its own term
            cutOff();
        }
        if (isCutOff) {
            return shown == 0 ? -end : shown;
        }
        if (!isFilling()) {
            showHeld();
        } else if (shown == 0 || ++emptyPolls >= EMPTY_POLLS) {
            emptyPolls = EMPTY_POLLS;
            whenEmpty();
        }
        return shown == 0 ? -FabricErrno.EAGAIN : shown;
    }

    private void cutOff() {
        isCutOff = true;
        end = end == 0 ? FabricErrno.ECONNRESET : end;
    }

    /** What of the log was not shown before; the rest comes by the ring, when the writer's driver shows it. */
    private final class FromLog implements StreamListener {
        @Override
        public void onMessage(DirectBuffer buffer, int offset, int length, StreamHeader from) {
            if (from.term() > group.start().term()) {
                // what is in the ring was lost, or has other positions now
                cutOff();
            } else if (from.position() >= position && isFilling() && !isCutOff) {
                position = from.position() + 1;
                term = from.term();
                shown++;
                listener.onMessage(buffer, offset, length, from);
            }
        }

        @Override
        public void onGap(long firstPosition, long lastPosition) {
            if (lastPosition >= position && !isCutOff) {
                long first = position;
                position = lastPosition + 1;
                listener.onGap(first, lastPosition);
            }
        }
    }

    /**
     * Sleeps until there may be something to poll. Only of a subscription that was opened with
     * {@link Builder#blocking()}.
     *
     * @param timeoutNs nanoseconds; negative for no limit.
     * @return 0 or more if there is something; {@code -FI_EAGAIN} after the time; or as {@link CompletionQueue#sread}.
     */
    public int await(long timeoutNs) {
        if (isFilling() || isCutOff) {
            return 0;
        }
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
        return new LogPosition(group.start().logId(), term, position);
    }

    /** Leaves the group. Has no effect if it is closed. */
    @Override
    public void close() {
        end = FabricErrno.EOPBADSTATE;
        opened.close();
        if (log != null) {
            log.close();
        }
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
        if (!isFetching && held.isEmpty() && !isFilling() && isNext(message)) {
            show(message);
        } else if (message.retain() == 0) {
            held.add(message);
        }
    }

    /** False if messages before this one are to be read from the log first. */
    private boolean isNext(RecvContext message) {
        if (message.position() > position && group.log() != null) {
            fill(message.position());
            return false;
        }
        return true;
    }

    private void show(RecvContext message) {
        if (message.position() < position) {
            drop(message);
            return;
        }
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

    /** The message was read from the log. */
    private void drop(RecvContext message) {
        if (!message.isWhole()) {
            isFetching = endpoint.messages().recvmsg(0, 0, FabricAddress.ADDR_UNSPEC, message.id(),
                Flags.CLAIM | Flags.DISCARD) == 0;
            isDropping = isFetching;
            if (!isFetching) {
                held.addFirst(message);
            }
        }
    }

    private void show(DirectBuffer buffer, int length, long at) {
        header.position = at;
        term = header.term;
        position = at + 1;
        shown++;
        listener.onMessage(buffer, 0, length, header);
    }

    /** A longer message was fetched. */
    private void onEnd(Completion entry) {
        isFetching = false;
        if (isDropping) {
            isDropping = false;
            showHeld();
            return;
        }
        header.of(entry.flags(), entry.tag(), entry.data());
        show(opened.memory.buffer(), (int) entry.len(), entry.position());
        showHeld();
    }

    private void showHeld() {
        for (int left = held.size(); left > 0 && !isFetching; left--) {
            Object next = held.poll();
            if (next instanceof long[] gap) {
                gap(gap[0], gap[1]);
            } else if (isNext((RecvContext) next)) {
                showHeld((RecvContext) next);
            } else {
                held.addFirst(next);
                return;
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

    /** Reads an error entry; 1 of a gap, behind which there may be messages. */
    private int readError() {
        if (queue.readErr(error, 0) != 1) {
            return -FabricErrno.EAGAIN;
        }
        if (error.err() == FabricErrno.ENODATA && (error.flags() & Flags.MULTICAST) != 0) {
            if (group.log() != null) {
                // the next message's position says so
                return 1;
            }
            long first = error.errData().getLong(0, ByteOrder.LITTLE_ENDIAN);
            long last = error.errData().getLong(Long.BYTES, ByteOrder.LITTLE_ENDIAN);
            if (isFetching || !held.isEmpty()) {
                held.add(new long[] {first, last});
            } else {
                gap(first, last);
            }
            return 1;
        }
        // of the message that was fetched, which counts as read
        isFetching = false;
        position += isDropping ? 0 : 1;
        isDropping = false;
        return -error.err();
    }

    /** Settings of a {@link Subscription}. */
    public static final class Builder {
        private final Fabric fabric;
        private final String address;
        private final JoinAttr attr = new JoinAttr();
        /** Sets the reader of a log to where this one begins; null if it begins in the ring. */
        private Consumer<LogReader> start;
        private int maxLength = 131_072;
        private boolean isBlocking;

        private Builder(Fabric fabric, String address) {
            this.fabric = fabric;
            this.address = address;
        }

        /**
         * Sets where it begins, for example {@link Subscription#next()} of an earlier one.
         *
         * @param place the first message, which the ring has to have still, unless the group is recorded; null, the
         *              default, for what is written from now on.
         * @return this.
         */
        public Builder from(LogPosition place) {
            attr.from(place);
            start = place == null ? null : log -> log.from(place.term(), place.position());
            return this;
        }

        /**
         * Sets that it begins with the oldest message of a recorded group.
         *
         * @return this.
         */
        public Builder fromOldest() {
            attr.from(null);
            start = log -> log.from(LogReader.OLDEST);
            return this;
        }

        /**
         * Sets that it begins with the first message of a recorded group that was not recorded before a time.
         *
         * @param timeNs nanoseconds since 1970.
         * @return this.
         */
        public Builder fromTime(long timeNs) {
            attr.from(null);
            start = log -> log.fromTime(timeNs);
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
         * @throws FabricException as {@link Endpoint#join(String, long, long, JoinAttr)}; {@code FI_EOPNOTSUPP} if it
         *     is to begin at a time or with the oldest message, and the group is not recorded; as
         *     {@link LogReader#open} if the log cannot be read, and as {@link LogReader#from(int, long)} if it has lost
         *     what was read.
         */
        public Subscription open() {
            Opened opened = new Opened(this);
            boolean joined = false;
            try {
                opened.open();
                Subscription result = join(opened);
                joined = true;
                return result;
            } finally {
                if (!joined) {
                    opened.close();
                }
            }
        }

        private Subscription join(Opened opened) {
            FabricException refusal = null;
            if (attr.from() != null || start == null) {
                try {
                    return new Subscription(opened, opened.endpoint.join(address, 0, Flags.RECV, attr), null);
                } catch (FabricException e) {
                    // the ring has begun behind that place, or is of a later term
                    if (attr.from() == null || e.errno() != FabricErrno.ENODATA && e.errno() != FabricErrno.EINVAL) {
                        throw e;
                    }
                    refusal = e;
                }
            }
            MulticastGroup group = opened.endpoint.join(address, 0, Flags.RECV);
            if (group.log() == null) {
                throw refusal != null ? refusal : new FabricException(FabricErrno.EOPNOTSUPP,
                    address + " is not recorded, and was to be read from before now",
                    "Have its publication record it, or read from now on.");
            }
            if (refusal != null && !group.start().logId().equals(attr.from().logId())) {
                throw refusal;
            }
            LogReader log = openLog(group);
            boolean isGood = false;
            try {
                start.accept(log);
                isGood = true;
                return new Subscription(opened, group, log);
            } finally {
                if (!isGood) {
                    log.close();
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
