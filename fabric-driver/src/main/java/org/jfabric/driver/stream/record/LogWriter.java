package org.jfabric.driver.stream.record;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayDeque;
import java.util.UUID;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.client.log.LogFolder;
import org.jfabric.client.log.LogSegment;
import org.jfabric.client.log.LogState;
import org.jfabric.client.log.TermStarts;
import org.jfabric.codec.log.GapEncoder;
import org.jfabric.codec.log.MessageEncoder;
import org.jfabric.codec.log.SegmentEndEncoder;
import org.jfabric.codec.log.TermStartEncoder;
import org.jfabric.driver.resource.LogDisk;
import org.jfabric.ffi.FileStatus;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.LinuxErrno;
import org.jfabric.ffi.NativeCallException;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.layout.LogDescriptor;
import org.jfabric.layout.OwnerId;
import org.jfabric.stream.LogOptions;

/**
 * Writes a log: the messages of a group, each once and in order, into segments of a folder.
 *
 * <p>There are three steps. {@link #append} takes a message. {@link #flush} gives what was taken to the page
 * cache, from which on it survives the death of the process, and readers see it; an append does it too when much has
 * come together. {@link #sync} waits for stable storage, which survives a power cut.
 *
 * <p>One thread at a time; it starts none. A call per message allocates nothing unless the message is longer than all
 * before, or a segment begins.
 */
public final class LogWriter implements AutoCloseable {
    /** How long the next try waits in {@link LogOptions.FullDisk#GAP}, by the messages' times. */
    private static final long RETRY_NS = 1_000_000;
    /** Segments that may wait for a sync: each keeps a descriptor. */
    private static final int MOST_UNSYNCED = 4;

    private final Path path;
    private final String group;
    private final LogOptions options;
    private final LogDisk disk;
    private final LogState state = new LogState();
    private final RecordStage stage = new RecordStage();
    private final ArrayDeque<SegmentWriter> unsynced = new ArrayDeque<>();
    private LogFolder folder;
    private Retention retention;
    private int lockFd = -1;
    private SegmentWriter segment;
    /** Begun, but the one before it is not at its end on disk. */
    private SegmentWriter following;
    private int term;
    private TermStarts terms;
    /** Of the last record: an older one until the term has begun with a record. */
    private int lastTerm;
    private long timeNs;
    /** Of the next message that is taken. */
    private long next;
    /** Behind the last one that is staged; less than next while the disk is full. */
    private long staged;
    private long written;
    private long synced;
    private long oldest;
    private long dropped;
    private long triedNs;
    private boolean areNamesSynced;
    private boolean isStateStored = true;
    /** Position of the next message at the last flush. */
    private long flushed = -1;
    private int failure;
    private boolean isClosed;

    private LogWriter(Path path, String group, LogOptions options, LogDisk disk) {
        this.path = path;
        this.group = group;
        this.options = options;
        this.disk = disk;
    }

    /**
     * Opens a log, or makes one, and finds its last whole record. If it was not closed, a new term begins behind that.
     *
     * @throws FabricException {@code FI_EBUSY} if another writer has it, {@code FI_EINVAL} for options that it cannot
     *     have or was not made with, {@code FI_ENOSPC}, {@code FI_EIO} if records are missing or were changed that no
     *     power cut can have lost; or what else the system answers.
     */
    public static LogWriter open(Path folder, String group, LogOptions options) {
        return open(folder, group, options, LogDisk.SYSTEM);
    }

    /** The same on a disk whose calls may fail. */
    public static LogWriter open(Path folder, String group, LogOptions options, LogDisk disk) {
        if (!LogDescriptor.isSegmentLength(segmentLength(options))) {
            throw new FabricException(FabricErrno.EINVAL, "segments of " + options.segmentLengthBytes() + " bytes",
                "Use a power of two from " + LogDescriptor.MIN_SEGMENT + " to " + LogDescriptor.MAX_SEGMENT + '.');
        }
        LogWriter writer = new LogWriter(folder, group, options, disk);
        boolean isGood = false;
        try {
            writer.lock();
            writer.requireOptions();
            writer.recover();
            isGood = true;
            return writer;
        } finally {
            if (!isGood) {
                writer.release();
            }
        }
    }

