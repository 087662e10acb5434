package org.jfabric;

import org.jfabric.client.Invoker;
import org.jfabric.client.LentMessages;
import org.jfabric.client.MessageLender;

/**
 * One call of {@link CompletionQueue#pollMessages}: runs a cycle that may lend messages, shows these, then what has
 * entries.
 *
 * <p>Lent messages have no entries, so all of them are shown whatever a handler throws, and given back before the call
 * ends. Owner: the reading thread.
 */
final class MessagePoll implements CompletionHandler {
    private final CompletionReader reader;
    private final Invoker invoker;
    /** Null where nothing is lent. */
    private LentMessages lent;
    private MessageHandler messages;
    private CompletionHandler others;
    /** The next message to show. */
    private int next;
    /** Of the message that is being shown. */
    private ReceiveSlab slab;
    /** A peer has cut memory that messages lie in. */
    private boolean isCut;

    MessagePoll(CompletionReader reader, Invoker invoker, LentMessages lent) {
        this.reader = reader;
        this.invoker = invoker;
        this.lent = lent;
    }

    /** Where several threads drive the engine messages have entries; not inside of a poll. */
    void stopLending() {
        lent = null;
    }

    int poll(MessageHandler onMessage, CompletionHandler onOther, int limit) {
        int shown = 0;
        if (lent != null) {
            shown = pollLent(onMessage, limit);
            if (shown != 0 && (shown >= limit || reader.isEmpty())) {
                return shown;
            }
        } else if (invoker != null) {
            invoker.poll(limit);
        }
        messages = onMessage;
        others = onOther;
        int read = reader.handle(this, limit - shown);
        return shown == 0 ? read : shown + Math.max(0, read);
    }

    /** Handles a message or another completion that has an entry. */
    @Override
    public void onCompletion(Completion entry) {
        if (!entry.isBuffered()) {
            others.onCompletion(entry);
            return;
        }
        ReceiveSlab of = reader.slabs().find(entry.opContext());
        RecvContext message = of == null ? null : of.find(entry.opContext());
        if (message != null) {
            // else its endpoint is closed
            messages.onMessage(message);
        }
    }

    private int pollLent(MessageHandler handler, int limit) {
        int shown;
        lent.open(reader.position(), limit);
        // the cycle may call the application, too
        reader.handling(true);
        try {
            invoker.poll(limit);
        } finally {
            lent.close();
            shown = lent.count();
            try {
                if (!lent.isEmpty()) {
                    show(lent, handler);
                }
            } finally {
                reader.handling(false);
            }
        }
        return shown;
    }

    private void show(LentMessages from, MessageHandler handler) {
        Throwable thrown = null;
        isCut = false;
        next = 0;
        while (next < from.count()) {
            try {
                showNext(from, handler);
            } catch (InternalError ex) {
                if (from.endCut()) {
                    isCut = true;
                    invoker.onFault(ex);
                } else {
                    thrown = first(thrown, ex);
                }
            } catch (RuntimeException | Error ex) {
                thrown = first(thrown, ex);
            }
        }
        endLent(slab);
        slab = null;
        giveBack(from);
        if (thrown instanceof Error error) {
            throw error;
        } else if (thrown != null) {
            throw (RuntimeException) thrown;
        }
    }

    /** Shows all, or those up to one for which something is thrown; a memory fault may be raised anywhere in here. */
    private void showNext(LentMessages from, MessageHandler handler) {
        ReceiveSlab of = slab;
        int count = from.count();
        for (int i = next; i < count; i++) {
            next = i + 1;
            MessageLender lender = from.lender(i);
            if (of == null || !of.isOf(lender)) {
                endLent(of);
                of = reader.slabs().find(lender);
                slab = of;
            }
            // null: the endpoint is closed
            if (of != null && (!isCut || from.isThere(i))) {
                handler.onMessage(of.lend(lender, from.address(i), from.length(i), from.source(i)));
            }
        }
    }

    private void endLent(ReceiveSlab of) {
        if (of != null && of.endLent()) {
            reader.tookCells();
        }
    }

    /** A fault of the memory that was read may come as late as here. */
    private void giveBack(LentMessages from) {
        try {
            from.giveBack();
        } catch (InternalError ex) {
            boolean isOurs = from.endCut();
            from.giveBack();
            if (!isOurs) {
                throw ex;
            }
            invoker.onFault(ex);
        }
    }

    private static Throwable first(Throwable before, Throwable thrown) {
        if (before == null || before == thrown) {
            return thrown;
        }
        before.addSuppressed(thrown);
        return before;
    }
}
