package org.jfabric.layout;

/**
 * Layout of a {@code .view} file: the driver's last snapshot of the queues of one endpoint.
 *
 * <pre>
 *    0  common file header; parameter 1 = the endpoint's id
 *  128  sequence, 8 bytes                0: nothing is written yet; odd: being written; even: complete
 *  136  state, 4 bytes                   see STATE_*
 *  140  posted rows, 4 bytes             rows that are in use, from the first one on
 *  144  unexpected rows, 4 bytes
 *  148  peer rows, 4 bytes
 *  152  client, 8 bytes                  number of the endpoint's client
 *  160  begin, 8 bytes                   when the snapshot began, nanoseconds of CLOCK_MONOTONIC
 *  168  end, 8 bytes                     when it ended
 *  176  cycles, 8 bytes                  number of duty cycles that it took
 *  184  transmit size, receive size      4 bytes each: operations outstanding at most
 *  192  posted receives, 8 bytes         of all rows and of the rest
 *  200  receives under way, 8 bytes      matched, the payload is still arriving
 *  208  stored messages, 8 bytes         unexpected, the payload is in the store
 *  216  stored bytes, 8 bytes            their payload
 *  224  announced messages, 8 bytes      unexpected, the payload waits at the sender
 *  232  budget, 8 bytes                  memory for unexpected messages in bytes, rounding and records included
 *  240  unreserved, 8 bytes              bytes of the budget that are not reserved as credit
 *  248  sends outstanding, 8 bytes       in any state, without remote accesses
 *  256  peers, 8 bytes                   of all rows and of the rest
 *  264  rest of the posted rows          count, bytes, since: 8 bytes each
 *  288  rest of the unexpected rows      stored, announced, bytes, announced bytes, since: 8 bytes each
 *  328  address, 4 bytes and 104         length and text of the endpoint's address
 *  440  access rows, 4 bytes
 *  448  remote accesses, 8 bytes         outstanding reads, writes and atomic operations: of all rows and of the rest
 *  456  rest of the access rows          count, bytes, since: 8 bytes each
 *  512  posted rows, 64 bytes each
 * 4608  unexpected rows, 64 bytes each
 * 8704  peer rows, 256 bytes each
 *       access rows, 64 bytes each
 *
 *  posted row                            receives with the same kind, tag, ignored bits and source
 *    0  tag          16  source (fi_addr, -1: any)      32  bytes of their buffers     48  kind, 4 bytes
 *    8  ignore       24  since, the oldest              40  count
 *
 *  unexpected row                        messages with the same kind, tag and sender
 *    0  tag          16  since, the oldest              32  announced   48  bytes announced   60  peer row, 4 bytes:
 *    8  fi_addr      24  stored                         40  bytes stored    56  kind, 4 bytes      -1 if it has none
 *
 *  peer row
 *    0  fi_addr, -1: not in the address vector          56  since, the oldest of those
 *    8  state, 4 bytes                                  64  sends to it that have not begun
 *   12  1 if it has no credit left for sends, 4 bytes  72  since, the oldest of those
 *   16  messages of it that are stored                  80  messages announced to it that it has not taken
 *   24  messages of it that are announced               88  since, the oldest of those
 *   32  bytes of the budget that those take             96  credit left for eager messages to it, bytes
 *   40  since, the oldest of those                     104  address, length 4 bytes, then the text
 *   48  receives that accept only its messages
 *
 *  access row                            remote accesses with the same kind, peer and key
 *    0  key          16  since, the oldest              32  bytes       48  kind, 4 bytes     52  peer row, 4 bytes:
 *    8  fi_addr      24  count                          40  of them not begun                     -1 if it has none
 * </pre>
 *
 * <p>A reader copies the file between two reads of the sequence and retries if they differ or are odd. A snapshot takes
 * several duty cycles: each record is visited once, in the order of memory. Records that are added or removed meanwhile
 * may be in the snapshot or not. Times are those of the duty cycle in which a record was created. The age that a reader
 * computes from them with its own clock is up to 32 cycles too high (with an embedded driver in INVOKER mode it also
 * includes the time in which the application ran no cycle).
 *
 * <p>Only the driver writes, only while a client has the view open, and it never reads the file.
 */
