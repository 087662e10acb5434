package org.jfabric.stream;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.agrona.DirectBuffer;
import org.jfabric.Completion;
import org.jfabric.CompletionError;
import org.jfabric.CompletionHandler;
import org.jfabric.Endpoint;
import org.jfabric.EventEntry;
import org.jfabric.EventError;
import org.jfabric.EventQueue;
import org.jfabric.Fabric;
import org.jfabric.Messenger;
import org.jfabric.MulticastGroup;
import org.jfabric.SendClaim;
import org.jfabric.info.Codes;
import org.jfabric.info.EndpointType;
import org.jfabric.info.EventQueueAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.LogPosition;

/**
 * The writer of a group: each message is copied once, and gets the next position of the group's log.
 *
 * <pre>{@code
 * try (Publication quotes = Publication.on(fabric, "jfabric://alpha/quotes").open()) {
 *     while (quotes.offer(buffer, 0, length) == -FabricErrno.EAGAIN) {
 *         idle.idle();
 *     }
 * }
 * }</pre>
 *
 * <p>The data path answers with 0 or a negative errno, and allocates nothing. With an embedded driver in mode INVOKER
 * readers of other drivers join while {@link #offer} is called, or {@link #poll}. Owner: one thread at a time.
 */
public final class Publication implements AutoCloseable, CompletionHandler {
    private static final int ENTRIES = 4;
    private static final long CLOSE_NS = 1_000_000_000L;
    /** Context of a message that is sent from the publication's memory; claims have entries, too. */
    private static final long FROM_MEMORY = 1;

    private final Messenger writer;
    /** Says that the group has ended while nothing is written. */
    private final EventQueue events;
    /** Null unless it is recorded. */
    private final LogReader log;
    private final Endpoint endpoint;
    private final MulticastGroup group;
    private final long destination;
    private final int maxLength;
    private final int offerLength;
    /** Messages are written into the ring in the call that accepts them. */
    private final boolean isDirect;
    private final CompletionError error = new CompletionError();
    private final EventEntry event = new EventEntry();
    private final EventError eventError = new EventError();
    private long position;
    /** A message lies in {@link Messenger#memory()} until its entry comes. */
    private boolean isSending;
    /** Committed claims whose entries are to come: they may wait for room in the ring. */
    private int claims;
    /** Why nothing more can be written; a positive errno, or 0. */
    private int failure;

    /** What {@link Endpoint#txSizeLeft()} is when the driver has everything that was accepted. */
    private final long idleSends;

    private Publication(Messenger writer, EventQueue events, MulticastGroup group, int maxLength) {
        this.writer = writer;
        this.events = events;
        this.log = group.log() == null ? null : LogReader.open(group.log());
        this.endpoint = writer.endpoint();
        this.group = group;
        this.destination = group.fiAddr();
        this.maxLength = maxLength;
        this.offerLength = Math.min(group.offerLength(), maxLength);
        this.isDirect = group.offerLength() > endpoint.injectSize();
        this.position = group.start().position();
        this.idleSends = endpoint.txSizeLeft();
    }

    /** Groups that lose nothing: of endpoints for reliable datagrams. */
    static Info hints() {
        Info hints = new Info().caps(Flags.MSG | Flags.MULTICAST);
        hints.epAttr().type(EndpointType.RDM);
        return hints;
    }

    /**
     * Settings of a publication.
     *
     * @param fabric  of the driver that the address names.
     * @param address {@code jfabric://driver/group}; with {@code ?lossy} behind it the writer does not wait for
     *                readers.
     * @return a builder with defaults.
     */
    public static Builder on(Fabric fabric, String address) {
        return new Builder(Codes.required(fabric, "fabric"), Codes.required(address, "address"));
    }

