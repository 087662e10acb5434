package org.jfabric.driver.stream;

import org.jfabric.info.LogPosition;

/**
 * Whether an endpoint may read a group, and where it begins.
 *
 * @param errno      0, or why not; then only start and end may count.
 * @param member     the answering driver's number of the membership; 0 in the reader's own driver.
 * @param isLossy    whether the writer does not wait for this reader: the group is lossy, or recorded.
 * @param mayOverrun whether records may be overwritten that this reader has yet to read.
 * @param ringNumber number of the {@code .group} file.
 * @param ringLength bytes of its records.
 * @param offset     of the first record that is read.
 * @param start      of the first message that is read, or, with an errno, the oldest one in the ring; null if there is
 *                   no group.
 * @param end        position of the next message that is written.
 * @param writer     address of the writing endpoint.
 * @param log        folder in which the group is recorded; empty without.
 */
public record GroupAnswer(
    int errno, int member, boolean isLossy, boolean mayOverrun, long ringNumber, long ringLength, long offset,
    LogPosition start, long end, String writer, String log) {

    /** Errno (EREMCHG) of an answer that names another progress thread in place of the membership. */
    static final int MOVED = 78;

    static GroupAnswer moved(int thread) {
        return new GroupAnswer(MOVED, thread, false, false, 0, 0, 0, null, 0, "", "");
    }

    static GroupAnswer refused(int errno, LogPosition oldest, long end) {
        return new GroupAnswer(errno, 0, false, false, 0, 0, 0, oldest, end, "", "");
    }
}
