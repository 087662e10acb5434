package org.jfabric.simulation;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import org.agrona.DirectBuffer;
import org.jfabric.info.LogPosition;
import org.jfabric.stream.LogOptions;
import org.jfabric.stream.LogOptions.Visibility;
import org.jfabric.stream.LogReader;
import org.jfabric.stream.Publication;
import org.jfabric.stream.StreamHeader;
import org.jfabric.stream.StreamListener;

/**
 * The naive model of a recorded group: for each term of its log the messages that were accepted, in
 * a list. What readers see is compared with it; for gaps the files of the log are looked at.
 */
final class RecordedLedger {
    /** The messages of a term. */
    private record Term(int number, Written messages) {
        long first() {
            return messages.first;
        }

        long end() {
            return messages.end();
        }
    }

    /** A reader that has seen the end of a group whose writer has left. */
    private record Left(RecordedReader reader, int opening, long next) {
    }

    final Path folder;
    final LogOptions options;
    private final List<Term> terms = new ArrayList<>();
    private final List<Left> left = new ArrayList<>();
    private UUID logId;
    private long lastId;
    /** A message that is being offered; 0 for none. */
    private long pending;
    /** Behind the last position that was reported to be in the page cache. */
    private long written;
    /** Behind the last message that was seen by a reader. */
    private long seen;
    /** How often the writer has opened the group. */
    private int openings;
    private boolean isOpen;
    /** Whether the process lives that has opened the group last. */
    BooleanSupplier isWriterAlive;
    /** The writer was not closed in order in this opening, or its disk has failed. */
    private boolean isBroken;
    /** The writer, null while there is none. */
    Publication publication;
    boolean isActive = true;
    boolean isClosing;
    /** Messages may have been left out because the disk was full. */
    boolean hasBeenFull;
    long accepted;
    long received;
    long inGaps;
    long refused;
    long lostWithTerms;
    long continued;

    RecordedLedger(Path folder, LogOptions options) {
        this.folder = folder;
        this.options = options;
    }

    // ---- the writer ----

    long offering() {
        pending = ++lastId;
        return pending;
    }

    void onOffered(boolean isAccepted) {
        if (isAccepted) {
            terms.getLast().messages.ids.addLong(pending);
            accepted++;
        }
        pending = 0;
    }

    void onWritten(long position) {
        Account.require(position >= written && position <= end(),
            position + " messages are written, of " + end() + ", and before it were " + written);
        written = position;
    }

    /** A publication was opened, and will write at that place next. */
    void onOpen(LogPosition next) {
        isOpen = true;
        openings++;
        logId = terms.isEmpty() ? next.logId() : logId;
        Account.require(next.logId().equals(logId), "the log is another one: " + next + " instead of " + logId);
        if (terms.isEmpty()) {
            Account.require(next.position() == 0, "a new log begins at " + next);
            terms.add(new Term(next.term(), new Written(0)));
        }
        Term last = terms.getLast();
        if (pending != 0) {
            // the writer was killed in the call that has accepted it, perhaps
            last.messages.ids.addLong(pending);
        }
        pending = 0;
        long at = next.position();
        Account.require(at <= last.end(), "the log goes on at " + at + ", and ended at " + last.end());
        Account.require(at >= written, "messages were lost from " + at + " on that were written, up to " + written);
        boolean isLater = next.term() != last.number;
        Account.require(!isLater || next.term() > last.number, next + " is of a term before " + last.number);
        // a full disk, too, may have had no room for the gap that stands for what was seen
        boolean mayLose = options.visibility() == Visibility.RING || hasBeenFull;
        Account.require(at >= seen || isLater && mayLose,
            "messages were lost from " + at + " on that were seen, up to " + seen);
        seen = Math.min(seen, at);
        for (Left each : left) {
            Account.require(isLater || each.opening != openings - 1 || each.next == at,
                each.reader + " has seen the end, at " + each.next + " of " + at);
        }
        left.clear();
        if (isLater) {
            lostWithTerms += last.end() - at;
            terms.add(new Term(next.term(), new Written(at)));
        } else {
            Account.require(isBroken || at == last.end(), "a log that was closed goes on at " + at
                + ", and ended at " + last.end());
            while (last.end() > at) {
                last.messages.ids.removeAt(last.messages.ids.size() - 1);
            }
            continued++;
        }
        isBroken = false;
    }

    void onClosed() {
        isOpen = false;
    }

    /** The writer has not left in order. */
    void onBroken() {
        isOpen = false;
        isBroken = true;
    }

