package org.jfabric.driver.engine;

/**
 * The memory into which the messages of an endpoint with buffered receives are put.
 *
 * @param address     native address of the {@code .slab} file.
 * @param cells       cells in it, 1 to {@link org.jfabric.layout.SlabDescriptor#MAX_CELLS}.
 * @param cellBytes   bytes of a cell, at least both limits.
 * @param limitBytes  longest message that is delivered whole (FI_OPT_BUFFERED_LIMIT).
 * @param leastBytes  bytes of the prefix of a longer one (FI_OPT_BUFFERED_MIN).
 * @param lentLimitBytes bytes of one peer's messages that are shown where they lie, at the same time.
 */
public record SlabMemory(long address, int cells, int cellBytes, int limitBytes, int leastBytes,
    long lentLimitBytes) {
}
