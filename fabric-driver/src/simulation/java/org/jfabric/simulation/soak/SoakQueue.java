package org.jfabric.simulation.soak;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Completion;
import org.jfabric.CompletionBatch;
import org.jfabric.CompletionError;
import org.jfabric.CompletionQueue;
import org.jfabric.RecvContext;
import org.jfabric.info.FabricErrno;

/** A completion queue with its reader, which reads in every way that there is and pauses now and then. */
final class SoakQueue {
    private static final int MOST = 16;
    private static final int ENTRY_LENGTH = 48;

    final CompletionQueue cq;
    /** What the client's share has room for. */
    final int size;
    /** Endpoints that post to it; both halves of an endpoint may share it. */
    final List<SoakEndpoint> senders = new ArrayList<>();
    final List<SoakEndpoint> receivers = new ArrayList<>();
    final boolean holds;
    final boolean blocks;
    boolean paused;
    /** Entries may hand out cells, which are given back with the entries. */
    boolean shows;
    private boolean reading;
    private final BiConsumer<SoakQueue, SoakEntry> onEntry;
    private final UnsafeBuffer entries = new UnsafeBuffer(new byte[ENTRY_LENGTH * MOST]);
    private final long[] sources = new long[MOST];
    private final CompletionBatch batch = new CompletionBatch();
    private final CompletionError error = new CompletionError();
    private final List<SoakEntry> polled = new ArrayList<>();
    /** Shown by {@code pollMessages}, by the call in hand. */
    private int messages;

    /**
     * A queue.
     *
     * @param holds   whether entries may be lent.
     * @param blocks  whether a reader may sleep.
     */
    SoakQueue(
        CompletionQueue cq, int size, boolean holds, boolean blocks, BiConsumer<SoakQueue, SoakEntry> onEntry) {
        this.cq = cq;
        this.size = size;
        this.holds = holds;
        this.blocks = blocks;
        this.onEntry = onEntry;
    }

    int readAll() {
        int count = 0;
        int read;
        do {
            read = read(shows ? 6 : 0, MOST);
            count += read;
        } while (read > 0);
        return count;
    }

    /**
     * Reads some entries.
     *
     * @param way   0 copies, 1 shows, 2 lends and gives back at once, 3 lends until the next call; 4 copies
     *              and 5 waits a moment for the first one, if this queue is one for sleepers; 6 shows messages
     *              where they are, entries are seen to behind them.
     * @param limit most entries, 1 to 16.
     */
    int read(int way, int limit) {
        polled.clear();
        messages = 0;
        int read = switch (way) {
            case 1 -> cq.poll(this::add, limit);
            case 2, 3 -> lend(limit, way == 2 && !shows);
            case 6 -> cq.pollMessages(this::onMessage, this::add, limit);
            case 4, 5 -> add(blocks ? cq.sreadFrom(entries, 0, limit, sources, 0, way - 4)
                : cq.readFrom(entries, 0, limit, sources));
            default -> add(cq.readFrom(entries, 0, limit, sources));
        };
        if (read == -FabricErrno.EAVAIL) {
            read = cq.readErr(error, 0);
            if (read != 1) {
                throw new AssertionError("readErr answered " + FabricErrno.name(read) + " after -FI_EAVAIL");
            }
            polled.add(new SoakEntry(error.opContext(), error.flags(), error.len(), error.data(), error.tag(),
                error.srcAddr(), error.err(), error.olen(), error.buf()));
        } else if (read == -FabricErrno.EAGAIN) {
            read = 0;
        } else if (read <= 0) {
            throw new AssertionError("reading of " + cq + " in way " + way + " answered " + FabricErrno.name(read));
        }
        if (read != messages + polled.size()) {
            throw new AssertionError(
                read + " entries were announced, " + polled.size() + " shown, and " + messages + " messages");
        }
        reading = true;
        for (int i = 0; i < polled.size(); i++) {
            onEntry.accept(this, polled.get(i));
        }
        reading = false;
        return read;
    }

    /** Whether it may be read while an entry is looked at. */
    boolean mayNest() {
        return !reading;
    }

    /** Those that were copied. */
    private int add(int read) {
        for (int i = 0; i < read; i++) {
            int at = i * ENTRY_LENGTH;
            polled.add(new SoakEntry(entries.getLong(at), entries.getLong(at + 8), entries.getLong(at + 16),
                entries.getLong(at + 32), entries.getLong(at + 40), sources[i], 0, 0,
                entries.getLong(at + 24)));
        }
        return read;
    }

    /** A message is looked at while it is shown: it may have no entry, and be gone afterwards. */
    private void onMessage(RecvContext message) {
        messages++;
        reading = true;
        onEntry.accept(this, new SoakEntry(message.id(), message.flags(), message.messageLength(), message.data(),
            message.tag(), message.source(), 0, 0, 0));
        reading = false;
    }

    private int lend(int limit, boolean giveBack) {
        int read = cq.readInPlace(batch, limit);
        for (int i = 0; i < read; i++) {
            add(batch.entry(i));
        }
        if (giveBack) {
            batch.release();
        }
        return read;
    }

    private void add(Completion completion) {
        if (cq.recvContext(completion) != cq.recvContext(completion.opContext())) {
            throw new AssertionError("the context of " + completion + " is not found by its number");
        }
        polled.add(new SoakEntry(completion.opContext(), completion.flags(), completion.len(), completion.data(),
            completion.tag(), completion.srcAddr(), 0, 0, completion.buf()));
    }
}
