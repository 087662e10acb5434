package org.jfabric.stream;

import java.util.List;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.agrona.DirectBuffer;
import org.jfabric.AddressVector;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.Fabric;
import org.jfabric.Fid;
import org.jfabric.MulticastGroup;
import org.jfabric.MulticastReader;
import org.jfabric.PendingReader;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.Codes;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.JoinAttr;
import org.jfabric.info.LogPosition;
import org.jfabric.info.TimestampClock;
import org.jfabric.info.WaitObject;

/**
 * A reader of a group: shows each message in order, where its writer has put it, with its position.
 *
 * <pre>{@code
 * try (Subscription quotes = Subscription.on(fabric, "jfabric://alpha/quotes").open()) {
 *     quotes.poll((buffer, offset, length, header) -> onQuote(header.position(), buffer.getLong(offset)), 16);
 * }
 * }</pre>
 *
 * <p>Of a group that is recorded ({@link Publication.Builder#recordIn}) it shows messages from the log, too: those from
 * before it was opened, and those that the writer has overwritten because this reader was slow. Each comes once, in
 * order; nothing holds the writer back. A reader that polls on when the writer has left or died continues with the
 * next one.
 *
 * <p>The messages are read where the writer has put them ({@link MulticastReader}): its driver has no part in that, and
 * neither has the reader's. Of a writer that does not wait for its readers they are copied once.
 *
 * <p>The data path answers with numbers, and allocates nothing. Owner: one thread at a time.
 */
public final class Subscription implements AutoCloseable {
    /** So many empty polls of the log come between two looks for what the driver says. */
    private static final int EMPTY_POLLS = 64;
    private static final long RETRY_NS = 50_000_000;
    /** Why a group cannot be joined whose writer may come back. */
    private static final List<Integer> NOT_YET = List.of(
        FabricErrno.ECONNREFUSED, FabricErrno.EHOSTUNREACH, FabricErrno.ECONNRESET, FabricErrno.ETIMEDOUT,
        FabricErrno.EAGAIN, FabricErrno.ENODATA, FabricErrno.ENOENT, FabricErrno.ESHUTDOWN);

    private final Builder.Opened opened;
    private final StreamListener fromLog = new FromLog();
    private MulticastReader reader;
    private MulticastGroup group;
    private StreamHeader header;
    private StreamListener listener;
    private long position;
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
    /** Why nothing comes; a positive errno, or 0. */
    private int end;
    /** Its writer has left or died, and may come back with the same log. */
    private boolean isAway;
    /** The membership with the next writer, while it is being joined; null if it is not. */
    private PendingReader pending;
    private long retryNs;

    private Subscription(Builder.Opened opened, MulticastReader reader, LogReader log) {
        this.opened = opened;
        this.log = log;
        reads(reader);
        this.position = log == null ? fillUntil : log.position();
        this.term = group.start().term();
    }

    private void reads(MulticastReader newReader) {
        reader = newReader;
        group = newReader.group();
        fillUntil = group.start().position();
        header = new StreamHeader(newReader);
        header.term = group.start().term();
    }

    /**
     * Settings of a subscription.
     *
     * @param fabric  of any driver of this user.
     * @param address {@code jfabric://driver/group}, with the driver of the writer; of a writer on another host
     *                {@code stream://host:port/group}, as {@link Publication.Builder#onNetwork} has named it there,
     *                with a second {@code ;host:port} for two paths.
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
     * @param limit      messages to show at most, 1 or more.
     * @return messages that were shown, or a negative errno: {@code -FI_EAGAIN} if there is none now;
     *     {@code -FI_ESHUTDOWN} once all was read of a writer that has left, {@code -FI_ECONNRESET} of one whose driver
     *     has died: further polls continue at the next message once there is a writer with the same log, and answer
     *     {@code -FI_EINVAL} if there is one with another log, or without messages that were shown here;
     *     {@code -FI_ETIMEDOUT} if this reader was removed; or as {@link MulticastReader#next()}.
     */
    public int poll(StreamListener newListener, int limit) {
        listener = newListener;
        if (end != 0 && !(isAway && isBack())) {
            return -end;
        }
        return isFilling() ? pollLog(limit) : pollRing(limit);
    }