    /**
     * Writes a message. The bytes may be changed when the call returns.
     *
     * @param buffer holds the message.
     * @param offset of its first byte.
     * @param length bytes, 0 to {@link #maxLength()}.
     * @return 0, and the message had the position {@link #position()} before the call; or then nothing was written:
     *     {@code -FI_EAGAIN} if a reader or the driver must catch up, {@code -FI_EMSGSIZE} for a longer message,
     *     {@code -FI_EINVAL} for a range outside of the buffer, another negative errno if the group has ended.
     */
    public int offer(DirectBuffer buffer, int offset, int length) {
        if (length > maxLength) {
            return -FabricErrno.EMSGSIZE;
        }
        if (isSending || failure != 0) {
            return refused();
        }
        if (length > offerLength) {
            return send(buffer, offset, length);
        }
        return accepted(group.offer(buffer, offset, length));
    }

    /**
     * Opens a claim, in whose buffer a message is encoded; {@link #commit} or {@link SendClaim#abort()} ends it.
     *
     * @param length bytes of the longest message that may be committed, at most {@link Endpoint#injectSize()}.
     * @param claim  not open.
     * @return as {@link #offer}; {@code -FI_EINVAL} also for a greater length.
     */
    public int tryClaim(int length, SendClaim claim) {
        if (isSending || failure != 0) {
            return refused();
        }
        if (!group.hasRoom(length)) {
            return again();
        }
        int result = endpoint.tryClaim(length, claim);
        return result == -FabricErrno.EAGAIN ? again() : result;
    }

    /**
     * Writes what was encoded in a claim of this publication.
     *
     * @param claim  open.
     * @param length bytes, at most those that were claimed.
     * @return as {@link SendClaim#commit(int, long, long, long, long, long)}.
     */
    public int commit(SendClaim claim, int length) {
        if (isDirect && claim.isOpen() && length <= claim.buffer().capacity()
            && group.offer(claim.buffer(), 0, length) == 0) {
            // a send would have an entry
            claim.abort();
            position++;
            return 0;
        }
        int result = accepted(claim.commit(length, 0, destination, 0, 0, Flags.MSG));
        claims += result == 0 ? 1 : 0;
        return result;
    }

    /**
     * Lets an embedded driver in mode INVOKER work, and finds out whether the group has ended. A publication that
     * writes all the time need not call it.
     *
     * @return 0, or a negative errno if nothing more can be written.
     */
    public int poll() {
        again();
        if (failure == 0 && events.read(event, 0) == -FabricErrno.EAVAIL && events.readErr(eventError, 0) == 1) {
            failure = eventError.err();
        }
        return -failure;
    }

    /**
     * The position of the next message.
     *
     * @return 0 or more.
     */
    public long position() {
        return position;
    }

    /**
     * The place of the next message, with log and term.
     *
     * @return where a subscription could begin.
     */
    public LogPosition next() {
        return group.start().at(position);
    }

    /**
     * How far a recorded group survives a kill of the driver: its log has all messages before this position.
     *
     * @return the position, at most {@link #position()}; read from the log, which costs a system call.
     * @throws FabricException {@code FI_EOPNOTSUPP} if the group is not recorded.
     */
    public long written() {
        return log().written();
    }

    /**
     * How far a recorded group survives a power cut: all messages before this position are on stable storage. Only with
     * {@link LogOptions.Visibility#SYNCED} does that go on by itself; else a segment is synced at its end, and the log
     * when the publication closes.
     *
     * @return the position, at most {@link #written()}; read from the log, which costs a system call.
     * @throws FabricException as {@link #written()}.
     */
    public long synced() {
        return log().synced();
    }

    private LogReader log() {
        if (log == null) {
            throw new FabricException(FabricErrno.EOPNOTSUPP, group.address() + " is not recorded",
                "Open its publication with recordIn(folder).");
        }
        return log;
    }

    /**
     * The longest message.
     *
     * @return bytes.
     */
    public int maxLength() {
        return maxLength;
    }

