package org.jfabric.driver.stream.net;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.function.LongSupplier;
import org.agrona.BufferUtil;
import org.agrona.UnsafeApi;
import org.agrona.collections.Long2ObjectHashMap;
import org.jfabric.codec.stream.CookieDecoder;
import org.jfabric.codec.stream.JoinDecoder;
import org.jfabric.codec.stream.MessageHeaderDecoder;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * A socket of one group whose members have a key: every datagram is sealed, and what cannot be opened is ignored.
 *
 * <pre>
 *   session (16 bytes), number (8), sealed datagram, tag (16)
 * </pre>
 *
 * <p>A session that is new is heard only as far as it joins, until the cookie exchange has shown that it is of today:
 * what was recorded earlier is sealed well, too. Nothing is kept of it before. Owner: progress agent.
 */
public final class SealedSocket extends StreamSocket {
    /** Bytes by which a datagram is longer. */
    public static final int OVERHEAD = 3 * Long.BYTES + SealedSession.TAG_BYTES;
    private static final int LEAST_BYTES = 512;
    private static final int HEADER = 3 * Long.BYTES;
    private static final int MOST_SESSIONS = 1024;
    /** A session that was silent for longer has no good cookie any more. */
    private static final long FORGET_NS = 4 * Cookies.LIFE_NS;
    /** Unknown sessions for which keys are made in a period, since that takes some microseconds each. */
    private static final int UNKNOWN = 256;
    private static final long UNKNOWN_PERIOD_NS = 10_000_000;
    private static final long BYTES = BufferUtil.ARRAY_BASE_OFFSET;

    private final StreamSocket port;
    private final LongSupplier clock;
    private final String group;
    private final byte[] ownUse;
    private final byte[] peerUse;
    private final boolean isWriter;
    private final SealedSession own;
    private final Long2ObjectHashMap<SealedSession> sessions = new Long2ObjectHashMap<>();
    private final Budget unknown;
    private final MemorySegment memory;
    private final long outgoing;
    private final long incoming;
    private final byte[] plain;
    private final byte[] sealed;
    private final ByteBuffer head;
    private GroupKeys keys;
    private long next;
    /** The session of the last datagram, if it is not admitted; else null. */
    private SealedSession candidate;
    private long plainDatagrams;
    private long unopened;
    private long unadmitted;
    private long noticed;

    /**
     * Seals what a socket sends, and opens what it receives.
     *
     * @param isWriter whether the group is sent here.
     * @param path     number of the way to the other members.
     * @param random   of the session, which must be another one at each open.
     * @throws FabricException {@code FI_EMSGSIZE} if datagrams are too short for that.
     */
    public SealedSocket(
        StreamSocket port, GroupKeys keys, String group, boolean isWriter, int path, LongSupplier random,
        LongSupplier clock) {
        this.port = port;
        this.keys = keys;
        this.group = group;
        this.clock = clock;
        int bytes = port.maxDatagramBytes();
        if (bytes < LEAST_BYTES + OVERHEAD) {
            throw new FabricException(FabricErrno.EMSGSIZE, "a datagram of " + bytes + " bytes is too short for group "
                + group + ", which is sealed", "Raise jfabric.udp.maxMessageBytes.");
        }
        this.isWriter = isWriter;
        ownUse = GroupKeys.use(isWriter, path, group);
        peerUse = GroupKeys.use(!isWriter, path, group);
        own = new SealedSession(random.getAsLong(), random.getAsLong(), ownUse);
        unknown = new Budget(UNKNOWN, clock.getAsLong());
        memory = Arena.ofAuto().allocate(2L * bytes + Long.BYTES, Long.BYTES);
        outgoing = memory.address();
        incoming = outgoing + (bytes + Long.BYTES - 1 & -Long.BYTES);
        plain = new byte[bytes];
        sealed = new byte[bytes];
        head = ByteBuffer.wrap(sealed);
    }

    /** The keys from now on: the first one seals, and what was sealed with one that is missing is not opened. */
    public void keys(GroupKeys newKeys) {
        if (!keys.isSame(newKeys)) {
            keys = newKeys;
        }
    }

    /** What could not be opened, if that is twice of what was named last; else null. */
    public FabricException takeNotice() {
        long count = plainDatagrams + unopened;
        if (count == 0 || count < 2 * noticed) {
            return null;
        }
        noticed = count;
        return new FabricException(FabricErrno.EKEYREJECTED, "of the datagrams for group " + group + ", "
            + plainDatagrams + " were ignored because they are not sealed, and " + unopened
            + " because no key of this driver has sealed them, or they were changed or repeated",
            "Give all drivers of the group the same jfabric.udp.streamKeyFile.");
    }

    /** Datagrams of this protocol that were ignored because they were not sealed. */
    public long plainDatagrams() {
        return plainDatagrams;
    }

    /** Datagrams that were ignored for other reasons: another key, a change on the way, a repetition. */
    public long unopened() {
        return unopened;
    }

    /**
     * Datagrams that were ignored because their session is not admitted: those of before this socket was opened, of a
     * group that is being joined, and more unknown ones than are looked at.
     */
    public long unadmitted() {
        return unadmitted;
    }

