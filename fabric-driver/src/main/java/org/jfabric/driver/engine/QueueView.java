package org.jfabric.driver.engine;

import org.agrona.DirectBuffer;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.layout.ViewDescriptor;

import java.nio.charset.StandardCharsets;

/**
 * Takes snapshots of the queues of one endpoint while a client has the view open, and writes them to a file. Each call
 * does a bounded step: it visits a few records, or writes a few rows.
 *
 * <p>It visits the endpoint's records in the order of memory, not in the order of the lists that they are in. So a
 * record that is matched or cancelled meanwhile does not disturb the visit, and the lists need no extra field for it.
 *
 * <p>Owner: progress agent.
 */
public final class QueueView {
    private static final int RECORDS_PER_CALL = 16;
    private static final int ROWS_PER_CALL = 8;
    private static final long INTERVAL_NS = 100_000_000L;

    private enum Phase {
        IDLE,
        PEERS,
        ACCESSES,
        RECEIVES,
        MESSAGES,
        WRITE,
        ENDED
    }

    private final EngineEndpoint endpoint;
    private final EngineSession watcher;
    private final long budgetBytes;
    private final UnsafeBuffer file;
    private final long sequenceAddress;
    private final Totals totals = new Totals();
    private Phase phase = Phase.IDLE;
    private int cursor;
    private long sequence;
    private boolean looked;
    private boolean scans;
    private long beginNs;
    private long cycles;

    /**
     * A view that has not begun.
     *
     * @param endpoint    the visited endpoint; it may be closed at any time.
     * @param budgetBytes memory budget of the endpoint's unexpected messages.
     * @param address     native address of a {@code .view} file of {@link ViewDescriptor#FILE_LENGTH} bytes.
     */
    public QueueView(EngineEndpoint endpoint, EngineSession watcher, long budgetBytes, long address) {
        this.endpoint = endpoint;
        this.watcher = watcher;
        this.budgetBytes = budgetBytes;
        this.file = new UnsafeBuffer(address, ViewDescriptor.FILE_LENGTH);
        this.sequenceAddress = address + ViewDescriptor.SEQUENCE_OFFSET;
    }

    EngineSession watcher() {
        return watcher;
    }

    /** Does one bounded step of the snapshot. Returns 1, or 0 between two snapshots and after the endpoint's end. */
    int poll(long nowNs) {
        if (phase == Phase.ENDED || phase == Phase.IDLE && looked && nowNs - beginNs < INTERVAL_NS) {
            return 0;
        }
        // a snapshot that is partly written is finished first: all its records were visited
        if (phase != Phase.WRITE && endpoint.isClosed()) {
            end();
            return 1;
        }
        cycles++;
        switch (phase) {
            case PEERS -> peers();
            case ACCESSES -> accesses();
            case RECEIVES -> receives();
            case MESSAGES -> messages();
            case WRITE -> write(nowNs);
            default -> begin(nowNs);
        }
        return 1;
    }

    private void begin(long nowNs) {
        beginNs = nowNs;
        cycles = 1;
        totals.clear();
        next(Phase.PEERS);
    }

    private void peers() {
        int slots = endpoint.peers().slots();
        int until = Math.min(slots, cursor + RECORDS_PER_CALL);
        while (cursor < until) {
            PeerSends peer = endpoint.peers().at(cursor++);
            if (peer != null) {
                totals.peers.add(peer);
            }
        }
        if (cursor >= slots) {
            next(Phase.ACCESSES);
        }
    }

    private void accesses() {
        int records = endpoint.sender().records();
        int until = Math.min(records, cursor + RECORDS_PER_CALL);
        while (cursor < until) {
            endpoint.sender().visitAccess(cursor++, totals);
        }
        if (cursor >= records) {
            next(Phase.RECEIVES);
            // otherwise receives could change their places between the calls, and be missed or counted twice
            scans = true;
            endpoint.receiver().beginScan();
        }
    }

    private void receives() {
        int records = endpoint.receiver().scan().receives();
        int until = Math.min(records, cursor + RECORDS_PER_CALL);
        while (cursor < until) {
            endpoint.receiver().scan().visitReceive(cursor++, totals);
        }
        if (cursor >= records) {
            next(Phase.MESSAGES);
            endScan();
        }
    }

    /** The view is closed, or all receives were visited: they may change their places again. */
    void endScan() {
        if (scans) {
            scans = false;
            endpoint.receiver().endScan();
        }
    }