    /** Called for the entry of a message that was longer than the driver takes at once. */
    @Override
    public void onCompletion(Completion completion) {
        if (completion.opContext() == FROM_MEMORY) {
            isSending = false;
        } else {
            claims--;
        }
    }

    /**
     * Ends the group: readers get what was written, then the end. What was accepted may have to wait for room in the
     * ring, at most a second. The driver still records it, and closes the log, in at most some seconds; the next
     * publication with this log waits for that. Has no effect if it is closed.
     */
    @Override
    public void close() {
        long deadlineNs = System.nanoTime() + CLOSE_NS;
        while ((isSending || claims > 0 || isUnsent()) && failure == 0 && System.nanoTime() - deadlineNs < 0) {
            again();
            Thread.onSpinWait();
        }
        failure = FabricErrno.EOPBADSTATE;
        // first: the writer's close fails if the driver does not answer
        if (log != null) {
            log.close();
        }
        writer.close();
        events.close();
    }

    /** Whether a message that was offered lies in the queue of a daemon. */
    private boolean isUnsent() {
        long left = endpoint.txSizeLeft();
        return left >= 0 && left < idleSends;
    }

    @Override
    public String toString() {
        return "Publication{" + group.address() + ", position=" + position + '}';
    }

    private int accepted(int result) {
        if (result == 0) {
            position++;
            return 0;
        }
        return result == -FabricErrno.EAGAIN ? again() : result;
    }

    private int refused() {
        again();
        return failure != 0 ? -failure : -FabricErrno.EAGAIN;
    }

    private int send(DirectBuffer buffer, int offset, int length) {
        if (offset < 0 || length > buffer.capacity() - offset) {
            return -FabricErrno.EINVAL;
        }
        writer.memory().buffer().putBytes(0, buffer, offset, length);
        int result = endpoint.send(writer.memory().address(), length, destination, FROM_MEMORY);
        if (result != 0) {
            return result == -FabricErrno.EAGAIN ? again() : result;
        }
        isSending = true;
        position++;
        again();
        return 0;
    }

    /** Reads the queue; returns {@code -FI_EAGAIN}. */
    private int again() {
        int result = writer.queue().poll(this, ENTRIES);
        if (result == -FabricErrno.EAVAIL && writer.queue().readErr(error, 0) == 1) {
            failure = error.err();
        } else if (result < 0 && result != -FabricErrno.EAGAIN && failure == 0) {
            failure = -result;
        }
        return -FabricErrno.EAGAIN;
    }

    /** Settings of a {@link Publication}. */
    public static final class Builder {
        private final Fabric fabric;
        private final String address;
        private int maxLength = 65_536;
        private Path log;
        private LogOptions options;
        private String network;
        /** What is behind {@link #network} in the address. */
        private String policies = "";

        private Builder(Fabric fabric, String address) {
            this.fabric = fabric;
            this.address = address;
        }

        /**
         * Sets the length of the longest message.
         *
         * @param bytes 1 or more; default 64 KiB. An eighth of the ring less 32 bytes is the driver's limit
         *              ({@code jfabric.shm.groupRingLengthBytes}); a longer message ends the publication.
         * @return this.
         */
        public Builder maxLength(int bytes) {
            maxLength = bytes;
            return this;
        }

        /**
         * Has the group recorded, with the defaults of {@link LogOptions}.
         *
         * @param folder as {@link #recordIn(Path, LogOptions)}.
         * @return this.
         */
        public Builder recordIn(Path folder) {
            return recordIn(folder, new LogOptions());
        }

        /**
         * Has the group recorded by the driver. Messages are numbered on from the end of the log.
         *
         * @param folder      of the log, made if there is none; on this host, and one that the driver's user can write.
         * @param newOptions  of the log.
         * @return this.
         */
        public Builder recordIn(Path folder, LogOptions newOptions) {
            log = Codes.required(folder, "folder").toAbsolutePath();
            options = Codes.required(newOptions, "options");
            return this;
        }