    /** Behind the last message that was accepted. */
    long end() {
        return terms.isEmpty() ? 0 : terms.getLast().end();
    }

    // ---- readers ----

    int openings() {
        return openings;
    }

    LogPosition place(int term, long position) {
        return new LogPosition(logId, term, position);
    }

    /** The first place of what has replaced the end of a term, or null if it was not replaced. */
    LogPosition replaced(int term) {
        for (Term each : terms) {
            if (each.number > term) {
                return place(each.number, each.first());
            }
        }
        return null;
    }

    private Term term(int number) {
        for (Term each : terms) {
            if (each.number == number) {
                return each;
            }
        }
        throw new AssertionError("there is no term " + number + ", only " + terms.stream().map(Term::number).toList());
    }

    /** Checks a message; a reader has seen an earlier one of a term, or has -1. */
    void check(DirectBuffer buffer, int offset, int length, StreamHeader header, int before, long last) {
        Term term = term(header.term());
        long position = header.position();
        if (position == term.end() && pending != 0) {
            // seen before the call that accepts it has returned
            Account.require(buffer.getLong(offset) == pending, "message " + position + " is another one");
        } else {
            term.messages.check(buffer, offset, length, position);
        }
        Account.require(before <= term.number, "a message of term " + term.number + " came behind one of " + before);
        // a log that has no begin of a term any more cannot say where the one before has ended
        boolean isBehind = before == term.number || last < replaced(before).position()
            || replaced(before).position() < oldest();
        Account.require(isBehind, "message " + position
            + " of term " + term.number + " came behind " + last + " of term " + before + ", which has ended at "
            + replaced(before));
    }

    void onSeen(StreamHeader header) {
        received++;
        if (header.term() == terms.getLast().number) {
            seen = Math.max(seen, header.position() + 1);
        }
    }

    void onLeft(RecordedReader reader, int opening, long next) {
        left.add(new Left(reader, opening, next));
    }

    /** Checks that messages of a term cannot be had: retention, a full disk, or the end of the term has taken them. */
    void checkGap(long first, long last, int term) {
        inGaps += last - first + 1;
        LogPosition replaced = replaced(term);
        long ended = replaced != null ? replaced.position() : Long.MAX_VALUE;
        try (LogReader log = LogReader.open(folder)) {
            long oldest = log.position();
            if (last < oldest) {
                return;
            }
            long[] there = {-1};
            log.from(Math.max(first, oldest));
            StreamListener listener = new StreamListener() {
                @Override
                public void onMessage(DirectBuffer buffer, int offset, int length, StreamHeader header) {
                    there[0] = header.position() <= last && header.position() < ended && there[0] < 0
                        ? header.position() : there[0];
                }

                @Override
                public void onGap(long from, long to) {
                    // these are missing in the log, too
                }
            };
            while (log.position() <= last && log.poll(listener, 1) != 0) {
                Account.require(there[0] < 0, "message " + there[0] + " is in the log, and was said to be lost, with "
                    + first + " to " + last);
            }
            boolean mayFollow = isOpen && isWriterAlive.getAsBoolean() && replaced == null && log.position() <= last;
            Account.require(!mayFollow, "messages " + first + " to " + last + " are said to be lost, and the log has"
                + " come to " + log.position());
        }
    }

    long oldest() {
        try (LogReader log = LogReader.open(folder)) {
            return log.position();
        }
    }

    /** Checks the whole log, once everything is over. */
    void checkLog() {
        long[] next = new long[1];
        int[] before = new int[1];
        try (LogReader log = LogReader.open(folder)) {
            next[0] = log.position();
            before[0] = -1;
            StreamListener listener = new StreamListener() {
                @Override
                public void onMessage(DirectBuffer buffer, int offset, int length, StreamHeader header) {
                    Account.require(header.position() == next[0], header.position() + " instead of " + next[0]);
                    check(buffer, offset, length, header, before[0] < 0 ? header.term() : before[0], next[0] - 1);
                    before[0] = header.term();
                    next[0]++;
                }

                @Override
                public void onGap(long from, long to) {
                    Account.require(from == next[0] && options.whenFull() == LogOptions.FullDisk.GAP,
                        "a gap from " + from + " to " + to + " at " + next[0]);
                    next[0] = to + 1;
                }
            };
            while (log.poll(listener, 64) != 0) {
                // to the end
            }
        }
        Account.require(next[0] == end(), "the log ends at " + next[0] + " instead of " + end());
    }
}