    private void messages() {
        int records = endpoint.receiver().scan().messages();
        int until = Math.min(records, cursor + RECORDS_PER_CALL);
        while (cursor < until) {
            endpoint.receiver().scan().visitMessage(cursor++, totals);
        }
        if (cursor >= records) {
            next(Phase.WRITE);
            beginWrite();
        }
    }

    /** No reader may see a new row together with the old sequence; a volatile store alone lets later stores pass it. */
    private void beginWrite() {
        UnsafeApi.putLongOpaque(null, sequenceAddress, ++sequence);
        UnsafeApi.storeStoreFence();
    }

    private void next(Phase following) {
        phase = following;
        cursor = 0;
    }

    private void write(long nowNs) {
        int peerRows = totals.peers.size();
        int postedRows = totals.posted.size();
        int accessRows = totals.accesses.size();
        int all = peerRows + postedRows + accessRows + totals.unexpected.size();
        int until = Math.min(all, cursor + ROWS_PER_CALL);
        for (; cursor < until; cursor++) {
            if (cursor < peerRows) {
                writePeer(cursor);
            } else if (cursor < peerRows + postedRows) {
                writePosted(cursor - peerRows);
            } else if (cursor < peerRows + postedRows + accessRows) {
                writeAccess(cursor - peerRows - postedRows);
            } else {
                writeUnexpected(cursor - peerRows - postedRows - accessRows);
            }
        }
        if (cursor == all) {
            writeHead(nowNs);
            // release: the rows before it
            UnsafeApi.putLongRelease(null, sequenceAddress, ++sequence);
            looked = true;
            next(Phase.IDLE);
        }
    }

    /** The endpoint is closed: the last snapshot stays in the file, marked as ended. */
    private void end() {
        endScan();
        beginWrite();
        if (!looked) {
            totals.clear();
            writeHead(beginNs);
        }
        file.putInt(ViewDescriptor.STATE_OFFSET, ViewDescriptor.STATE_ENDED);
        UnsafeApi.putLongRelease(null, sequenceAddress, ++sequence);
        phase = Phase.ENDED;
        totals.clear();
    }

    private void writeHead(long nowNs) {
        file.putInt(ViewDescriptor.STATE_OFFSET, ViewDescriptor.STATE_OPEN);
        file.putInt(ViewDescriptor.POSTED_ROWS_OFFSET, totals.posted.size());
        file.putInt(ViewDescriptor.UNEXPECTED_ROWS_OFFSET, totals.unexpected.size());
        file.putInt(ViewDescriptor.PEER_ROWS_OFFSET, totals.peers.size());
        file.putLong(ViewDescriptor.CLIENT_OFFSET, endpoint.session().clientId());
        file.putLong(ViewDescriptor.BEGIN_OFFSET, beginNs);
        file.putLong(ViewDescriptor.END_OFFSET, nowNs);
        file.putLong(ViewDescriptor.CYCLES_OFFSET, cycles);
        file.putInt(ViewDescriptor.TX_SIZE_OFFSET, endpoint.settings().txSize());
        file.putInt(ViewDescriptor.RX_SIZE_OFFSET, endpoint.settings().rxSize());
        file.putLong(ViewDescriptor.POSTED_OFFSET, totals.postedCount);
        file.putLong(ViewDescriptor.UNDER_WAY_OFFSET, totals.underWay);
        file.putLong(ViewDescriptor.STORED_OFFSET, totals.stored);
        file.putLong(ViewDescriptor.STORED_BYTES_OFFSET, totals.storedBytes);
        file.putLong(ViewDescriptor.ANNOUNCED_OFFSET, totals.announced);
        file.putLong(ViewDescriptor.BUDGET_OFFSET, budgetBytes);
        file.putLong(ViewDescriptor.UNRESERVED_OFFSET, endpoint.receiver().scan().unreservedBytes());
        file.putLong(ViewDescriptor.SENDS_OFFSET, Math.max(0, endpoint.outstandingSends() - totals.accessCount));
        file.putLong(ViewDescriptor.ACCESSES_OFFSET, totals.accessCount);
        file.putInt(ViewDescriptor.ACCESS_ROWS_OFFSET, totals.accesses.size());
        file.putLong(ViewDescriptor.PEERS_OFFSET, totals.peers.peers());
        RowTable.Sum rest = totals.posted.rest();
        file.putLong(ViewDescriptor.POSTED_REST_OFFSET, rest.count);
        file.putLong(ViewDescriptor.POSTED_REST_OFFSET + Long.BYTES, rest.bytes);
        file.putLong(ViewDescriptor.POSTED_REST_OFFSET + 2 * Long.BYTES, rest.sinceNs);
        rest = totals.unexpected.rest();
        file.putLong(ViewDescriptor.UNEXPECTED_REST_OFFSET, rest.count);
        file.putLong(ViewDescriptor.UNEXPECTED_REST_OFFSET + Long.BYTES, rest.moreCount);
        file.putLong(ViewDescriptor.UNEXPECTED_REST_OFFSET + 2 * Long.BYTES, rest.bytes);
        file.putLong(ViewDescriptor.UNEXPECTED_REST_OFFSET + 3 * Long.BYTES, rest.moreBytes);
        file.putLong(ViewDescriptor.UNEXPECTED_REST_OFFSET + 4 * Long.BYTES, rest.sinceNs);
        rest = totals.accesses.rest();
        file.putLong(ViewDescriptor.ACCESS_REST_OFFSET, rest.count + rest.moreCount);
        file.putLong(ViewDescriptor.ACCESS_REST_OFFSET + Long.BYTES, rest.bytes + rest.moreBytes);
        file.putLong(ViewDescriptor.ACCESS_REST_OFFSET + 2 * Long.BYTES, rest.sinceNs);
        byte[] address = endpoint.settings().address().getBytes(StandardCharsets.US_ASCII);
        putAddress(ViewDescriptor.ADDRESS_OFFSET, new UnsafeBuffer(address));
    }