public final class ViewDescriptor {
    public static final int SEQUENCE_OFFSET = 128;
    public static final int STATE_OFFSET = 136;
    public static final int POSTED_ROWS_OFFSET = 140;
    public static final int UNEXPECTED_ROWS_OFFSET = 144;
    public static final int PEER_ROWS_OFFSET = 148;
    /** Offset of the number of the endpoint's client. */
    public static final int CLIENT_OFFSET = 152;
    /** Offset of the time at which the snapshot began. */
    public static final int BEGIN_OFFSET = 160;
    /** Offset of the time at which the snapshot ended. */
    public static final int END_OFFSET = 168;
    /** Offset of the number of duty cycles that the snapshot took. */
    public static final int CYCLES_OFFSET = 176;
    /** Offset of the number of sends that can be outstanding. */
    public static final int TX_SIZE_OFFSET = 184;
    /** Offset of the number of receives that can be outstanding. */
    public static final int RX_SIZE_OFFSET = 188;
    /** Offset of the number of posted receives. */
    public static final int POSTED_OFFSET = 192;
    /** Offset of the number of receives whose payload is still arriving. */
    public static final int UNDER_WAY_OFFSET = 200;
    /** Offset of the number of stored messages. */
    public static final int STORED_OFFSET = 208;
    /** Offset of the payload bytes of the stored messages. */
    public static final int STORED_BYTES_OFFSET = 216;
    /** Offset of the number of announced messages. */
    public static final int ANNOUNCED_OFFSET = 224;
    /** Offset of the budget for unexpected messages. */
    public static final int BUDGET_OFFSET = 232;
    /** Offset of the bytes of the budget that are not reserved as credit. */
    public static final int UNRESERVED_OFFSET = 240;
    /** Offset of the number of sends outstanding. */
    public static final int SENDS_OFFSET = 248;
    public static final int PEERS_OFFSET = 256;
    /** Offset of the rest of the posted rows: count, bytes, since. */
    public static final int POSTED_REST_OFFSET = 264;
    /** Offset of the rest of the unexpected rows: stored, announced, bytes, announced bytes, since. */
    public static final int UNEXPECTED_REST_OFFSET = 288;
    /** Offset of the length of the endpoint's address, which follows it. */
    public static final int ADDRESS_OFFSET = 328;
    public static final int ACCESS_ROWS_OFFSET = 440;
    /** Offset of the number of remote accesses outstanding. */
    public static final int ACCESSES_OFFSET = 448;
    /** Offset of the rest of the access rows: count, bytes, since. */
    public static final int ACCESS_REST_OFFSET = 456;
    /** Greatest length of an address in bytes. */
    public static final int MAX_ADDRESS_LENGTH = 104;

    /** Greatest number of rows of each kind. */
    public static final int ROWS = 64;
    /** Bytes of a posted or unexpected row. */
    public static final int ROW_LENGTH = 64;
    public static final int PEER_ROW_LENGTH = 256;
    /** Offset of the first posted row. */
    public static final int POSTED_ROW_OFFSET = 512;
    /** Offset of the first unexpected row. */
    public static final int UNEXPECTED_ROW_OFFSET = POSTED_ROW_OFFSET + ROWS * ROW_LENGTH;
    /** Offset of the first peer row. */
    public static final int PEER_ROW_OFFSET = UNEXPECTED_ROW_OFFSET + ROWS * ROW_LENGTH;
    /** Offset of the first access row. */
    public static final int ACCESS_ROW_OFFSET = PEER_ROW_OFFSET + ROWS * PEER_ROW_LENGTH;
    /** Bytes of the file, whole pages of 4,096. */
    public static final int FILE_LENGTH = (ACCESS_ROW_OFFSET + ROWS * ROW_LENGTH + 4095) & -4096;

    /** In a posted and an unexpected row: the tag. */
    public static final int TAG = 0;
    /** In a posted row: ignored bits of the tag. */
    public static final int POSTED_IGNORE = 8;
    /** In a posted row: fi_addr of the source, -1 for any. */
    public static final int POSTED_SOURCE = 16;
    /** In a posted row: when the oldest was posted. */
    public static final int POSTED_SINCE = 24;
    /** In a posted row: bytes of the buffers. */
    public static final int POSTED_BYTES = 32;
    /** In a posted row: number of receives. */
    public static final int POSTED_COUNT = 40;
    /** In a posted row: kind, see KIND_*. */
    public static final int POSTED_KIND = 48;

