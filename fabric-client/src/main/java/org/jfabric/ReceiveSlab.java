package org.jfabric;

import static org.jfabric.layout.CompletionQueueDescriptor.BODY_OFFSET;

import java.lang.foreign.MemorySegment;
import org.agrona.UnsafeApi;
import org.jfabric.client.DriverConnection;
import org.jfabric.client.LentRegions;
import org.jfabric.client.MessageLender;
import org.jfabric.client.SlabView;
import org.jfabric.codec.control.EndpointReady;
import org.jfabric.codec.queue.TimeCellDecoder;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.layout.CompletionQueueDescriptor;
import org.jfabric.layout.FileType;
import org.jfabric.layout.SlabDescriptor;

/**
 * The client's side of the receive slab of one endpoint: which cells the application has, and which of them the next
 * reading call gives back.
 *
 * <p>Owner: the reading thread of the receive completion queue, which also posts; in a domain that keeps threads apart
 * the lists are not used and each cell belongs to the thread that has it.
 */
final class ReceiveSlab {
    private static final int FLAGS = BODY_OFFSET + 8;
    private static final int LEN = BODY_OFFSET + 16;
    private static final int BUF = BODY_OFFSET + 24;
    private static final int DATA = BODY_OFFSET + 32;
    private static final int TAG = BODY_OFFSET + 40;

    private final Endpoint endpoint;
    private final SlabView view;
    private final int endpointIndex;
    private final int leastBytes;
    private final int cellLength;
    private boolean lends;
    private final RecvContext[] contexts;
    private final RecvContext[] lent;
    private final LentRegions regions = new LentRegions(this::isShown);
    private final long[] ids = new long[SlabDescriptor.MAX_RETURNED];
    private Submission submission;
    private int lentCount;
    /** Of a message that lies in a peer's ring and not in a cell, while its handler runs. */
    private RecvContext inRing;
    private int uses;
    private boolean closed;
    private MemorySegment file;

    private ReceiveSlab(
        Endpoint endpoint, SlabView view, int endpointIndex, int cellLength, int leastBytes,
        boolean lends) {
        this.endpoint = endpoint;
        this.view = view;
        this.endpointIndex = endpointIndex;
        this.cellLength = cellLength;
        this.leastBytes = leastBytes;
        this.lends = lends;
        this.contexts = new RecvContext[view.cells()];
        for (int i = 0; i < contexts.length; i++) {
            contexts[i] = new RecvContext(this);
        }
        this.lent = new RecvContext[contexts.length];
        this.inRing = new RecvContext(this);
    }

    /** Maps the slab that the driver made for an endpoint. */
    static ReceiveSlab open(
        DriverConnection connection, Endpoint endpoint, EndpointReady ready, int leastBytes,
        boolean lends) {
        int cells = ready.slabCells();
        int cellLength = ready.slabCellLength();
        if (cells < 1 || cells > SlabDescriptor.MAX_CELLS || cellLength < SlabDescriptor.CELL_ALIGNMENT
            || SlabDescriptor.fileLength(cells, cellLength) > Integer.MAX_VALUE) {
            throw new FabricException(FabricErrno.EIO,
                "the driver answered a receive slab of " + cells + " cells of " + cellLength + " bytes");
        }
        MemorySegment file = connection.openReadOnly(
            FileType.SLAB, ready.slabFile(), SlabDescriptor.fileLength(cells, cellLength));
        ReceiveSlab slab = new ReceiveSlab(
            endpoint, new SlabView(file, cells), ready.rxCqIndex(), cellLength, leastBytes, lends);
        slab.file = file;
        return slab;
    }

    /** What it is mapped by; the application may still look at its messages. */
    MemorySegment file() {
        return file;
    }

    /** How requests get to the driver; before the endpoint is enabled. */
    void submission(Submission endpointSubmission) {
        submission = endpointSubmission;
    }

    /** Several threads may use the endpoint from now on: a message stays until it is given back. */
    void stopLending() {
        lends = false;
    }

    Endpoint endpoint() {
        return endpoint;
    }

    SlabView view() {
        return view;
    }

    /** Whether an entry with this context is of this endpoint. */
    boolean isOf(long context) {
        return SlabDescriptor.endpointIndex(context) == endpointIndex;
    }

    /** Whether it is open, and the one of the endpoint that lends a message. */
    boolean isOf(MessageLender lender) {
        return !closed && lender.endpointIndex() == endpointIndex;
    }

    /** An open message by the context of its entry, or null. */
    RecvContext find(long context) {
        if (context != 0 && inRing.id() == context) {
            return inRing;
        }
        int cell = SlabDescriptor.cell(context);
        if (context == 0 || cell >= contexts.length || contexts[cell].id() != context) {
            return null;
        }
        return contexts[cell];
    }

