package org.jfabric.perf.compare;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** The baseline of bandwidth: one thread copies from one place of its memory to another, both touched before. */
final class CopySide implements Side {
    private static final int CHUNK = 64;
    private static final long PAGE_BYTES = 4096;

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment from;
    private final MemorySegment to;

    CopySide(SideSettings settings) {
        from = arena.allocate(settings.sizeBytes(), PAGE_BYTES);
        to = arena.allocate(settings.sizeBytes(), PAGE_BYTES);
        from.fill((byte) 1);
        to.fill((byte) 2);
    }

    @Override
    public long run(Pass pass, long count) {
        long begin = System.nanoTime();
        for (long done = 0; done < count; done += CHUNK) {
            copyChunk((int) Math.min(CHUNK, count - done));
        }
        return System.nanoTime() - begin;
    }

    private void copyChunk(int count) {
        for (int i = 0; i < count; i++) {
            MemorySegment.copy(from, 0, to, 0, from.byteSize());
        }
    }

    @Override
    public void close() {
        arena.close();
    }
}