    private void writePosted(int index) {
        int row = ViewDescriptor.POSTED_ROW_OFFSET + index * ViewDescriptor.ROW_LENGTH;
        RowTable.Sum sum = totals.posted.sum(index);
        file.putLong(row + ViewDescriptor.TAG, totals.posted.tag(index));
        file.putLong(row + ViewDescriptor.POSTED_IGNORE, totals.posted.ignore(index));
        file.putLong(row + ViewDescriptor.POSTED_SOURCE, totals.posted.source(index));
        file.putLong(row + ViewDescriptor.POSTED_SINCE, sum.sinceNs);
        file.putLong(row + ViewDescriptor.POSTED_BYTES, sum.bytes);
        file.putLong(row + ViewDescriptor.POSTED_COUNT, sum.count);
        file.putInt(row + ViewDescriptor.POSTED_KIND, totals.posted.kind(index));
    }

    private void writeUnexpected(int index) {
        int row = ViewDescriptor.UNEXPECTED_ROW_OFFSET + index * ViewDescriptor.ROW_LENGTH;
        RowTable.Sum sum = totals.unexpected.sum(index);
        file.putLong(row + ViewDescriptor.TAG, totals.unexpected.tag(index));
        file.putLong(row + ViewDescriptor.UNEXPECTED_SOURCE, totals.unexpected.source(index));
        file.putLong(row + ViewDescriptor.UNEXPECTED_SINCE, sum.sinceNs);
        file.putLong(row + ViewDescriptor.UNEXPECTED_STORED, sum.count);
        file.putLong(row + ViewDescriptor.UNEXPECTED_ANNOUNCED, sum.moreCount);
        file.putLong(row + ViewDescriptor.UNEXPECTED_BYTES, sum.bytes);
        file.putLong(row + ViewDescriptor.UNEXPECTED_ANNOUNCED_BYTES, sum.moreBytes);
        file.putInt(row + ViewDescriptor.UNEXPECTED_KIND, totals.unexpected.kind(index));
        file.putInt(row + ViewDescriptor.UNEXPECTED_PEER, totals.peers.indexOf(totals.unexpected.owner(index)));
    }

    private void writeAccess(int index) {
        int row = ViewDescriptor.ACCESS_ROW_OFFSET + index * ViewDescriptor.ROW_LENGTH;
        RowTable.Sum sum = totals.accesses.sum(index);
        file.putLong(row + ViewDescriptor.ACCESS_KEY, totals.accesses.tag(index));
        file.putLong(row + ViewDescriptor.ACCESS_PEER_ADDR, totals.accesses.source(index));
        file.putLong(row + ViewDescriptor.ACCESS_SINCE, sum.sinceNs);
        file.putLong(row + ViewDescriptor.ACCESS_COUNT, sum.count + sum.moreCount);
        file.putLong(row + ViewDescriptor.ACCESS_BYTES, sum.bytes + sum.moreBytes);
        file.putLong(row + ViewDescriptor.ACCESS_WAITING, sum.moreCount);
        file.putInt(row + ViewDescriptor.ACCESS_KIND, totals.accesses.kind(index));
        file.putInt(row + ViewDescriptor.ACCESS_PEER, totals.peers.indexOf(totals.accesses.owner(index)));
    }