    /** The membership has ended; that of a group whose next writer may have the same log is begun again. */
    private void ended(int errno) {
        end = errno;
        isAway = (errno == FabricErrno.ECONNRESET || errno == FabricErrno.ESHUTDOWN)
            && (group.log() != null || opened.isElsewhere());
        retryNs = System.nanoTime();
    }

    /** Joins at the next message when the writer is back; false if it is not yet, or cannot be continued. */
    private boolean isBack() {
        try {
            if (pending == null && System.nanoTime() - retryNs >= 0) {
                reader.close();
                pending = opened.begin(opened.isElsewhere() ? next() : null);
            }
            MulticastReader joined = pending == null ? null : pending.poll();
            if (joined == null) {
                return false;
            }
            pending = null;
            continueBy(joined);
        } catch (FabricException refused) {
            pending = null;
            retryNs = System.nanoTime() + RETRY_NS;
            if (!NOT_YET.contains(refused.errno())) {
                reader.close();
                isAway = false;
                end = refused.errno();
            }
            return false;
        }
        isAway = false;
        end = 0;
        return true;
    }

    private void continueBy(MulticastReader joined) {
        LogPosition next = next();
        if (!joined.group().start().logId().equals(next.logId())) {
            // it would hold that writer back
            joined.close();
            throw new FabricException(FabricErrno.EINVAL, joined.group().address() + " has another log than " + next);
        }
        reads(joined);
        isCutOff = false;
        if (log != null) {
            log.close();
            log = null;
        }
        if (!opened.isElsewhere()) {
            log = openLog(group);
            log.from(next.term(), next.position());
        }
    }

    /** Shows messages from the ring. */
    private int pollRing(int limit) {
        shown = 0;
        try {
            while (shown < limit) {
                int found = reader.next();
                if (found == 1) {
                    show();
                } else if (found == -FabricErrno.ENODATA) {
                    if (!skip()) {
                        break;
                    }
                } else if (shown == 0) {
                    if (found != -FabricErrno.EAGAIN) {
                        ended(-found);
                    }
                    return found;
                } else {
                    break;
                }
            }
        } catch (InternalError fault) {
            end = -reader.onFault(fault);
            return -end;
        }
        return shown == 0 ? -FabricErrno.EAGAIN : shown;
    }

    private void show() {
        long at = reader.position();
        if (at < position) {
            // a gap of the log that was shown reaches beyond where the ring begins again
            return;
        }
        header.position = at;
        term = header.term;
        position = at + 1;
        shown++;
        listener.onMessage(reader.buffer(), reader.offset(), reader.length(), header);
    }

    /** Messages were overwritten before they were read; false if they are to be read from the log first. */
    private boolean skip() {
        if (group.log() != null) {
            if (reader.position() <= position) {
                return true;
            }
            fill(reader.position());
            return false;
        }
        long first = position;
        position = reader.position();
        listener.onGap(first, position - 1);
        return true;
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
        if (++emptyPolls >= EMPTY_POLLS || shown == 0) {
            emptyPolls = 0;
            opened.work();
        }
        return shown == 0 ? -FabricErrno.EAGAIN : shown;
    }