    /** An entry that is about to be read hands a cell out. */
    void take(long record, long cell) {
        long id = UnsafeApi.getLong(record + BODY_OFFSET);
        long length = UnsafeApi.getLong(record + LEN);
        long flags = UnsafeApi.getLong(record + FLAGS);
        long source = UnsafeApi.getLong(record + CompletionQueueDescriptor.SOURCE_OFFSET);
        long position = -1;
        RecvContext context = contexts[SlabDescriptor.cell(id)];
        if ((flags & (Flags.MULTICAST | Flags.TIMESTAMP)) != 0) {
            context.timeNs(UnsafeApi.getLong(cell + TimeCellDecoder.timeNsEncodingOffset()));
            if ((flags & Flags.MULTICAST) != 0) {
                position = CompletionQueueDescriptor.position(length, source);
                length = CompletionQueueDescriptor.length(length);
                source = CompletionQueueDescriptor.source(source);
            }
        }
        boolean more = (flags & Flags.MORE) != 0;
        long place = UnsafeApi.getLong(record + BUF);
        context.liesIn((flags & Flags.LENT) == 0 ? null : regions.find(view.whole(), (int) place));
        context.open(id, flags, place, length,
            (int) (more ? Math.min(length, leastBytes) : length), UnsafeApi.getLong(record + DATA),
            UnsafeApi.getLong(record + TAG), source);
        context.position(position);
        if (lends && context.isWhole()) {
            giveBackLater(context);
        }
    }

    /** Whether a message in a sender's region is the application's. */
    private boolean isShown(LentRegions.Region region) {
        for (RecvContext context : contexts) {
            if (context.region() == region) {
                return true;
            }
        }
        return false;
    }

    private void giveBackLater(RecvContext context) {
        context.lentIndex = lentCount;
        lent[lentCount++] = context;
    }

    /** A message that lies in a peer's ring is about to be shown. */
    RecvContext lend(MessageLender lender, long address, int length, long source) {
        RecvContext context = inRing;
        // no cell is meant: the driver is never asked for it; downwards, so that it is no entry's, either
        context.lend(SlabDescriptor.context(endpointIndex, --uses, SlabDescriptor.MAX_CELLS - 1), lender, address,
            length, source);
        return context;
    }

    /** Ends the message shown by {@link #lend}; returns true if cells are to be given back. */
    boolean endLent() {
        inRing.close();
        return lentCount != 0;
    }

    /** Keeps a message over the next reading calls; 0 or a negative errno. */
    int retain(RecvContext context) {
        if (!context.isOpen()) {
            return -FabricErrno.EINVAL;
        }
        int result = context.isInRing() ? keep(context) : 0;
        unlend(context);
        return result;
    }

    /** Moves a lent message into a cell. */
    private int keep(RecvContext context) {
        if (!endpoint.isUsable()) {
            return -FabricErrno.EOPBADSTATE;
        }
        long id = context.moveToCell();
        if (id == 0) {
            return -FabricErrno.EAGAIN;
        }
        int cell = SlabDescriptor.cell(id);
        // the application has this object now, and the cell's own was free
        inRing = contexts[cell];
        contexts[cell] = context;
        context.moved(id, SlabDescriptor.offset(cell, cellLength));
        return 0;
    }

    /**
     * Gives back what was lent by the last reading call; what finds no room in the queue goes with a later one.
     *
     * @return whether something is still to be given back.
     */
    boolean giveBackLent() {
        while (lentCount != 0) {
            int count = Math.min(lentCount, ids.length);
            for (int i = 0; i < count; i++) {
                ids[i] = lent[lentCount - count + i].id();
            }
            if (submission.giveBack(ids, count) != 0) {
                return true;
            }
            for (int i = 0; i < count; i++) {
                RecvContext context = lent[--lentCount];
                context.lentIndex = -1;
                context.close();
            }
        }
        return false;
    }

    /** The next reading call does not give it back. */
    void unlend(RecvContext context) {
        int index = context.lentIndex;
        if (index >= 0) {
            RecvContext last = lent[--lentCount];
            lent[index] = last;
            last.lentIndex = index;
            context.lentIndex = -1;
        }
    }

    int release(RecvContext context) {
        long id = context.id();
        if (context.isInRing()) {
            context.close();
            return 0;
        }
        if (!context.isWhole()) {
            return -FabricErrno.EINVAL;
        }
        if (!endpoint.isUsable()) {
            return -FabricErrno.EOPBADSTATE;
        }
        // first, because once the driver has it back another thread may read an entry with the same cell
        context.close();
        int result = submission.giveBack(id);
        if (result != 0) {
            context.reopen(id);
        } else {
            unlend(context);
        }
        return result;
    }

    /** Claims or discards a message; {@code iov} is null for a buffer of one piece. */
    int claim(long flags, IoVec iov, long buf, long len, long id) {
        RecvContext context = find(id);
        if (context == null || context.isTagged() != ((flags & Flags.TAGGED) != 0)) {
            return -FabricErrno.EINVAL;
        }
        if (context.isInRing()) {
            int kept = keep(context);
            if (kept != 0) {
                return kept;
            }
            giveBackLater(context);
        }
        long cell = context.id();
        long wanted = context.context();
        context.close();
        // the driver knows the message by the number, the application by what it has set
        int result = iov == null ? submission.receive(flags, buf, len, FabricAddress.ADDR_UNSPEC, cell, 0, wanted)
            : submission.receive(flags, iov, FabricAddress.ADDR_UNSPEC, cell, 0, wanted);
        if (result != 0) {
            context.reopen(cell);
        } else {
            unlend(context);
        }
        return result;
    }

    /** The endpoint is closed: nothing is the application's any more. The list stays as it is, it is the reader's. */
    void close() {
        closed = true;
        inRing.close();
        for (RecvContext context : contexts) {
            if (context.isOpen()) {
                context.close();
            }
        }
        regions.close();
    }
}
