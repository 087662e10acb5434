package org.jfabric.simulation;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.agrona.DirectBuffer;
import org.agrona.collections.LongArrayList;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.codec.stream.AcceptDecoder;
import org.jfabric.codec.stream.LostDecoder;
import org.jfabric.codec.stream.MessageHeaderDecoder;
import org.jfabric.codec.stream.StatusDecoder;
import org.jfabric.info.LogPosition;
import org.jfabric.layout.GroupRingDescriptor;
import org.jfabric.stream.Publication;

/**
 * The naive model of a group that other hosts read: the accepted messages of each of its logs, in a list. Datagrams say
 * what each host claims to have in its ring, which the writer may rely on, and its readers have to see.
 */
final class StreamLedger {
    private static final int HEADER = MessageHeaderDecoder.ENCODED_LENGTH;

    /** What waits for what. */
    enum Policy {
        RELIABLE, LOSSY, QUORUM, REQUIRED
    }

    /** A log: each opening of the group makes one. */
    final class Log {
        final UUID id;
        private final Written messages = new Written(0);
        /** Bytes of the ring that the messages up to each one have taken, without those at its end. */
        private final LongArrayList bytes = new LongArrayList();
        /** What each host has in its ring, or has joined behind: all before that position. */
        private final long[] received;
        /** First and last of what the writer has said to be lost for a host. */
        private final List<long[]> lost = new ArrayList<>();
        /** All before this position were overwritten. */
        private long overwritten;
        /** The writer has left in order, and had written everything. */
        boolean isClosed;

        Log(UUID id) {
            this.id = id;
            received = new long[hosts];
            Arrays.fill(received, -1);
        }

        long end() {
            return messages.end();
        }

        void check(DirectBuffer buffer, int offset, int length, long position) {
            messages.check(buffer, offset, length, position);
        }

        private long bytesFrom(long position) {
            return total() - (position == 0 ? 0 : bytes.getLong((int) position - 1));
        }

        private long total() {
            return bytes.isEmpty() ? 0 : bytes.getLong(bytes.size() - 1);
        }

        /** Whether a message may be in no ring any more: a sixteenth and what is at the end may be missing, too. */
        boolean mayBeOverwritten(long position) {
            return position < end() && bytesFrom(position) > ringBytes - ringBytes / 4;
        }

        /** The writer has given up what a host needs first, and all that has come since with it. */
        private void onLost(long first, long last) {
            Account.require(mayBeOverwritten(first), "the writer says that " + first + " is lost: " + this);
            lost.add(new long[] {first, last});
        }

        boolean isLost(long first, long last) {
            return lost.stream().anyMatch(each -> each[0] <= first && last <= each[1]);
        }

        void onAccepted(long messageId, int length) {
            messages.ids.addLong(messageId);
            bytes.addLong(total() + GroupRingDescriptor.alignedLength(GroupRingDescriptor.RECORD_HEADER + length));
            while (bytesFrom(overwritten) > ringBytes) {
                overwritten++;
            }
        }

        /** Whether those have what was overwritten that the writer has to wait for. */
        private boolean isKept() {
            return overwritten == 0 || switch (policy) {
                case QUORUM -> Arrays.stream(received).filter(each -> each >= overwritten).count() >= quorum;
                case REQUIRED -> required.stream().allMatch(each -> received[each] >= overwritten);
                default -> true;
            };
        }

        @Override
        public String toString() {
            return "log " + id + " up to " + end() + (isClosed ? ", closed" : "") + ", overwritten before "
                + overwritten + ", received by the hosts " + Arrays.toString(received);
        }
    }

    private final Map<UUID, Log> logs = new HashMap<>();
    /** By the numbers of their members and of their streams, which the writer draws. */
    private final Map<Long, Log> members = new HashMap<>();
    private final Map<Long, Log> streams = new HashMap<>();
    private final int hosts;
    private final int ringBytes;
    final Policy policy;
    final int quorum;
    /** Indices of the hosts. */
    final List<Integer> required;
    /** Index of the host that writes. */
    final int host;
    /** Whether offers are in the ring when they are accepted: not those of a client of a driver. */
    boolean isDirect;
    /** Whether datagrams show what hosts have. */
    boolean isWatched;
    private Log current;
    private long lastId;
    Publication publication;
    /** The life of the process that has opened it. */
    int openedLife;
    boolean isActive = true;
    boolean isClosing;
    long accepted;
    long received;
    long inGaps;
    long refused;

