package org.jfabric.simulation.soak;

/** A call that accesses the memory of an endpoint. Those without atomic operations come first. */
enum AccessCall {
    WRITE, WRITEV, WRITEDATA, WRITEMSG, INJECT_WRITE, INJECT_WRITEDATA, READ, READV, READMSG,
    ATOMIC, INJECT_ATOMIC, FETCH, COMPARE, SUM;

    /** How many are no atomic operations. */
    static final int MOVES = ATOMIC.ordinal();

    boolean isAtomic() {
        return compareTo(ATOMIC) >= 0;
    }

    boolean isInject() {
        return this == INJECT_WRITE || this == INJECT_WRITEDATA || this == INJECT_ATOMIC;
    }

    /** Whether it returns bytes of the target. */
    boolean reads() {
        return compareTo(READ) >= 0 && compareTo(READMSG) <= 0 || compareTo(FETCH) >= 0;
    }

    /** Whether it has flags of its own. */
    boolean hasFlags() {
        return this == WRITEMSG || this == READMSG || compareTo(FETCH) >= 0;
    }

    boolean hasData() {
        return this == WRITEDATA || this == INJECT_WRITEDATA;
    }
}
