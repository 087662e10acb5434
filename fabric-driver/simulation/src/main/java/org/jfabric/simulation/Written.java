package org.jfabric.simulation;

import org.agrona.DirectBuffer;
import org.agrona.collections.LongArrayList;
import org.agrona.concurrent.UnsafeBuffer;

/** The messages that were written, in a list: of a log, or of a term of it, which begins with a position. */
final class Written {
    final long first;
    final LongArrayList ids = new LongArrayList();
    private final UnsafeBuffer copy = new UnsafeBuffer(new byte[1 << 16]);

    Written(long first) {
        this.first = first;
    }

    /** Behind the last one. */
    long end() {
        return first + ids.size();
    }

    /** Checks a message that was read. */
    void check(DirectBuffer buffer, int offset, int length, long position) {
        Account.require(position >= first && position < end(),
            "message " + position + ", where there are " + first + " to " + end());
        long id = ids.getLong((int) (position - first));
        Account.require(buffer.getLong(offset) == id,
            "message " + position + " is " + buffer.getLong(offset) + " instead of " + id);
        copy.putBytes(0, buffer, offset, length);
        Payload.check(copy, 0, length, id);
    }
}