    @Override
    public int maxDatagramBytes() {
        return port.maxDatagramBytes() - OVERHEAD;
    }

    @Override
    public long claim() {
        return port.claim() == 0 ? 0 : outgoing;
    }

    @Override
    public void send(int lengthBytes, long name, int nameLength) {
        UnsafeApi.copyMemory(null, outgoing, plain, BYTES, lengthBytes);
        long number = next++;
        head.putLong(0, own.high).putLong(Long.BYTES, own.low).putLong(2 * Long.BYTES, number);
        int length = HEADER + own.seal(keys, number, plain, lengthBytes, sealed, HEADER);
        UnsafeApi.copyMemory(sealed, BYTES, null, port.claim(), length);
        port.send(length, name, nameLength);
    }

    @Override
    public void repeat(long name, int nameLength) {
        // the same bytes: each peer has a window of its own
        port.repeat(name, nameLength);
    }

    @Override
    public void flush() {
        port.flush();
    }

    @Override
    public int receive() {
        int length = port.receive();
        if (length < 0) {
            return length;
        }
        candidate = null;
        int opened = length < OVERHEAD || length > sealed.length ? -1 : open(length);
        if (opened >= 0) {
            return opened;
        }
        if (isPlain(length)) {
            plainDatagrams++;
        } else {
            unopened++;
        }
        return 0;
    }

    private boolean isPlain(int length) {
        return length >= MessageHeaderDecoder.ENCODED_LENGTH
            && UnsafeApi.getShort(port.address() + Integer.BYTES) == MessageHeaderDecoder.SCHEMA_ID;
    }

    /** Opens what has arrived; its length, 0 if it is to be ignored, negative if it cannot be opened. */
    private int open(int length) {
        UnsafeApi.copyMemory(null, port.address(), sealed, BYTES, length);
        long high = head.getLong(0);
        long low = head.getLong(Long.BYTES);
        long number = head.getLong(2 * Long.BYTES);
        if (high == own.high && low == own.low) {
            // what is sent to a multicast group comes back
            return 0;
        }
        SealedSession known = sessions.get(high);
        boolean isKnown = known != null && known.low == low;
        if (number < 0 || isKnown && !known.isNew(number)) {
            return -1;
        }
        if (!(isKnown && known.isPrepared(keys, number)) && !mayPrepare()) {
            return notAdmitted();
        }
        SealedSession session = isKnown ? known : new SealedSession(high, low, peerUse);
        int opened = open(session, number, length);
        if (opened < 0) {
            return isKnown ? -1 : openOfOwnSide(high, low, number, length);
        }
        if (!isKnown) {
            if (template() != (isWriter ? JoinDecoder.TEMPLATE_ID : CookieDecoder.TEMPLATE_ID)) {
                return notAdmitted();
            }
            candidate = session;
        }
        session.heardNs = clock.getAsLong();
        session.opened(number);
        return opened;
    }

    private int open(SealedSession session, long number, int length) {
        int opened = session.open(keys, number, sealed, HEADER, length - HEADER, plain);
        if (opened < MessageHeaderDecoder.ENCODED_LENGTH) {
            return -1;
        }
        UnsafeApi.copyMemory(plain, BYTES, null, incoming, opened);
        return opened;
    }

    /** All readers of a multicast group get the question of each, and a writer asks whether there is another one. */
    private int openOfOwnSide(long high, long low, long number, int length) {
        if (!mayPrepare()) {
            return notAdmitted();
        }
        int opened = open(new SealedSession(high, low, ownUse), number, length);
        boolean isBetweenWriters = opened > 0 && isWriter
            && (template() == JoinDecoder.TEMPLATE_ID || template() == CookieDecoder.TEMPLATE_ID);
        return opened < 0 || isBetweenWriters ? opened : 0;
    }

    private int template() {
        return UnsafeApi.getShort(incoming + Short.BYTES);
    }

    private int notAdmitted() {
        unadmitted++;
        return 0;
    }

    private boolean mayPrepare() {
        boolean may = unknown.isThere(clock.getAsLong(), UNKNOWN_PERIOD_NS);
        unknown.take(may ? 1 : 0);
        return may;
    }

    /** The sender of the last datagram has it from today: it has repeated a number that was drawn here. */
    @Override
    void admit() {
        if (candidate == null) {
            return;
        }
        if (sessions.size() >= MOST_SESSIONS) {
            long nowNs = clock.getAsLong();
            sessions.values().removeIf(each -> nowNs - each.heardNs > FORGET_NS);
        }
        if (sessions.size() < MOST_SESSIONS) {
            sessions.putIfAbsent(candidate.high, candidate);
        }
        candidate = null;
    }

    @Override
    public long address() {
        return incoming;
    }

    @Override
    public long timeNs() {
        return port.timeNs();
    }

    @Override
    public long name() {
        return port.name();
    }

    @Override
    public int nameLength() {
        return port.nameLength();
    }

    @Override
    public boolean arm() {
        return port.arm();
    }

    @Override
    public void close() {
        port.close();
    }
}