    private static int segmentLength(LogOptions options) {
        return options.segmentLengthBytes() == 0 ? LogDescriptor.DEFAULT_SEGMENT : options.segmentLengthBytes();
    }

    private void lock() {
        try {
            Files.createDirectories(path,
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        } catch (IOException e) {
            throw new FabricException(FabricErrno.EIO, path + " cannot be made: " + e, "Name another folder.", e);
        }
        int directory = Libc.openDirectory(path.toAbsolutePath());
        require("open", path, directory);
        try {
            lockFd = disk.open(directory, LogDescriptor.FILE_NAME, true);
            Path file = path.resolve(LogDescriptor.FILE_NAME);
            require("open", file, lockFd);
            if (Libc.lockExclusive(lockFd) < 0) {
                state.read(lockFd);
                throw new FabricException(FabricErrno.EBUSY, "the log " + path + " has a writer, process "
                    + (state.isValid() ? state.pid() : "unknown"), "A log has one writer: end that one first.");
            }
            if (FileStatus.of(lockFd).sizeBytes() == 0) {
                UnsafeBuffer header = LogFolder.header(OwnerId.random(), segmentLength(options), group,
                    System.currentTimeMillis() * 1_000_000);
                require("write", file, disk.write(lockFd, header.addressOffset(), header.capacity(), 0));
                state.begin(true, 0, 0);
                require("write", file, storeState());
                require("fdatasync", file, disk.sync(lockFd));
                require("fsync", path, disk.syncNames(directory));
            }
        } finally {
            Libc.close(directory);
        }
    }

    private void requireOptions() {
        folder = LogFolder.open(path);
        if (!folder.group().equals(group)) {
            throw new FabricException(FabricErrno.EINVAL, "the log " + path + " is of the group '" + folder.group()
                + "', not of '" + group + "'", "Name its group, or another folder.");
        }
        int length = folder.segmentLength();
        if (options.segmentLengthBytes() != 0 && options.segmentLengthBytes() != length) {
            throw new FabricException(FabricErrno.EINVAL, "the segments of " + path + " have " + length
                + " bytes, not " + options.segmentLengthBytes(), "Leave the length out, or name another folder.");
        }
        if (options.retainBytes() < 2L * length) {
            throw new FabricException(FabricErrno.EINVAL, "a log with segments of " + length + " bytes cannot keep "
                + options.retainBytes(), "Keep two segments at least, or begin a log with shorter ones.");
        }
    }

    private void recover() {
        LogEnd end = LogEnd.of(folder);
        LogState old = folder.state();
        boolean isClean = old.isValid() && !old.isOpen() && end.position() == old.written();
        for (long first : folder.segments()) {
            if (first > end.segment()) {
                // begun, or lost, when the power was cut: no call has answered that anything in it is written
                disk.delete(folder.directory(), name(first));
            }
        }
        retention = new Retention(options, folder.segmentLength());
        retention.load(folder, end.segment());
        // a segment may be lost that a term has begun with
        int last = Math.max(end.term(), old.isValid() ? old.term() : 0);
        term = isClean ? last : last + 1;
        lastTerm = end.segment() < 0 ? term : end.term();
        terms = end.terms();
        if (term != terms.term()) {
            terms.begin(term, end.position());
        }
        timeNs = end.timeNs();
        next = end.position();
        staged = next;
        written = next;
        oldest = Math.max(retention.oldest(), old.isValid() ? Math.min(old.oldest(), next) : 0);
        if (end.segment() < 0) {
            oldest = next;
        } else {
            resume(end, isClean, old.isValid() ? old.synced() : 0);
        }
        synced = next;
        state.begin(true, term, oldest);
        state.set(written, synced, oldest);
        require("write", folder.file(), storeState());
        // before a message is appended, or a later power cut would leave a log that seems closed
        require("fdatasync", folder.file(), disk.sync(lockFd));
        if (segment == null) {
            require("make a segment in", path, begin());
            segment = following;
            following = null;
        }
        retain(oldest);
        if (!isClean) {
            int result = reserve(TermStartEncoder.BLOCK_LENGTH);
            require("begin a segment in", path, result);
            segment.note(stage, staged, timeNs);
            stage.begin(TermStartEncoder.TEMPLATE_ID, TermStartEncoder.BLOCK_LENGTH, staged, timeNs, term);
            stage.end(TermStartEncoder.BLOCK_LENGTH);
            lastTerm = term;
        }
        require("write", path, sync());
    }

    private void resume(LogEnd end, boolean isClean, long oldSynced) {
        long[] segments = folder.segments();
        int first = isClean ? segments.length : Math.max(0, LogFolder.floor(segments, oldSynced));
        for (int i = first; i < segments.length; i++) {
            // a reader may have seen what is in the page cache only, and it is to stay
            int fd = disk.open(folder.directory(), name(segments[i]), false);
            require("open", path.resolve(name(segments[i])), fd);
            int result = disk.sync(fd);
            Libc.close(fd);
            require("fdatasync", path.resolve(name(segments[i])), result);
        }
        Path file = path.resolve(name(end.segment()));
        int fd = disk.open(folder.directory(), name(end.segment()), false);
        require("open", file, fd);
        try (LogSegment last = LogSegment.open(folder, end.segment())) {
            segment = SegmentWriter.resume(disk, fd, last, end.offset(), end.isEnded());
        }
        require("fallocate", file, disk.reserve(fd, folder.segmentLength()));
    }

    /**
     * Takes the next message.
     *
     * @param position of the message, {@link #position()}.
     * @param atNs     nanoseconds since 1970; where it is less than that of the message before, that one is recorded.
     * @return 0; {@code -FI_ENOSPC}: try again when there is room, or when retention has made some; {@code -FI_EINVAL}
     *     for another position, or a message that is longer than {@link #maxLength()}; {@code -FI_EIO}: the log has
     *     ended.
     */
    public int append(
        long position, long atNs, long flags, long tag, long data, DirectBuffer buffer, int offset, int length) {
        if (failure != 0) {
            return -failure;
        }
        if (position != next || length < 0 || length > maxLength()) {
            return -FabricErrno.EINVAL;
        }
        timeNs = Math.max(timeNs, atNs);
        int recordLength = LogDescriptor.MESSAGE_HEAD + length;
        int result = 0;
        if (staged < next) {
            result = isTimeToTry() ? endGap() : -FabricErrno.ENOSPC;
        }
        if (result == 0) {
            result = reserve(LogDescriptor.aligned(recordLength));
        }
        if (result < 0) {
            return refuse(result);
        }
        segment.note(stage, position, timeNs);
        int at = stage.begin(MessageEncoder.TEMPLATE_ID, recordLength, position, timeNs, term);
        UnsafeBuffer to = stage.buffer();
        to.putLong(at + MessageEncoder.flagsEncodingOffset(), flags, MessageEncoder.BYTE_ORDER);
        to.putLong(at + MessageEncoder.tagEncodingOffset(), tag, MessageEncoder.BYTE_ORDER);
        to.putLong(at + MessageEncoder.dataEncodingOffset(), data, MessageEncoder.BYTE_ORDER);
        to.putBytes(at + LogDescriptor.MESSAGE_HEAD, buffer, offset, length);
        stage.end(recordLength);
        next = position + 1;
        staged = next;
        return 0;
    }

    private boolean isTimeToTry() {
        return timeNs - triedNs >= RETRY_NS;
    }

    private int refuse(int result) {
        int answer = check(result);
        if (answer == -FabricErrno.ENOSPC && options.whenFull() == LogOptions.FullDisk.GAP) {
            if (staged == next || isTimeToTry()) {
                triedNs = timeNs;
            }
            next++;
            dropped++;
            return 0;
        }
        return answer;
    }

    /** Records that messages are missing. */
    private int endGap() {
        int result = reserve(GapEncoder.BLOCK_LENGTH);
        if (result == 0) {
            segment.note(stage, staged, timeNs);
            int at = stage.begin(GapEncoder.TEMPLATE_ID, GapEncoder.BLOCK_LENGTH, staged, timeNs, term);
            stage.buffer().putLong(at + GapEncoder.lastPositionEncodingOffset(), next - 1, GapEncoder.BYTE_ORDER);
            stage.end(GapEncoder.BLOCK_LENGTH);
            staged = next;
        }
        return result;
    }

    /** Makes room for a record, in the segment and in the stage. */
    private int reserve(int count) {
        int result = 0;
        if (!segment.hasRoom(stage, count)) {
            result = roll();
        }
        if (result == 0 && !stage.hasRoom(count)) {
            result = store();
            if (result == 0 && !stage.hasRoom(count)) {
                stage.grow(count);
            }
        }
        return result;
    }

    /** Goes on in a new segment. What fails is tried again by the next call. */
    private int roll() {
        int result = following == null ? begin() : 0;
        if (result < 0) {
            return result;
        }
        if (!segment.isEnded()) {
            stage.begin(SegmentEndEncoder.TEMPLATE_ID, LogDescriptor.END_LENGTH, staged, timeNs, lastTerm);
            stage.end(LogDescriptor.END_LENGTH);
            segment.end();
        }
        result = store();
        if (result < 0) {
            return result;
        }
        unsynced.addLast(segment);
        segment = following;
        following = null;
        return unsynced.size() > MOST_UNSYNCED ? syncOldest() : 0;
    }

    /** Makes the file of the next segment. */
    private int begin() {
        while (retention.isOldestDue(timeNs)) {
            int result = deleteOldest();
            if (result < 0) {
                return result;
            }
        }
        int length = folder.segmentLength();
        int fd = disk.create(folder.directory(), name(staged));
        if (fd == -LinuxErrno.EEXIST) {
            // left by a call that has failed; no message was accepted behind its begin
            disk.delete(folder.directory(), name(staged));
            fd = disk.create(folder.directory(), name(staged));
        }
        if (fd < 0) {
            return fd;
        }
        int result = disk.reserve(fd, length);
        UnsafeBuffer header = LogSegment.header(folder.logId(), length, staged, terms, timeNs);
        if (result == 0) {
            result = disk.write(fd, header.addressOffset(), header.capacity(), 0);
        }
        if (result < 0) {
            disk.delete(folder.directory(), name(staged));
            Libc.close(fd);
            return result;
        }
        following = SegmentWriter.begin(disk, fd, length, staged);
        retention.add(staged, timeNs);
        areNamesSynced = false;
        return 0;
    }

    private int deleteOldest() {
        oldest = retention.withoutOldest();
        // before the deletion: to a reader a segment that is missing otherwise was deleted by somebody else
        state.set(written, synced, oldest);
        int result = storeState();
        if (result == 0) {
            result = disk.delete(folder.directory(), name(retention.removeOldest()));
            areNamesSynced = false;
        }
        return result == -FabricErrno.ENOENT ? 0 : result;
    }

    /**
     * Deletes all segments in which nothing is from a position on; the newest one stays.
     *
     * @return 0, or {@code -FI_EIO}: the log has ended.
     */
    public int retain(long fromPosition) {
        int result = -failure;
        while (result == 0 && retention.isOldestBefore(fromPosition)) {
            result = deleteOldest();
        }
        return result == 0 ? 0 : check(result);
    }

    /**
     * Gives all messages that were taken to the page cache.
     *
     * @return 0; {@code -FI_ENOSPC}: they stay; {@code -FI_EIO}: the log has ended.
     */
    public int flush() {
        if (failure != 0) {
            return -failure;
        }
        int result = check(store());
        boolean isIdle = next == flushed;
        flushed = next;
        // of a writer at work append tries, now and then
        if (result == 0 && staged < next && isIdle && check(endGap()) == 0) {
            result = check(store());
        }
        return failure != 0 ? -failure : result;
    }

    private int store() {
        if (stage.size() != 0) {
            int result = segment.write(stage);
            if (result < 0) {
                return result;
            }
            stage.clear();
            written = staged;
            isStateStored = false;
        }
        if (isStateStored) {
            return 0;
        }
        // tried again by the next call if it fails: readers go by it
        state.set(written, synced, oldest);
        int result = storeState();
        isStateStored = result == 0;
        return result;
    }

    private int storeState() {
        return disk.write(lockFd, state.seal(), LogState.LENGTH, LogDescriptor.STATE_OFFSET);
    }

    /**
     * Gives all messages that were taken to stable storage. What has failed is not tried again, since the system may
     * have forgotten it: the log ends.
     *
     * @return 0; {@code -FI_ENOSPC}: they stay; {@code -FI_EIO}: the log has ended.
     */
    public int sync() {
        if (failure != 0) {
            return -failure;
        }
        int gap = staged < next ? check(endGap()) : 0;
        int result = gap == -FabricErrno.EIO ? gap : check(store());
        while (result == 0 && !unsynced.isEmpty()) {
            result = syncOldest();
        }
        if (result == 0) {
            result = sync(segment);
        }
        if (result == 0 && !areNamesSynced) {
            result = disk.syncNames(folder.directory()) < 0 ? fail() : 0;
            areNamesSynced = true;
        }
        if (result == 0) {
            synced = written;
            state.set(written, synced, oldest);
            result = check(storeState());
        }
        return result;
    }

    private int syncOldest() {
        SegmentWriter old = unsynced.removeFirst();
        int result = sync(old);
        old.close();
        return result;
    }

    private int sync(SegmentWriter each) {
        try {
            each.sync();
            return 0;
        } catch (NativeCallException failed) {
            return fail();
        }
    }

    /** What a call answers: want of space is no end. */
    private int check(int result) {
        if (result == -FabricErrno.ENOSPC || result == -LinuxErrno.EDQUOT) {
            return -FabricErrno.ENOSPC;
        }
        return result < 0 ? fail() : 0;
    }

    private int fail() {
        failure = FabricErrno.EIO;
        return -failure;
    }

    /** Position of the next message. */
    public long position() {
        return next;
    }

    /** The position up to which messages are in the page cache; that of the first one that is not. */
    public long written() {
        return written;
    }

    /** The position up to which messages are on stable storage; that of the first one that is not. */
    public long synced() {
        return synced;
    }

    /** The first position that retention has left. */
    public long oldest() {
        return oldest;
    }

    /** Messages for which the disk had no room, since it was opened. */
    public long dropped() {
        return dropped;
    }

    /** Whether messages are being left out for which the disk had no room. */
    public boolean isInGap() {
        return staged < next;
    }

    /** Bytes of its segments, whose blocks are all reserved. */
    public long diskBytes() {
        return retention.bytes();
    }

    /** The longest message in bytes. */
    public int maxLength() {
        return LogDescriptor.maxPayload(folder.segmentLength());
    }

    public int term() {
        return term;
    }

    public UUID logId() {
        return new UUID(folder.logId().high(), folder.logId().low());
    }

    /** Whether a sync means more than a flush: false in a file system that is in memory only. */
    public boolean isStable() {
        return Libc.volatileFileSystem(lockFd) == null;
    }

    /**
     * Syncs and closes the log, so that the next writer continues the term.
     *
     * @throws FabricException if something that was taken could not be written, and no call has said so yet: names the
     *     first position that is not on stable storage. It is closed all the same.
     */
    @Override
    public void close() {
        if (isClosed) {
            return;
        }
        isClosed = true;
        boolean hadFailed = failure != 0;
        int result;
        try {
            result = finish();
        } finally {
            release();
        }
        if (!hadFailed && (result < 0 || synced != next)) {
            throw new FabricException(result < 0 ? -result : FabricErrno.ENOSPC, "the log " + path
                + " was closed at position " + next + "; from position " + synced + " on it may not be on the disk",
                "Make room or check the disk. The log opens at its last whole record, in a new term.");
        }
    }

    /** Syncs, and says in the log that it was closed if all is on the disk. */
    private int finish() {
        int result = sync();
        if (result == 0 && synced == next) {
            state.begin(false, term, oldest);
            state.set(written, synced, oldest);
            result = storeState();
            result = result == 0 ? disk.sync(lockFd) : result;
        }
        return result;
    }

    /** Closes what is open, and leaves the log as a kill leaves it: the next writer begins a term. */
    public void release() {
        unsynced.forEach(SegmentWriter::close);
        if (segment != null) {
            segment.close();
        }
        if (following != null) {
            following.close();
        }
        if (folder != null) {
            folder.close();
        }
        if (lockFd >= 0) {
            Libc.close(lockFd);
            lockFd = -1;
        }
        isClosed = true;
        failure = FabricErrno.EIO;
    }

    private String name(long firstPosition) {
        return LogDescriptor.segmentName(folder.logId(), firstPosition);
    }

    private static void require(String call, Path what, int result) {
        if (result < 0) {
            throw new FabricException(-result, "cannot " + call + " " + what);
        }
    }
}
