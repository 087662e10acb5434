package org.jfabric.driver.stream.net;

/**
 * A reading host, as the writer of a stream sees it.
 *
 * <p>Owner: progress agent.
 */
public final class RemoteReader {
    /** A round trip is not trusted to be shorter where it bounds a rate. */
    private static final long SHORTEST_PERIOD_NS = 1_000_000;
    /** What arrives is measured for a quarter of a round trip at least. */
    private static final int ARRIVALS_PER_ROUND_TRIP = 4;
    private static final double NS_PER_SECOND = 1e9;

    private final StreamWriter writer;
    private final long id;
    private final long member;
    private final String name;
    private final PeerAddress[] addresses;
    private final SendCursor cursor = new SendCursor();
    private final Budget repairs;
    private final AskedRanges asked = new AskedRanges();
    /** Path by which it has asked last. */
    private int askedPath;
    private int host;
    private long received;
    private long consumed;
    private long window;
    private long roundTripNs = RoundTrip.UNKNOWN_NS;
    private long timeoutNs = 2 * RoundTrip.UNKNOWN_NS;
    private long heardNs;
    private long movedNs;
    private boolean follows;
    private boolean isChosen;
    private boolean hasEnded;
    private int endErrno;
    private long askedRanges;
    private long repairedDatagrams;
    private long repairedBytes;
    private long sentBytes;
    /** Time of its clock when so many bytes had arrived. */
    private long arrivedNs;
    private long arrivedBytes;
    private long arrivedPerSecond;

    RemoteReader(StreamWriter writer, long id, long member, String name, int paths, long repairBurst) {
        this.writer = writer;
        this.id = id;
        this.member = member;
        this.name = name;
        addresses = new PeerAddress[paths];
        for (int i = 0; i < paths; i++) {
            addresses[i] = new PeerAddress();
        }
        repairs = new Budget(repairBurst, writer.nowNs());
        heardNs = writer.nowNs();
        movedNs = heardNs;
    }

    /** The name that it has joined with. */
    public String name() {
        return name;
    }

    /** Where it is, on the first path that it has joined by. */
    public String address() {
        for (PeerAddress address : addresses) {
            if (address.isSet()) {
                return address.toString();
            }
        }
        return "no address";
    }

    /** Position: all messages before are in its ring. */
    public long received() {
        return received;
    }

    /** Position: the slowest reader of its ring has read all messages before. */
    public long consumed() {
        return consumed;
    }

    /** Its round trip, smoothed. */
    public long roundTripNs() {
        return roundTripNs;
    }

    /** Ranges of messages that it has asked for, each time. */
    public long askedRanges() {
        return askedRanges;
    }

    /** Datagrams that were sent because it has asked. */
    public long repairedDatagrams() {
        return repairedDatagrams;
    }

    /** Bytes of these datagrams. */
    public long repairedBytes() {
        return repairedBytes;
    }

    /** Bytes of datagrams with messages that were sent to it, repairs included. */
    public long sentBytes() {
        return sentBytes;
    }

    StreamWriter writer() {
        return writer;
    }

    long id() {
        return id;
    }

    long member() {
        return member;
    }

    PeerAddress address(int path) {
        return addresses[path];
    }

    /**
     * Whether it is on the same host as another one: a driver that was started again, or has a ring for one of its
     * readers alone. Without a path that both have, the name decides.
     */
    boolean isOnHostOf(RemoteReader other) {
        boolean hasCommonPath = false;
        for (int i = 0; i < addresses.length; i++) {
            if (addresses[i].isOnHostOf(other.addresses[i])) {
                return name.equals(other.name);
            }
            hasCommonPath |= addresses[i].isSet() && other.addresses[i].isSet();
        }
        return !hasCommonPath && name.equals(other.name);
    }

    /** Number of its host, among the readers of the writer. */
    int host() {
        return host;
    }

    void host(int newHost) {
        host = newHost;
    }

    SendCursor cursor() {
        return cursor;
    }

    void begin(long position) {
        received = position;
        consumed = position;
        cursor.set(position, 0);
    }

    /** It has reported how far it is; positions that it cannot have are refused. Returns whether it has moved. */
    boolean report(long newReceived, long newConsumed, long newWindow, long newRoundTripNs, long newTimeoutNs) {
        window = newWindow;
        roundTripNs = Math.max(1, newRoundTripNs);
        timeoutNs = Math.max(roundTripNs, newTimeoutNs);
        if (newConsumed > consumed && newConsumed <= newReceived) {
            consumed = newConsumed;
        }
        if (newReceived <= received) {
            return false;
        }
        received = newReceived;
        movedNs = heardNs;
        asked.discard(received, 0);
        return true;
    }

    void heard(long nowNs) {
        heardNs = nowNs;
    }

    long heardNs() {
        return heardNs;
    }

    /** When it has last received something new. */
    long movedNs() {
        return movedNs;
    }

    /** Bytes that it has room for behind {@link #received()}. */
    long window() {
        return window;
    }

    long timeoutNs() {
        return timeoutNs;
    }

    /** It is in step with the multicast group, and gets nothing of its own but repairs. */
    boolean follows() {
        return follows;
    }

    void follow() {
        follows = true;
    }

    /** It gets the datagram that is being sent. */
    boolean isChosen() {
        return isChosen;
    }

    void choose(boolean newIsChosen) {
        isChosen = newIsChosen;
    }

    boolean mayRepair(long nowNs) {
        return repairs.isThere(nowNs, Math.max(roundTripNs, SHORTEST_PERIOD_NS));
    }

    /** What it has asked for and not been sent. */
    AskedRanges asked() {
        return asked;
    }

    int askedPath() {
        return askedPath;
    }

    void ask(int path, long first, int firstByte, long end, int endByte) {
        askedPath = path;
        askedRanges++;
        asked.add(first, firstByte, end, endByte);
    }

    /**
     * So many bytes have arrived there, of which the lower 32 bits are known.
     *
     * @param timeNs of its clock.
     * @return whether {@link #arrivedPerSecond()} was measured again.
     */
    boolean arrived(long timeNs, long bytes) {
        long elapsedNs = timeNs - arrivedNs;
        boolean isLong = elapsedNs >= Math.max(roundTripNs / ARRIVALS_PER_ROUND_TRIP, SHORTEST_PERIOD_NS);
        if (isLong) {
            arrivedPerSecond = (long) ((bytes - arrivedBytes & 0xffff_ffffL) * NS_PER_SECOND / elapsedNs);
            arrivedNs = timeNs;
            arrivedBytes = bytes;
        }
        return isLong;
    }

    /** Bytes of messages that arrive in a second, also those that come twice. */
    long arrivedPerSecond() {
        return arrivedPerSecond;
    }

    void sent(int bytes) {
        sentBytes += bytes;
    }

    void repaired(int bytes) {
        repairs.take(bytes);
        repairedDatagrams++;
        repairedBytes += bytes;
        sentBytes += bytes;
    }

    void end(int errno) {
        hasEnded = true;
        endErrno = errno;
    }

    boolean hasEnded() {
        return hasEnded;
    }

    int endErrno() {
        return endErrno;
    }

    @Override
    public String toString() {
        return name + " at " + address() + ", sent " + cursor.position() + (follows ? " by the group" : "")
            + ", received " + received + ", window " + window + ", round trip " + roundTripNs + " ns";
    }
}
