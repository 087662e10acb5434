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

/** A completion queue with its reader, which uses all reading calls and is paused in some windows. */
final class SoakQueue {
    private static final int MOST = 16;
    private static final int ENTRY_LENGTH = 48;

    /** How entries are read. */
    enum Read {
        COPY,
        HANDLER,
        /** A batch that is released at once. */
        BATCH,
        /** A batch that is kept until the next read. */
        KEPT_BATCH,
        /** By the blocking call with a timeout of 0, if the queue has a wait object. */
        BLOCKING,
        /** The same with a timeout of 1 ms. */
        WAITING,
        /** Messages are handled in their slab or ring ({@code pollMessages}). */
        MESSAGES
    }

    final CompletionQueue cq;
    /** Entries that the client's share has room for. */
    final int size;
    /** Endpoints whose sends, and whose receives, have their entries here. */
    final List<SoakEndpoint> senders = new ArrayList<>();
    final List<SoakEndpoint> receivers = new ArrayList<>();
    final boolean lends;
    final boolean hasWaitObject;
    boolean paused;
    /** Entries may deliver messages in slabs, whose cells are released with the entries. */
    boolean deliversInSlabs;
    private boolean reading;
    private final BiConsumer<SoakQueue, SoakEntry> onEntry;
    private final UnsafeBuffer entries = new UnsafeBuffer(new byte[ENTRY_LENGTH * MOST]);
    private final long[] sources = new long[MOST];
    private final CompletionBatch batch = new CompletionBatch();
    private final CompletionError error = new CompletionError();
    private final List<SoakEntry> polled = new ArrayList<>();
    /** Messages that the current {@code pollMessages} call has delivered. */
    private int messages;

    /**
     * Creates a reader.
     *
     * @param lends whether batches of entries may be lent.
     */
    SoakQueue(
        CompletionQueue cq, int size, boolean lends, boolean hasWaitObject,
        BiConsumer<SoakQueue, SoakEntry> onEntry) {
        this.cq = cq;
        this.size = size;
        this.lends = lends;
        this.hasWaitObject = hasWaitObject;
        this.onEntry = onEntry;
    }

    int readAll() {
        int count = 0;
        int read;
        do {
            read = read(deliversInSlabs ? Read.MESSAGES : Read.COPY, MOST);
            count += read;
        } while (read > 0);
        return count;
    }

    /** Reads at most so many entries, 1 to 16. */
    int read(Read way, int limit) {
        polled.clear();
        messages = 0;
        int read = switch (way) {
            case HANDLER -> cq.poll(this::add, limit);
            case BATCH, KEPT_BATCH -> lend(limit, way == Read.BATCH && !deliversInSlabs);
            case MESSAGES -> cq.pollMessages(this::onMessage, this::add, limit);
            default -> add(hasWaitObject && way != Read.COPY
                ? cq.sreadFrom(entries, 0, limit, sources, 0, way == Read.WAITING ? 1_000_000 : 0)
                : cq.readFrom(entries, 0, limit, sources));
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
            throw new AssertionError(way + " of " + cq + " answered " + FabricErrno.name(read));
        }
        if (read != messages + polled.size()) {
            throw new AssertionError(
                "the call returned " + read + ", but delivered "
                + polled.size() + " entries and " + messages + " messages");
        }
        reading = true;
        for (int i = 0; i < polled.size(); i++) {
            onEntry.accept(this, polled.get(i));
        }
        reading = false;
        return read;
    }

    /** False while an entry is being handled. */
    boolean mayRead() {
        return !reading;
    }

    /** Adds entries that were copied. */
    private int add(int read) {
        for (int i = 0; i < read; i++) {
            int at = i * ENTRY_LENGTH;
            polled.add(new SoakEntry(entries.getLong(at), entries.getLong(at + 8), entries.getLong(at + 16),
                entries.getLong(at + 32), entries.getLong(at + 40), sources[i], 0, 0,
                entries.getLong(at + 24)));
        }
        return read;
    }

    /** Handles a message within the callback: it may have no entry, and end with the callback. */
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
