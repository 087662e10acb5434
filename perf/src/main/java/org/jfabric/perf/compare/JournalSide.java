package org.jfabric.perf.compare;

/** A process that writes a log, or reads one. */
final class JournalSide implements Side {
    /** Messages of a log that is read. */
    private static final int REPLAYED = 2_000_000;
    private static final int MOST = 256;

    private final SideSettings settings;
    private final Journal journal;

    JournalSide(SideSettings settings, Journal journal) {
        this.settings = settings;
        this.journal = journal;
    }

    /** Writes what is to be read. */
    @Override
    public void connect() {
        if (settings.pass() == Pass.REPLAY) {
            write(REPLAYED, false);
        }
    }

    @Override
    public long run(Pass pass, long count) {
        return switch (pass) {
            case RECORD -> write(count, false);
            case COMMIT -> write(count, true);
            case REPLAY -> read(count);
            default -> throw new IllegalArgumentException(pass.name());
        };
    }

    private long write(long count, boolean synced) {
        journal.renew(synced);
        long begin = System.nanoTime();
        for (long i = 0; i < count; i++) {
            journal.write();
        }
        journal.await();
        return System.nanoTime() - begin;
    }

    private long read(long count) {
        long begin = System.nanoTime();
        for (long done = 0; done < count; done += Math.min(REPLAYED, count - done)) {
            journal.rewind();
            int left = (int) Math.min(REPLAYED, count - done);
            while (left > 0) {
                left -= journal.read(Math.min(MOST, left));
            }
        }
        return System.nanoTime() - begin;
    }

    @Override
    public void close() {
        try {
            journal.close();
        } finally {
            Folders.delete(settings.onDisk());
        }
    }
}
