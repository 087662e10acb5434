package org.jfabric.layout;

/**
 * Layout of a {@code .cntr} file.
 *
 * <pre>
 *    0  common file header
 *  128  added, 8 bytes           written by the client: its additions to the value, mod 2^64
 *  136  added errors, 8 bytes    written by the client: its additions to the error value, mod 2^64
 *  256  sleepers' words          see {@link WaitDescriptor}; used only with a wait object of the counter's own
 *  384  counted, 8 bytes         written by the driver: operations that ended with success
 *  392  counted errors, 8 bytes  written by the driver: operations that failed
 *  400  awaited, 4 bytes         written by the driver: 1 while work waits for the counter, else 0
 *  512  end
 * </pre>
 *
 * <p>The counter's value is the sum of <em>added</em> and <em>counted</em>, its error value that of the two error
 * words. So each word has one side that writes it, and neither side waits for the other:
 *
 * <ul>
 * <li>The driver keeps its two counts in fields of its own and publishes them by plain release stores, once for each
 *     batch, the errors first: a reader that sees a value sees the errors of all operations that ended before. Entries
 *     and payloads are stored before, so a reader that loads a count with acquire sees these too. The driver
 *     reads the client's words only while <em>awaited</em> is 1; it sets that word, then fences, then reads them.</li>
 * <li>Threads of the client change their words by atomic additions, or compare and exchange. Setting the value to
 *     {@code v} stores {@code v - counted} there; operations that the driver counts meanwhile are added to
 *     {@code v}.</li>
 * </ul>
 *
 * <p>A client that changes its words then fences, reads <em>awaited</em> and, if that is 1 and the driver sleeps, rings
 * the doorbell.
 *
 * <p>Sleepers wait for a number of <em>counted</em> ({@code wake at} is the awaited value minus <em>added</em>). A
 * client that changes its words therefore wakes them, and they sleep again with the new difference.
 */
public final class CounterDescriptor {
    /** Offset of the client's additions to the value. */
    public static final int ADDED_OFFSET = 128;
    /** Offset of the client's additions to the error value. */
    public static final int ADDED_ERRORS_OFFSET = 136;
    /** Offset of the sleepers' line; a pair of cache lines away from the words of both sides. */
    public static final int WAIT_OFFSET = 256;
    /** Offset of the operations that ended with success. */
    public static final int COUNTED_OFFSET = 384;
    /** Offset of the operations that failed. */
    public static final int COUNTED_ERRORS_OFFSET = 392;
    /** Offset of the word that says whether work waits for the counter. */
    public static final int AWAITED_OFFSET = 400;
    public static final int FILE_LENGTH = 512;

    private CounterDescriptor() {
    }
}
