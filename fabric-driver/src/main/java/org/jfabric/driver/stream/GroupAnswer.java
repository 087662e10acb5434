package org.jfabric.driver.stream;

/**
 * Whether an endpoint may read a group, and where it begins.
 *
 * @param errno      0, or why not; then the other values count for nothing.
 * @param member     the answering driver's number of the membership; 0 in the reader's own driver.
 * @param mayOverrun whether records may be overwritten that this reader has yet to read.
 * @param ringNumber number of the {@code .group} file.
 * @param ringLength bytes of its records.
 * @param position   of the first record that is read.
 * @param sequence   number of the first message.
 * @param writer     address of the writing endpoint.
 */
public record GroupAnswer(
    int errno, int member, boolean isLossy, boolean mayOverrun, long ringNumber, long ringLength, long position,
    long sequence, String writer) {

    static GroupAnswer refused(int errno) {
        return new GroupAnswer(errno, 0, false, false, 0, 0, 0, 0, "");
    }
}
