package org.jfabric.tool;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.client.log.LogCursor;
import org.jfabric.client.log.LogFolder;
import org.jfabric.client.log.LogSegment;
import org.jfabric.client.log.LogState;
import org.jfabric.codec.log.GapDecoder;
import org.jfabric.codec.log.IndexEntryDecoder;
import org.jfabric.codec.log.MessageDecoder;
import org.jfabric.codec.log.SegmentEndDecoder;
import org.jfabric.codec.log.TermStartDecoder;
import org.jfabric.info.FabricException;
import org.jfabric.layout.LogDescriptor;

/** All that a log has, compared with its checksums and with each other; goes on behind what is wrong. */
final class LogCheck {
    private static final int ENTRY = IndexEntryDecoder.BLOCK_LENGTH;

    private final LogFolder folder;
    private final List<String> problems = new ArrayList<>();
    private final List<String> terms = new ArrayList<>();
    private final LogCursor cursor = new LogCursor();
    private long messages;
    private long missing;
    private long trusted;
    private long limit;
    private long end;

    private LogCheck(LogFolder folder) {
        this.folder = folder;
    }

    static LogCheck of(LogFolder folder) {
        LogCheck check = new LogCheck(folder);
        check.run();
        return check;
    }

    /** One sentence each, with file and offset. */
    List<String> problems() {
        return problems;
    }

    /** Number and first position of each term that begins in what was kept. */
    List<String> terms() {
        return terms;
    }

    long messages() {
        return messages;
    }

    /** Messages in gaps. */
    long missing() {
        return missing;
    }

    /** Position behind the last whole record. */
    long end() {
        return end;
    }

    private void run() {
        LogState state = folder.reload();
        trusted = state.trusted();
        limit = state.isExact() ? state.written() : Long.MAX_VALUE;
        if (!state.isValid()) {
            problems.add(folder.file() + " at offset " + LogDescriptor.STATE_OFFSET + ": the state was changed; the"
                + " next writer makes it again");
        }
        findForeignFiles();
        long[] segments = folder.segments();
        if (state.isExact() && segments.length > 0 && segments[0] > state.oldest()) {
            problems.add(absent(state.oldest()));
        }
        long expected = -1;
        for (int i = 0; i < segments.length; i++) {
            if (expected >= 0 && segments[i] != expected && expected < trusted) {
                problems.add(absent(expected));
            }
            try (LogSegment segment = LogSegment.open(folder, segments[i])) {
                expected = segment == null ? -1 : walk(segment);
            } catch (FabricException damaged) {
                expected = -1;
                if (segments[i] < trusted) {
                    problems.add(damaged.getMessage());
                }
            }
        }
        if (end < trusted && problems.isEmpty()) {
            problems.add(absent(end));
        }
    }

    private String absent(long first) {
        return folder.path().resolve(LogDescriptor.segmentName(folder.logId(), first)) + " is missing";
    }

    private void findForeignFiles() {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder.path())) {
            for (Path file : files) {
                String name = file.getFileName().toString();
                if (!name.equals(LogDescriptor.FILE_NAME) && LogDescriptor.firstPosition(folder.logId(), name) < 0) {
                    problems.add(file + " is no file of this log");
                }
            }
        } catch (IOException e) {
            throw new ToolException(folder.path() + " cannot be listed: " + e, e);
        }
    }

    /** Returns the first position of the next segment, -1 if that is not known. */
    private long walk(LogSegment segment) {
        long[] firsts = new long[LogDescriptor.indexEntries(segment.length())];
        long next = -1;
        cursor.begin(segment);
        while (cursor.position() < limit) {
            int kind = cursor.next();
            if (kind == 0) {
                if (cursor.position() < trusted) {
                    problems.add(segment.file() + " at offset " + cursor.offset() + ", position " + cursor.position()
                        + ": " + cursor.problem() + "; the rest of the file was not checked");
                }
                break;
            }
            int step = (int) (cursor.recordOffset() / LogDescriptor.INDEX_STEP);
            firsts[step] = firsts[step] == 0 ? cursor.recordOffset() : firsts[step];
            count(kind);
            if (kind == SegmentEndDecoder.TEMPLATE_ID) {
                next = cursor.position();
                break;
            }
        }
        end = Math.max(end, cursor.position());
        checkIndex(segment, firsts);
        return next;
    }

    private void count(int kind) {
        if (kind == MessageDecoder.TEMPLATE_ID) {
            messages++;
        } else if (kind == GapDecoder.TEMPLATE_ID) {
            missing += cursor.lastPosition() - cursor.recordPosition() + 1;
        } else if (kind == TermStartDecoder.TEMPLATE_ID) {
            terms.add(cursor.term() + " from position " + cursor.position());
        }
    }

    /** Entries may be missing after a power cut; those that are there name the first record of their part. */
    private void checkIndex(LogSegment segment, long[] firsts) {
        UnsafeBuffer index = segment.index();
        IndexEntryDecoder entry = new IndexEntryDecoder();
        for (int i = 0; i < firsts.length; i++) {
            entry.wrap(index, i * ENTRY, ENTRY, IndexEntryDecoder.SCHEMA_VERSION);
            if (firsts[i] != 0 && entry.recordOffset() != 0 && entry.recordOffset() != firsts[i]) {
                problems.add(segment.file() + " at offset " + (LogDescriptor.INDEX_OFFSET + i * ENTRY)
                    + ": the index names a record at offset " + entry.recordOffset() + " instead of " + firsts[i]
                    + "; readers find the record without it");
            }
        }
    }
}