    private void cutOff() {
        isCutOff = true;
        ended(FabricErrno.ECONNRESET);
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
            // one behind what was to be filled is behind messages that are in the ring
            if (lastPosition >= position && isFilling() && !isCutOff) {
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
     * @return 0 if there may be something; else as {@link MulticastReader#await}.
     */
    public int await(long timeoutNs) {
        if (isAway && timeoutNs != 0) {
            LockSupport.parkNanos(timeoutNs < 0 ? RETRY_NS : Math.min(timeoutNs, RETRY_NS));
        }
        return isFilling() || end != 0 ? 0 : reader.await(timeoutNs);
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
        isAway = false;
        // first: leaving fails if the driver does not answer
        if (log != null) {
            log.close();
        }
        opened.close();
    }

    @Override
    public String toString() {
        return "Subscription{" + group.address() + ", position=" + position + '}';
    }

    /** Settings of a {@link Subscription}. */
    public static final class Builder {
        private final Fabric fabric;
        private final String address;
        private final JoinAttr attr = new JoinAttr();
        /** Sets the reader of a log to where this one begins; null if it begins in the ring. */
        private Consumer<LogReader> start;
        private boolean isBlocking;
        /** Null without times. */
        private TimestampClock times;

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
            attr.from(isElsewhere() ? LogPosition.OLDEST : null);
            start = log -> log.from(LogReader.OLDEST);
            return this;
        }

        /**
         * Has each message say when it arrived at this host ({@link StreamHeader#arrivedNs()}): of a group of another
         * host alone, {@code stream://…}. The driver receives it apart from that for subscriptions without times.
         *
         * @param clock whose.
         * @return this.
         */
        public Builder timestamps(TimestampClock clock) {
            times = clock;
            return this;
        }

        /** As the driver gets it. */
        private String timedAddress() {
            if (times == null) {
                return address;
            }
            if (!isElsewhere()) {
                throw new FabricException(FabricErrno.ENODATA, address + " is a group of this host, whose messages"
                    + " arrive by memory", "Subscribe without times: send the time in the message.");
            }
            return address + JoinAttr.TIMES + times.name().toLowerCase(Locale.ROOT);
        }

        /** Whether the log is on another host: drivers read it there. */
        private boolean isElsewhere() {
            return address.startsWith(JoinAttr.STREAM_SCHEME);
        }

        /**
         * Sets that it begins with the first message of a recorded group that was not recorded before a time.
         *
         * @param timeNs nanoseconds since 1970.
         * @return this.
         */
        public Builder fromTime(long timeNs) {
            attr.from(isElsewhere() ? LogPosition.atTime(Math.max(0, timeNs)) : null);
            start = log -> log.fromTime(timeNs);
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
         * @throws FabricException as {@link Endpoint#openReader(String, long, JoinAttr)}; {@code FI_EOPNOTSUPP} if it
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
                    return new Subscription(opened, opened.endpoint.openReader(opened.address, 0, attr), null);
                } catch (FabricException e) {
                    // the ring has begun behind that place, or is of a later term
                    if (attr.from() == null || isElsewhere()
                        || e.errno() != FabricErrno.ENODATA && e.errno() != FabricErrno.EINVAL) {
                        throw e;
                    }
                    refusal = e;
                }
            }
            MulticastReader reader = opened.endpoint.openReader(opened.address, 0, new JoinAttr());
            MulticastGroup group = reader.group();
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
                return new Subscription(opened, reader, log);
            } finally {
                if (!isGood) {
                    log.close();
                }
            }
        }

        /** What one subscription consists of. */
        private static final class Opened {
            private final String address;
            private final boolean isElsewhere;
            private final boolean isBlocking;
            private final Domain domain;
            private CompletionQueue queue;
            private AddressVector peers;
            private Endpoint endpoint;

            Opened(Builder builder) {
                address = builder.timedAddress();
                isElsewhere = builder.isElsewhere();
                isBlocking = builder.isBlocking;
                domain = builder.fabric.domain(builder.fabric.info(Publication.hints()).best());
            }

            void open() {
                queue = domain.openCompletionQueue(
                    new CompletionQueueAttr().waitObject(isBlocking ? WaitObject.UNSPEC : WaitObject.NONE));
                peers = domain.openAddressVector(new AddressVectorAttr());
                endpoint = domain.openEndpoint(domain.info());
                endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
                endpoint.bind(peers);
                endpoint.enable();
            }

            /** Whether the writer, and its log if it has one, are on another host. */
            boolean isElsewhere() {
                return isElsewhere;
            }

            PendingReader begin(LogPosition from) {
                return endpoint.beginReader(address, 0, new JoinAttr().from(from));
            }

            /** Has an embedded driver in mode INVOKER do its work. */
            void work() {
                queue.poll(entry -> { }, 1);
            }

            void close() {
                for (Fid object : new Fid[] {endpoint, queue, peers, domain}) {
                    if (object != null) {
                        object.close();
                    }
                }
            }
        }
    }
}
