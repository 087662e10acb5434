package org.jfabric.layout;

/**
 * A {@code .table} file: the newest value of each key. The driver makes it, one client writes it, and any number of
 * clients map it read-only.
 *
 * <pre>
 *    0  common file header; its parameters are the number of slots and the length of the longest value
 *  128  version, 8 bytes     changes of the table so far; stored last, release
 *  136  used, 4 bytes        slots that have had a key; stored when the slot is whole, release
 *  256  watched, 4 bytes     written by the driver: 1 if it sleeps and the reader of a change may sleep, too
 *  264  writer, 8 bytes      written by the driver: number of the client that writes, 0 for none
 *  384  slots, each of whole cache lines
 *
 *  slot
 *    0  begun, 8 bytes       number of the change of this slot that was begun last
 *    8  ended, 8 bytes       number of the change of this slot that is whole: 1, 2, 3 …, 0 before the first
 *   16  head of even changes
 *   40  head of odd changes
 *   64  value of even changes, then that of odd changes; each in lines of its own unless one line holds both
 *
 *  head
 *    0  version, 8 bytes     of the table, by this change
 *    8  key, 8 bytes
 *   16  generation, 4 bytes  keys that have had the slot
 *   20  length, 4 bytes      of the value, {@link #REMOVED} for none
 * </pre>
 *
 * <p>So that a reader of a value of one line fetches two lines from a writer on another processor, and that one takes
 * two back.
 *
 * <p>The change <em>n</em> of a slot goes into the copy, head and value, that <em>n - 1</em> does not have:
 *
 * <pre>
 *   writer                                 reader
 *   begun = n                              n = ended, acquire
 *   store-store fence                      reads the copy of n
 *   writes the copy of n                   load-load fence
 *   ended = n, release                     the copy was good if begun is n or n + 1
 * </pre>
 *
 * <p>The release and the acquire of <em>ended</em> let a reader see the whole copy of the change whose number it has
 * seen. What remains is a copy that is written anew meanwhile: that is change <em>n + 2</em>. If one of the reader's
 * loads of the copy has got a word of that change, the writer's fence stands between this word and its <em>begun</em>,
 * and the reader's fence between this load and its own of <em>begun</em>. A fence of stores and a fence of loads that
 * are joined by a word that was stored behind the one and loaded before the other order what is beyond them, on aarch64
 * (dmb ishst, dmb ishld) as on x86, where both cost nothing. So the reader loads {@code n + 2} or more and reads again.
 * The words of a copy may be plain: a reader that got some of two changes uses none of them.
 *
 * <p>A reader has the time of a whole change to copy a value, and the writer never waits. A writer that dies anywhere
 * leaves <em>ended</em> at a whole copy; the next one writes the same change anew.
 */
public final class TableDescriptor {
    /** Offset of the number of changes. */
    public static final int VERSION_OFFSET = 128;
    /** Offset of the number of slots that have had a key. */
    public static final int USED_OFFSET = 136;
    /** Offset of the word that says whether a change has to wake the driver. */
    public static final int WATCHED_OFFSET = 256;
    /** Offset of the number of the client that writes. */
    public static final int WRITER_OFFSET = 264;
    /** Length of the header in bytes; the slots follow. */
    public static final int HEADER_LENGTH = 384;
    /** Most slots. */
    public static final int MAX_SLOTS = 1 << 20;
    /** Longest value of any table, in bytes. */
    public static final int MAX_VALUE_LENGTH = 1 << 20;
    /** Length of a slot without a value. */
    public static final int REMOVED = -1;

    /** In a slot: number of the change that was begun last. */
    static final int BEGUN = 0;
    /** In a slot: number of the change that is whole. */
    static final int ENDED = 8;
    /** In a head: the table's version by this change. */
    static final int VERSION = 0;
    static final int KEY = 8;
    static final int GENERATION = 16;
    static final int LENGTH = 20;

    private static final int HEADS = 16;
    private static final int HEAD_LENGTH = 24;
    private static final int LINE = 64;

    private TableDescriptor() {
    }

    /** Bytes from one copy of a value to the other. */
    static int valueStride(int valueLength) {
        return 2 * valueLength <= LINE ? LINE / 2 : valueLength + LINE - 1 & -LINE;
    }

    /** Bytes from one slot to the next. */
    static int slotLength(int valueLength) {
        return LINE + 2 * valueStride(valueLength);
    }

    /** Address of the head that a change has. */
    static long head(long slot, long change) {
        return slot + HEADS + (change & 1) * HEAD_LENGTH;
    }

    /** Address of the value that a change has. */
    static long value(long slot, long change, int valueStride) {
        return slot + LINE + (change & 1) * valueStride;
    }

    /** Length of a file in bytes. */
    public static long fileLength(int slots, int valueLength) {
        return HEADER_LENGTH + (long) slots * slotLength(valueLength);
    }

    /** Whether a table can have this shape. */
    public static boolean isShape(long slots, long valueLength) {
        return slots >= 1 && slots <= MAX_SLOTS && valueLength >= 1 && valueLength <= MAX_VALUE_LENGTH;
    }
}
