package org.jfabric.layout;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.UnsafeApi;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * The first 128 bytes of every shared file.
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +---------------------------------------------------------------+
 *  |                     magic "JFABRIC" + 0x00                    |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                           file type                           |
 *  +---------------------------------------------------------------+
 *  |                            version                            |
 *  +-------------------------------+-------------------------------+
 *  |           schema id           |            zeroes             |
 *  +-------------------------------+-------------------------------+
 *  |           cipher id           |            key id             |
 *  +-------------------------------+-------------------------------+
 *  |                            zeroes                             |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |               owner id (random, 128 bits)                     |
 *  |                                                               |
 *  |                                                               |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                 generation of this file (64 bits)             |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                  length of the data part (bytes)              |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |        two parameters of the file type, then zeroes to 128    |
 *  +---------------------------------------------------------------+
 * </pre>
 *
 * <p>The header is written once; the magic is stored last, behind a fence, because {@code cnc} and {@code record} can
 * be opened by their names before that.
 */
public final class FileHeaderDescriptor {
    /** The eight characters {@code JFABRIC\0}, read as a little-endian long. */
    public static final long MAGIC = 0x00434952_4241464AL;
    /**
     * Of the shared files, and of the messages that clients and drivers of one host exchange. Every change of one of
     * them gives a new number, and another number than one's own is refused.
     */
    public static final int VERSION = 4;
    /** What to do where two versions meet. */
    public static final String REMEDY = "Use one version of JFabric on both sides: upgrade the older one.";

    /** Offset of the magic, 8 bytes. */
    public static final int MAGIC_OFFSET = 0;
    /** Offset of the file type, 4 bytes, see {@link FileType#code()}. */
    public static final int FILE_TYPE_OFFSET = 8;
    /** Offset of the version, 4 bytes. */
    public static final int VERSION_OFFSET = 12;
    /** Offset of the SBE schema id of the records, 2 bytes. */
    public static final int SCHEMA_ID_OFFSET = 16;
    /** Offset of the cipher id, 2 bytes, 0 = none. */
    public static final int CIPHER_ID_OFFSET = 20;
    /** Offset of the key id, 2 bytes, 0 = none. */
    public static final int KEY_ID_OFFSET = 22;
    /** Offset of the upper half of the owner's random id, 8 bytes. */
    public static final int OWNER_HIGH_OFFSET = 32;
    /** Offset of the lower half of the owner's random id, 8 bytes. */
    public static final int OWNER_LOW_OFFSET = 40;
    /** Offset of the generation, 8 bytes. */
    public static final int GENERATION_OFFSET = 48;
    /** Offset of the length of the data part in bytes, 8 bytes. */
    public static final int DATA_LENGTH_OFFSET = 56;
    /** Offset of the first parameter of the file type, 8 bytes. */
    public static final int PARAMETER_1_OFFSET = 64;
    /** Offset of the second parameter of the file type, 8 bytes. */
    public static final int PARAMETER_2_OFFSET = 72;
    /** Length of the common header in bytes. */
    public static final int HEADER_LENGTH = 128;

    private FileHeaderDescriptor() {
    }

    /**
     * Writes a header; the magic is stored last, so that a partly written file is never taken for a complete one.
     *
     * @param schemaId   SBE schema of its records, 0 if it has none.
     * @param owner      random id of the driver that owns the directory.
     * @param generation number of this use of the file's number, never 0.
     */
    public static void write(
        MutableDirectBuffer buffer,
        FileType type,
        int schemaId,
        OwnerId owner,
        long generation,
        long dataLength) {
        buffer.putInt(FILE_TYPE_OFFSET, type.code(), LITTLE_ENDIAN);
        buffer.putInt(VERSION_OFFSET, VERSION, LITTLE_ENDIAN);
        buffer.putShort(SCHEMA_ID_OFFSET, (short) schemaId, LITTLE_ENDIAN);
        buffer.putLong(OWNER_HIGH_OFFSET, owner.high(), LITTLE_ENDIAN);
        buffer.putLong(OWNER_LOW_OFFSET, owner.low(), LITTLE_ENDIAN);
        buffer.putLong(GENERATION_OFFSET, generation, LITTLE_ENDIAN);
        buffer.putLong(DATA_LENGTH_OFFSET, dataLength, LITTLE_ENDIAN);
        // who finds the magic, in a file that can be opened by its name already, finds all that was written before
        UnsafeApi.storeFence();
        buffer.putLong(MAGIC_OFFSET, MAGIC, LITTLE_ENDIAN);
    }

    /**
     * Validates a header.
     *
     * @param buffer at least {@link #HEADER_LENGTH} bytes from the start of the file.
     * @return null if the header is valid, else one sentence for the user with the values found and expected.
     */
    public static String verify(DirectBuffer buffer, FileType type) {
        long magic = buffer.getLong(MAGIC_OFFSET, LITTLE_ENDIAN);
        UnsafeApi.loadFence();
        if (magic != MAGIC) {
            return "the file does not start with the JFabric magic (seen 0x" + Long.toHexString(magic) + ")";
        }
        long version = Integer.toUnsignedLong(buffer.getInt(VERSION_OFFSET, LITTLE_ENDIAN));
        if (version != VERSION) {
            return "the file has layout version " + version + ", this program reads version " + VERSION
                + "; use one version of JFabric on both sides: upgrade the older one";
        }
        int code = buffer.getInt(FILE_TYPE_OFFSET, LITTLE_ENDIAN);
        if (code != type.code()) {
            return "the file holds type " + code + ", expected " + type.code() + " (" + type + ')';
        }
        int cipher = Short.toUnsignedInt(buffer.getShort(CIPHER_ID_OFFSET, LITTLE_ENDIAN));
        if (cipher != 0) {
            return "the file is encrypted with cipher " + cipher + ", which this version does not know";
        }
        return null;
    }
}
