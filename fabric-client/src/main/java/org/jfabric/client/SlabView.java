package org.jfabric.client;

import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.layout.SlabDescriptor;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * A client's read-only mapping of the receive slab of one endpoint.
 *
 * <p>Views of messages keep the mapping alive. Any thread.
 */
public final class SlabView {
    private final ByteBuffer memory;
    private final UnsafeBuffer whole;
    private final int cells;

    public SlabView(MemorySegment file, int cells) {
        this.memory = file.asReadOnly().asByteBuffer();
        this.whole = new UnsafeBuffer(memory);
        this.cells = cells;
    }

    /** Number of cells. Returns 1 to {@link SlabDescriptor#MAX_CELLS}. */
    public int cells() {
        return cells;
    }

    /** All of the slab, for reading only. */
    public UnsafeBuffer whole() {
        return whole;
    }

    /**
     * Shows bytes of the slab.
     *
     * @param view   moved there; it must not be written through, the memory is read-only.
     */
    public void show(UnsafeBuffer view, long place, int length) {
        view.wrap(memory, (int) place, length);
    }

    /**
     * Ends what {@link #show} began.
     *
     * @param view shows no bytes afterwards.
     */
    public void hide(UnsafeBuffer view) {
        // of this memory, so that who has switched Agrona's checks off reads what is mapped
        view.wrap(memory, 0, 0);
    }
}
