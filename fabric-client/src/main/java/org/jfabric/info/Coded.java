package org.jfabric.info;

/** An enumeration whose constants have the numbers of libfabric. */
interface Coded {
    int code();
}