    /** In an unexpected row: fi_addr of the sender, -1 if it is in no address vector. */
    public static final int UNEXPECTED_SOURCE = 8;
    /** In an unexpected row: when the oldest arrived. */
    public static final int UNEXPECTED_SINCE = 16;
    /** In an unexpected row: messages whose payload is in the store. */
    public static final int UNEXPECTED_STORED = 24;
    /** In an unexpected row: messages whose payload waits at the sender. */
    public static final int UNEXPECTED_ANNOUNCED = 32;
    /** In an unexpected row: payload bytes in the store. */
    public static final int UNEXPECTED_BYTES = 40;
    /** In an unexpected row: payload bytes that wait at the sender. */
    public static final int UNEXPECTED_ANNOUNCED_BYTES = 48;
    /** In an unexpected row: kind, see KIND_*. */
    public static final int UNEXPECTED_KIND = 56;
    /** In an unexpected row: the sender's peer row, -1 if it has none. */
    public static final int UNEXPECTED_PEER = 60;

    /** In a peer row: fi_addr, -1 if it is not in the address vector. */
    public static final int PEER_FI_ADDR = 0;
    /** In a peer row: state, see PEER_*. */
    public static final int PEER_STATE = 8;
    /** In a peer row: whether sends wait, {@link #HOLDS_BACK} and {@link #SHARE_USED}. */
    public static final int PEER_HOLDS_BACK = 12;
    /** The peer grants neither bytes nor announcements. */
    public static final int HOLDS_BACK = 1;
    /** The peer has its share of the endpoint's sends: more to it are refused. */
    public static final int SHARE_USED = 2;
    /** In a peer row: messages of it whose payload is in the store. */
    public static final int PEER_STORED = 16;
    /** In a peer row: messages of it whose payload waits there. */
    public static final int PEER_ANNOUNCED = 24;
    /** In a peer row: bytes of the budget that its stored messages take. */
    public static final int PEER_HELD_BYTES = 32;
    /** In a peer row: when the oldest of its messages arrived. */
    public static final int PEER_UNEXPECTED_SINCE = 40;
    /** In a peer row: posted receives that accept only its messages. */
    public static final int PEER_DIRECTED = 48;
    /** In a peer row: when the oldest of those was posted. */
    public static final int PEER_DIRECTED_SINCE = 56;
    /** In a peer row: sends to it that have not begun. */
    public static final int PEER_WAITING = 64;
    /** In a peer row: when the oldest of those began to wait. */
    public static final int PEER_WAITING_SINCE = 72;
    /** In a peer row: messages announced to it that it has not taken. */
    public static final int PEER_UNTAKEN = 80;
    /** In a peer row: when the oldest of those was announced. */
    public static final int PEER_UNTAKEN_SINCE = 88;
    /** In a peer row: credit left for eager messages to it, bytes. */
    public static final int PEER_CREDIT = 96;
    /** In a peer row: length of its address, which follows. */
    public static final int PEER_ADDRESS = 104;

    /** In an access row: key of the peer's region. */
    public static final int ACCESS_KEY = 0;
    /** In an access row: fi_addr of the peer. */
    public static final int ACCESS_PEER_ADDR = 8;
    /** In an access row: when the oldest was queued or sent. */
    public static final int ACCESS_SINCE = 16;
    /** In an access row: number of accesses. */
    public static final int ACCESS_COUNT = 24;
    /** In an access row: bytes of the peer's memory. */
    public static final int ACCESS_BYTES = 32;
    /** In an access row: how many of them have not begun. */
    public static final int ACCESS_WAITING = 40;
    /** In an access row: kind, see ACCESS_READ and its siblings. */
    public static final int ACCESS_KIND = 48;
    /** In an access row: the peer's row, -1 if it has none. */
    public static final int ACCESS_PEER = 52;

    public static final int ACCESS_READ = 1;
    /** Kind of access: writes. */
    public static final int ACCESS_WRITE = 2;
    /** Kind of access: atomic operations. */
    public static final int ACCESS_ATOMIC = 3;

    /** State: snapshots of the endpoint are taken repeatedly. */
    public static final int STATE_OPEN = 1;
    /** State: the endpoint is closed; nothing is written any more. */
    public static final int STATE_ENDED = 2;
    public static final int KIND_TAGGED = 1;
    /** Kind: untagged messages; tag and ignored bits are 0. */
    public static final int KIND_UNTAGGED = 2;
    /** State of a peer: no channel. */
    public static final int PEER_DOWN = 1;
    /** State of a peer: the channel is being established. */
    public static final int PEER_CONNECTING = 2;
    /** State of a peer: messages can pass. */
    public static final int PEER_UP = 3;

    private ViewDescriptor() {
    }
}
