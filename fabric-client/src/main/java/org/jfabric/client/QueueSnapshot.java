package org.jfabric.client;

import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.layout.FileHeaderDescriptor;
import org.jfabric.layout.ViewDescriptor;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * A snapshot of the queues of one endpoint: a copy of its {@code .view} file, decoded. Times are nanoseconds
 * of {@link System#nanoTime()}, which all processes of a host share on Linux; how accurate they are says
 * {@link ViewDescriptor}.
 *
 * @param ended           whether it is closed; the rest is then its last state.
 * @param txSize          sends outstanding at most.
 * @param rxSize          receives outstanding at most.
 * @param postedCount     posted receives, those of {@code postedRest} included.
 * @param announcedCount  unexpected messages whose payload waits at the sender.
 * @param budgetBytes     bytes that unexpected messages may take.
 * @param unreservedBytes bytes of the budget that are no peer's credit.
 * @param sendsCount      sends outstanding, without remote accesses.
 * @param accessesCount   remote accesses outstanding, those of {@code accessesRest} included.
 * @param peersCount      peers, also those without a row.
 * @param posted          receives by tag and source, the oldest ones.
 * @param postedRest      what has no row, added up; null if everything has one.
 * @param unexpected      messages by tag and sender, the oldest ones.
 * @param unexpectedRest  what has no row, added up; null if everything has one.
 * @param accesses        remote accesses by kind, peer and key, the oldest ones.
 * @param accessesRest    what has no row, added up; null if everything has one.
 * @param peers           other endpoints, those with something waiting first of all.
 */
public record QueueSnapshot(
    long endpointId,
    long clientId,
    String address,
    boolean ended,
    long beginNs,
    long endNs,
    long cycles,
    int txSize,
    int rxSize,
    long postedCount,
    long underWayCount,
    long storedCount,
    long storedBytes,
    long announcedCount,
    long budgetBytes,
    long unreservedBytes,
    long sendsCount,
    long accessesCount,
    long peersCount,
    List<PostedRow> posted,
    PostedRow postedRest,
    List<UnexpectedRow> unexpected,
    UnexpectedRow unexpectedRest,
    List<AccessRow> accesses,
    AccessRow accessesRest,
    List<PeerRow> peers) {

    /**
     * Outstanding remote accesses with equal properties.
     *
     * @param kind    {@code ACCESS_READ}, {@code ACCESS_WRITE} or {@code ACCESS_ATOMIC} of {@link ViewDescriptor}.
     * @param fiAddr  of the peer, -1 if it is in no address vector.
     * @param peer    its address; null if it has no row.
     * @param waiting how many of them have not begun.
     * @param sinceNs when the oldest was queued or sent.
     */
    public record AccessRow(
        int kind, long key, long fiAddr, String peer, long count, long waiting, long bytes, long sinceNs) {
    }

    /**
     * Posted receives that accept the same messages.
     *
     * @param ignore  bits of the tag that do not count.
     * @param source  fi_addr, -1 for any.
     * @param sinceNs when the oldest was posted.
     */
    public record PostedRow(
        boolean tagged, long tag, long ignore, long source, long count, long bytes, long sinceNs) {
    }

    /**
     * Messages of one tag and sender without a receive.
     *
     * @param fiAddr         of the sender, -1 if it is in no address vector.
     * @param sender         its address, or null if it has no row.
     * @param sinceNs        when the oldest came.
     */
    public record UnexpectedRow(
        boolean tagged,
        long tag,
        long fiAddr,
        String sender,
        long stored,
        long storedBytes,
        long announced,
        long announcedBytes,
        long sinceNs) {
    }

    /**
     * Another endpoint: what it waits for and what is waited for from it. A time counts only where the number before
     * it is not 0.
     *
     * @param fiAddr            its place in the address vector, -1 if it has none.
     * @param state             see {@code PEER_*} of {@link ViewDescriptor}.
     * @param holdsBack         whether it grants neither bytes nor announcements.
     * @param isShareUsed       whether it has its share of the endpoint's sends, so that more are refused.
     * @param announced         messages of it that wait for receives, the payload waits there.
     * @param unexpectedSinceNs when the oldest of both came.
     * @param directed          posted receives that only it can fill.
     * @param directedSinceNs   when the oldest of those was posted.
     * @param waiting           sends to it that have not begun.
     * @param waitingSinceNs    since when the oldest of those waits.
     * @param untaken           messages announced to it that it has not taken.
     * @param untakenSinceNs    when the oldest of those was announced.
     */
    public record PeerRow(
        long fiAddr,
        String address,
        int state,
        boolean holdsBack,
        boolean isShareUsed,
        long stored,
        long announced,
        long unexpectedSinceNs,
        long heldBytes,
        long directed,
        long directedSinceNs,
        long waiting,
        long waitingSinceNs,
        long untaken,
        long untakenSinceNs,
        long creditBytes) {
    }

    /**
     * Decodes a whole copy; whatever stands in it, nothing beyond it is read.
     *
     * @param copy {@link ViewDescriptor#FILE_LENGTH} bytes, taken while the sequence did not change.
     */
    public static QueueSnapshot decode(byte[] copy) {
        UnsafeBuffer file = new UnsafeBuffer(copy);
        List<PeerRow> peers = new ArrayList<>();
        for (int i = 0, rows = rows(file, ViewDescriptor.PEER_ROWS_OFFSET); i < rows; i++) {
            peers.add(peer(file, ViewDescriptor.PEER_ROW_OFFSET + i * ViewDescriptor.PEER_ROW_LENGTH));
        }
        List<PostedRow> posted = new ArrayList<>();
        for (int i = 0, rows = rows(file, ViewDescriptor.POSTED_ROWS_OFFSET); i < rows; i++) {
            posted.add(posted(file, ViewDescriptor.POSTED_ROW_OFFSET + i * ViewDescriptor.ROW_LENGTH));
        }
        List<UnexpectedRow> unexpected = new ArrayList<>();
        for (int i = 0, rows = rows(file, ViewDescriptor.UNEXPECTED_ROWS_OFFSET); i < rows; i++) {
            unexpected.add(
                unexpected(file, ViewDescriptor.UNEXPECTED_ROW_OFFSET + i * ViewDescriptor.ROW_LENGTH, peers));
        }
        List<AccessRow> accesses = new ArrayList<>();
        for (int i = 0, rows = rows(file, ViewDescriptor.ACCESS_ROWS_OFFSET); i < rows; i++) {
            accesses.add(access(file, ViewDescriptor.ACCESS_ROW_OFFSET + i * ViewDescriptor.ROW_LENGTH, peers));
        }
        return new QueueSnapshot(
            number(file, FileHeaderDescriptor.PARAMETER_1_OFFSET),
            number(file, ViewDescriptor.CLIENT_OFFSET),
            text(file, ViewDescriptor.ADDRESS_OFFSET),
            file.getInt(ViewDescriptor.STATE_OFFSET, LITTLE_ENDIAN) == ViewDescriptor.STATE_ENDED,
            number(file, ViewDescriptor.BEGIN_OFFSET),
            number(file, ViewDescriptor.END_OFFSET),
            number(file, ViewDescriptor.CYCLES_OFFSET),
            file.getInt(ViewDescriptor.TX_SIZE_OFFSET, LITTLE_ENDIAN),
            file.getInt(ViewDescriptor.RX_SIZE_OFFSET, LITTLE_ENDIAN),
            number(file, ViewDescriptor.POSTED_OFFSET),
            number(file, ViewDescriptor.UNDER_WAY_OFFSET),
            number(file, ViewDescriptor.STORED_OFFSET),
            number(file, ViewDescriptor.STORED_BYTES_OFFSET),
            number(file, ViewDescriptor.ANNOUNCED_OFFSET),
            number(file, ViewDescriptor.BUDGET_OFFSET),
            number(file, ViewDescriptor.UNRESERVED_OFFSET),
            number(file, ViewDescriptor.SENDS_OFFSET),
            number(file, ViewDescriptor.ACCESSES_OFFSET),
            number(file, ViewDescriptor.PEERS_OFFSET),
            List.copyOf(posted),
            postedRest(file),
            List.copyOf(unexpected),
            unexpectedRest(file),
            List.copyOf(accesses),
            accessesRest(file),
            List.copyOf(peers));
    }

    private static PostedRow posted(DirectBuffer file, int row) {
        return new PostedRow(
            file.getInt(row + ViewDescriptor.POSTED_KIND, LITTLE_ENDIAN) == ViewDescriptor.KIND_TAGGED,
            number(file, row + ViewDescriptor.TAG),
            number(file, row + ViewDescriptor.POSTED_IGNORE),
            number(file, row + ViewDescriptor.POSTED_SOURCE),
            number(file, row + ViewDescriptor.POSTED_COUNT),
            number(file, row + ViewDescriptor.POSTED_BYTES),
            number(file, row + ViewDescriptor.POSTED_SINCE));
    }

    private static PostedRow postedRest(DirectBuffer file) {
        int rest = ViewDescriptor.POSTED_REST_OFFSET;
        long count = number(file, rest);
        return count == 0 ? null : new PostedRow(
            false, 0, 0, -1L, count, number(file, rest + Long.BYTES), number(file, rest + 2 * Long.BYTES));
    }

    private static UnexpectedRow unexpected(DirectBuffer file, int row, List<PeerRow> peers) {
        int peer = file.getInt(row + ViewDescriptor.UNEXPECTED_PEER, LITTLE_ENDIAN);
        return new UnexpectedRow(
            file.getInt(row + ViewDescriptor.UNEXPECTED_KIND, LITTLE_ENDIAN) == ViewDescriptor.KIND_TAGGED,
            number(file, row + ViewDescriptor.TAG),
            number(file, row + ViewDescriptor.UNEXPECTED_SOURCE),
            peer >= 0 && peer < peers.size() ? peers.get(peer).address() : null,
            number(file, row + ViewDescriptor.UNEXPECTED_STORED),
            number(file, row + ViewDescriptor.UNEXPECTED_BYTES),
            number(file, row + ViewDescriptor.UNEXPECTED_ANNOUNCED),
            number(file, row + ViewDescriptor.UNEXPECTED_ANNOUNCED_BYTES),
            number(file, row + ViewDescriptor.UNEXPECTED_SINCE));
    }

    private static UnexpectedRow unexpectedRest(DirectBuffer file) {
        int rest = ViewDescriptor.UNEXPECTED_REST_OFFSET;
        long stored = number(file, rest);
        long announced = number(file, rest + Long.BYTES);
        return stored + announced == 0 ? null : new UnexpectedRow(
            false, 0, -1L, null, stored, number(file, rest + 2 * Long.BYTES), announced,
            number(file, rest + 3 * Long.BYTES), number(file, rest + 4 * Long.BYTES));
    }

    private static AccessRow access(DirectBuffer file, int row, List<PeerRow> peers) {
        int peer = file.getInt(row + ViewDescriptor.ACCESS_PEER, LITTLE_ENDIAN);
        return new AccessRow(
            file.getInt(row + ViewDescriptor.ACCESS_KIND, LITTLE_ENDIAN),
            number(file, row + ViewDescriptor.ACCESS_KEY),
            number(file, row + ViewDescriptor.ACCESS_PEER_ADDR),
            peer >= 0 && peer < peers.size() ? peers.get(peer).address() : null,
            number(file, row + ViewDescriptor.ACCESS_COUNT),
            number(file, row + ViewDescriptor.ACCESS_WAITING),
            number(file, row + ViewDescriptor.ACCESS_BYTES),
            number(file, row + ViewDescriptor.ACCESS_SINCE));
    }

    private static AccessRow accessesRest(DirectBuffer file) {
        int rest = ViewDescriptor.ACCESS_REST_OFFSET;
        long count = number(file, rest);
        return count == 0 ? null : new AccessRow(
            0, 0, -1L, null, count, 0, number(file, rest + Long.BYTES), number(file, rest + 2 * Long.BYTES));
    }

    private static PeerRow peer(DirectBuffer file, int row) {
        return new PeerRow(
            number(file, row + ViewDescriptor.PEER_FI_ADDR),
            text(file, row + ViewDescriptor.PEER_ADDRESS),
            file.getInt(row + ViewDescriptor.PEER_STATE, LITTLE_ENDIAN),
            (file.getInt(row + ViewDescriptor.PEER_HOLDS_BACK, LITTLE_ENDIAN) & ViewDescriptor.HOLDS_BACK) != 0,
            (file.getInt(row + ViewDescriptor.PEER_HOLDS_BACK, LITTLE_ENDIAN) & ViewDescriptor.SHARE_USED) != 0,
            number(file, row + ViewDescriptor.PEER_STORED),
            number(file, row + ViewDescriptor.PEER_ANNOUNCED),
            number(file, row + ViewDescriptor.PEER_UNEXPECTED_SINCE),
            number(file, row + ViewDescriptor.PEER_HELD_BYTES),
            number(file, row + ViewDescriptor.PEER_DIRECTED),
            number(file, row + ViewDescriptor.PEER_DIRECTED_SINCE),
            number(file, row + ViewDescriptor.PEER_WAITING),
            number(file, row + ViewDescriptor.PEER_WAITING_SINCE),
            number(file, row + ViewDescriptor.PEER_UNTAKEN),
            number(file, row + ViewDescriptor.PEER_UNTAKEN_SINCE),
            number(file, row + ViewDescriptor.PEER_CREDIT));
    }

    private static int rows(DirectBuffer file, int offset) {
        return Math.clamp(file.getInt(offset, LITTLE_ENDIAN), 0, ViewDescriptor.ROWS);
    }

    private static long number(DirectBuffer file, int offset) {
        return file.getLong(offset, LITTLE_ENDIAN);
    }

    private static String text(DirectBuffer file, int offset) {
        byte[] text = new byte[Math.clamp(file.getInt(offset, LITTLE_ENDIAN), 0, ViewDescriptor.MAX_ADDRESS_LENGTH)];
        file.getBytes(offset + Integer.BYTES, text);
        return new String(text, StandardCharsets.US_ASCII);
    }
}
