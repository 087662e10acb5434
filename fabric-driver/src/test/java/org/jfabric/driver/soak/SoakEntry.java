package org.jfabric.driver.soak;

/** An entry as a reader sees it; errno is 0 for a success. */
record SoakEntry(
    long context, long flags, long length, long data, long tag, long source, int errno, long olen) {
}