        /**
         * Has drivers of other hosts read the group, too: they name it {@code stream://host:port/group}. Unless the
         * group is lossy its writer waits for them as for readers of this host. Without keys of groups in the driver's
         * configuration anyone who reaches the socket can read the group, and whoever sees the datagrams can forge
         * them.
         *
         * @param socket {@code host:port} of this host, from where the driver sends over UDP to each host, or
         *               {@code group:port} of a multicast group, with {@code @interface} behind it if it is not that of
         *               the driver's configuration; several groups can have the same. Two with a semicolon between them
         *               are two paths: everything is sent by both.
         * @return this.
         */
        public Builder onNetwork(String socket) {
            network = Codes.required(socket, "socket");
            return this;
        }

        /**
         * Waits for as many other hosts as a number says, whichever are first, instead of for all. The ring keeps what
         * fewer have received, also while fewer have joined; who is behind it gets a gap. Readers of the writer's own
         * host do not count, and are waited for as without.
         *
         * @param hosts 1 to 256.
         * @return this.
         */
        public Builder quorum(int hosts) {
            return policy("quorum=" + hosts);
        }

        /**
         * Waits for named hosts alone, also while they have not joined. Others that are behind the ring get a gap.
         * Readers of the writer's own host are waited for as without.
         *
         * @param drivers names of the drivers that read there; two with one name are both waited for.
         * @return this.
         */
        public Builder required(String... drivers) {
            return policy("required=" + String.join(",", drivers));
        }

        /**
         * Limits the rate at which messages are sent to other hosts, all of them together; a writer that waits for
         * hosts is held back by that.
         *
         * @param bytesPerSecond of datagrams, 1 or more; up to 256 KiB, or what is sent in a millisecond, may be sent
         *                       at once.
         * @return this.
         */
        public Builder rateLimit(long bytesPerSecond) {
            return policy("rate=" + bytesPerSecond);
        }

        private Builder policy(String option) {
            policies += '&' + option;
            return this;
        }

        private String withOptions() {
            String named = network == null ? address : address + separator(address) + "net=" + network;
            // without a network the driver refuses them, and says why
            named += policies.isEmpty() || named.indexOf('?') >= 0 ? policies : '?' + policies.substring(1);
            return log == null ? named : named + separator(named) + "log="
                + URLEncoder.encode(log.toString(), StandardCharsets.UTF_8) + options;
        }

        private static char separator(String before) {
            return before.indexOf('?') < 0 ? '?' : '&';
        }

        /**
         * Opens the group.
         *
         * @return its writer.
         * @throws FabricException as {@link Endpoint#join(String, long, long)}; of a recorded group also
         *     {@code FI_EBUSY} if the log has another writer, {@code FI_EACCES} for a client of another user than the
         *     driver's, {@code FI_EINVAL} for options that the log was not made with, {@code FI_ENOSPC}, {@code FI_EIO}
         *     if the log was damaged; of one for other hosts {@code FI_EADDRINUSE}, {@code FI_EADDRNOTAVAIL},
         *     {@code FI_EOPNOTSUPP} if the driver has no link udp, or the group is recorded and the network is a
         *     multicast group or has keys; {@code FI_EINVAL} for policies that contradict each other, or of a group
         *     that no other host reads.
         */
        public Publication open() {
            EventQueue events = fabric.openEventQueue(new EventQueueAttr());
            Messenger writer = null;
            boolean opened = false;
            try {
                writer = fabric.messenger().hints(hints()).memoryBytes(maxLength).events(events).open();
                MulticastGroup group = writer.endpoint().join(withOptions(), 0, Flags.SEND);
                Publication result = new Publication(writer, events, group, maxLength);
                opened = true;
                return result;
            } finally {
                if (!opened) {
                    if (writer != null) {
                        writer.close();
                    }
                    events.close();
                }
            }
        }
    }
}
