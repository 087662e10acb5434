package org.jfabric.samples.log;

import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Messenger;
import org.jfabric.info.FabricErrno;

/** Replays the log from its begin, by remote reads of many records at a time. Its owner's program does nothing. */
final class RemoteLogReader {
    private static final int BATCH = 64;

    private final Messenger messenger;
    private final long to;

    RemoteLogReader(Messenger messenger, String owner) {
        this.messenger = messenger;
        this.to = messenger.peer(owner).number();
    }

    /** The texts of records, in order. */
    interface Handler {
        void onRecord(long number, String text);
    }

    /** Replays all records up to the first one that is not whole. */
    long replay(long capacity, Handler handler) {
        UnsafeBuffer buffer = messenger.memory().buffer();
        for (long first = 0; first < capacity; first += BATCH) {
            int count = (int) Math.min(BATCH, capacity - first);
            int result = messenger.endpoint().remoteMemory().read(messenger.memory().address(),
                (long) count * LogRecord.LENGTH, to, first * LogRecord.LENGTH, PersistentLog.KEY, 1);
            if (result != 0) {
                throw new IllegalStateException(FabricErrno.describe(-result));
            }
            messenger.await(1, PersistentLog.DEADLINE_NS, entry -> { });
            for (int i = 0; i < count; i++) {
                String text = LogRecord.text(buffer, i * LogRecord.LENGTH, first + i + 1);
                if (text == null) {
                    return first + i;
                }
                handler.onRecord(first + i + 1, text);
            }
        }
        return capacity;
    }
}