    private void writePeer(int index) {
        int row = ViewDescriptor.PEER_ROW_OFFSET + index * ViewDescriptor.PEER_ROW_LENGTH;
        PeerRows.Row seen = totals.peers.row(index);
        file.putLong(row + ViewDescriptor.PEER_FI_ADDR, Math.max(-1, seen.peer.source()));
        file.putInt(row + ViewDescriptor.PEER_STATE, seen.state);
        file.putInt(row + ViewDescriptor.PEER_HOLDS_BACK, (seen.backPressured ? ViewDescriptor.HOLDS_BACK : 0)
            | (endpoint.sender().share().isUsedUp(seen.peer) ? ViewDescriptor.SHARE_USED : 0));
        file.putLong(row + ViewDescriptor.PEER_STORED, seen.stored);
        file.putLong(row + ViewDescriptor.PEER_ANNOUNCED, seen.announced);
        file.putLong(row + ViewDescriptor.PEER_HELD_BYTES, seen.heldBytes);
        file.putLong(row + ViewDescriptor.PEER_UNEXPECTED_SINCE, seen.unexpectedSinceNs);
        file.putLong(row + ViewDescriptor.PEER_DIRECTED, seen.directed);
        file.putLong(row + ViewDescriptor.PEER_DIRECTED_SINCE, seen.directedSinceNs);
        file.putLong(row + ViewDescriptor.PEER_WAITING, seen.waiting);
        file.putLong(row + ViewDescriptor.PEER_WAITING_SINCE, seen.waitingSinceNs);
        file.putLong(row + ViewDescriptor.PEER_UNTAKEN, seen.untaken);
        file.putLong(row + ViewDescriptor.PEER_UNTAKEN_SINCE, seen.untakenSinceNs);
        file.putLong(row + ViewDescriptor.PEER_CREDIT, seen.creditBytes);
        putAddress(row + ViewDescriptor.PEER_ADDRESS, seen.peer.rawAddress());
    }

    private void putAddress(int offset, DirectBuffer address) {
        int length = Math.min(address.capacity(), ViewDescriptor.MAX_ADDRESS_LENGTH);
        file.putInt(offset, length);
        file.putBytes(offset + Integer.BYTES, address, 0, length);
    }

    /** The sums of the current snapshot. */
    private static final class Totals extends QueueVisitor {
        private final RowTable posted = new RowTable(ViewDescriptor.ROWS);
        private final RowTable unexpected = new RowTable(ViewDescriptor.ROWS);
        private final RowTable accesses = new RowTable(ViewDescriptor.ROWS);
        private final PeerRows peers = new PeerRows(ViewDescriptor.ROWS);
        private long postedCount;
        private long underWay;
        private long stored;
        private long storedBytes;
        private long announced;
        private long accessCount;

        private void clear() {
            posted.clear();
            unexpected.clear();
            accesses.clear();
            peers.clear();
            accessCount = 0;
            postedCount = 0;
            underWay = 0;
            stored = 0;
            storedBytes = 0;
            announced = 0;
        }

        @Override
        public void onPosted(boolean tagged, long tag, long ignore, int source, long lengthBytes, long sinceNs) {
            postedCount++;
            posted.add(kind(tagged), tag, ignore, Math.max(-1, source), null, false, lengthBytes, sinceNs);
            PeerRows.Row row = source < 0 ? null : peers.findSource(source);
            if (row != null) {
                row.directed(sinceNs);
            }
        }

        @Override
        public void onUnderWay() {
            underWay++;
        }

        @Override
        public void onUnexpected(
            boolean tagged, long tag, Peer sender, int source, boolean isAnnounced, long lengthBytes, long sinceNs) {
            if (isAnnounced) {
                announced++;
            } else {
                stored++;
                storedBytes += lengthBytes;
            }
            unexpected.add(
                kind(tagged), tag, 0, Math.max(-1, source), sender, isAnnounced, lengthBytes, sinceNs);
            PeerRows.Row row = peers.find(sender);
            if (row != null) {
                row.unexpected(isAnnounced, sinceNs);
            }
        }

        @Override
        public void onAccess(Peer peer, int kind, long key, boolean waiting, long lengthBytes, long sinceNs) {
            accessCount++;
            accesses.add(kind, key, 0, Math.max(-1, peer.source()), peer, waiting, lengthBytes, sinceNs);
        }

        private static int kind(boolean tagged) {
            return tagged ? ViewDescriptor.KIND_TAGGED : ViewDescriptor.KIND_UNTAGGED;
        }
    }
}
