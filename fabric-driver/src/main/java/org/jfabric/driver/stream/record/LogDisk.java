package org.jfabric.driver.stream.record;

/**
 * What a log's writer does to files; simulations let it fail. Answers are 0 or more, or a negative errno. One thread.
 */
interface LogDisk {
    /** Makes an empty file. Returns its descriptor. */
    int create(int directory, String name);

    /** Gives a file that length, with all its blocks. */
    int reserve(int fd, long lengthBytes);

    /** Opens a file for reading and writing, and makes an empty one if it is not there and may be. */
    int open(int directory, String name, boolean makes);

    /** Writes all bytes, or fails. */
    int write(int fd, long address, long lengthBytes, long offset);

    /** Waits until all bytes of a file are on stable storage. */
    int sync(int fd);

    /** Waits until the names of a folder are on stable storage. */
    int syncNames(int directory);

    int delete(int directory, String name);
}