    StreamLedger(int host, int hosts, int ringBytes, Policy policy, int quorum, List<Integer> required) {
        this.host = host;
        this.hosts = hosts;
        this.ringBytes = ringBytes;
        this.policy = policy;
        this.quorum = quorum;
        this.required = required;
    }

    /** As it is named on the host that writes. */
    String address() {
        return "jfabric://n" + host + "/g" + host;
    }

    // ---- the writer ----

    /** A publication was opened, and will write at that place next. */
    void onOpen(LogPosition next) {
        Account.require(next.position() == 0 && !logs.containsKey(next.logId()), "a new log begins at " + next);
        current = new Log(next.logId());
        logs.put(next.logId(), current);
    }

    long nextId() {
        return ++lastId;
    }

    void onAccepted(long id, int length) {
        current.onAccepted(id, length);
        accepted++;
        Account.require(!isWatched || current.isKept(), "the writer has not waited: " + this);
    }

    /** The publication was closed, and has no message under way. */
    void onClosed() {
        current.isClosed = isDirect;
        publication = null;
    }

    /** The log that is written now, or was written last; null before the first. */
    Log current() {
        return current;
    }

    Log log(UUID id) {
        return logs.get(id);
    }

    // ---- hosts ----

    /** A datagram was sent, which says perhaps what a host has. */
    void onDatagram(int from, int to, byte[] bytes) {
        UnsafeBuffer buffer = new UnsafeBuffer(bytes);
        if (bytes.length < HEADER || buffer.getShort(Integer.BYTES) != MessageHeaderDecoder.SCHEMA_ID) {
            return;
        }
        int template = buffer.getShort(Short.BYTES);
        if (template == AcceptDecoder.TEMPLATE_ID && from == host) {
            AcceptDecoder accept = new AcceptDecoder();
            accept.wrap(buffer, HEADER, AcceptDecoder.BLOCK_LENGTH, AcceptDecoder.SCHEMA_VERSION);
            Log log = logs.get(new UUID(accept.logIdHigh(), accept.logIdLow()));
            if (log != null && members.putIfAbsent(accept.member(), log) == null) {
                log.received[to] = Math.max(log.received[to], accept.start());
                streams.put(accept.stream(), log);
            }
        } else if (template == LostDecoder.TEMPLATE_ID && from == host) {
            LostDecoder lost = new LostDecoder();
            lost.wrap(buffer, HEADER, LostDecoder.BLOCK_LENGTH, LostDecoder.SCHEMA_VERSION);
            Log log = streams.get(lost.stream());
            if (log != null) {
                log.onLost(lost.first(), lost.last());
            }
        } else if (template == StatusDecoder.TEMPLATE_ID) {
            StatusDecoder status = new StatusDecoder();
            status.wrap(buffer, HEADER, StatusDecoder.BLOCK_LENGTH, StatusDecoder.SCHEMA_VERSION);
            Log log = members.get(status.member());
            if (log != null) {
                log.received[from] = Math.max(log.received[from], status.received());
            }
        }
    }

    // ---- readers ----

    /** Whether readers on a host may get gaps. */
    boolean mayLose(int of) {
        return switch (policy) {
            case RELIABLE -> false;
            case LOSSY -> true;
            case QUORUM -> of != host;
            case REQUIRED -> of != host && !required.contains(of);
        };
    }

    @Override
    public String toString() {
        return policy + (policy == Policy.QUORUM ? " " + quorum : policy == Policy.REQUIRED ? " " + required : "")
            + ", " + logs.size() + " logs, the last one is " + current
            + (publication == null ? ", no publication" : "");
    }
}
