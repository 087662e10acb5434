package org.jfabric.info;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * An address of the link verbsud: a queue pair of unreliable datagrams at a port of an RDMA device.
 *
 * <p>Use: {@code IbUdName.parse(endpoint.name()).queuePair()}.
 *
 * <p>Everywhere in this interface it is the text that libfabric has for {@code FI_ADDR_IB_UD}:
 * {@code fi_addr_ib_ud://<GID>:<queue pair>/<LID>/<P_Key>/<service level>}, the GID as an IPv6 address, the rest in
 * hexadecimal, for example {@code fi_addr_ib_ud://::ffff:192.0.2.2:9f/0/ffff/0}. This class turns it into the 32 bytes
 * that C programs exchange and back:
 *
 * <pre>
 *   0 GID 16 | 16 queue pair 4 | 20 LID 2 | 22 P_Key 2, byte order of the network | 24 service 2 | 26 level 1 | 27 0 5
 * </pre>
 *
 * <p>Immutable; any thread.
 */
public final class IbUdName {
    /** Prefix of the text. */
    public static final String SCHEME = "fi_addr_ib_ud://";
    /** Bytes of the image. */
    public static final int LENGTH = 32;
    /** Bytes of a GID. */
    public static final int GID_LENGTH = 16;

    private static final int MAPPED_AT = 10;
    private static final int MAX_QUEUE_PAIR = 0xff_ffff;
    private static final int HEX = 16;

    private final byte[] gid;
    private final int queuePair;
    private final int lid;
    private final short partitionKey;
    private final int level;

    private IbUdName(byte[] gid, int queuePair, int lid, short partitionKey, int level) {
        this.gid = gid;
        this.queuePair = queuePair;
        this.lid = lid;
        this.partitionKey = partitionKey;
        this.level = level;
    }

    /**
     * The name of a queue pair.
     *
     * @param gid          of the port, 16 bytes.
     * @param queuePair    number, 24 bits.
     * @param lid          of the port, 0 on Ethernet.
     * @param partitionKey P_Key in the byte order of the network.
     * @param level        service level.
     * @return its name.
     * @throws FabricException {@link FabricErrno#EINVAL} if one of them cannot be.
     */
    public static IbUdName of(byte[] gid, int queuePair, int lid, short partitionKey, int level) {
        if (Codes.required(gid, "gid").length != GID_LENGTH || queuePair < 0 || queuePair > MAX_QUEUE_PAIR
            || lid < 0 || lid > 0xffff || level < 0 || level > 0xff) {
            throw new FabricException(FabricErrno.EINVAL, "a GID of " + gid.length + " bytes, queue pair " + queuePair
                + ", LID " + lid + ", level " + level, "Give 16 bytes, 24 bits, 16 bits and 8 bits.");
        }
        return new IbUdName(gid.clone(), queuePair, lid, partitionKey, level);
    }

    /**
     * Reads the text form.
     *
     * @param text with {@link #SCHEME}.
     * @return the name.
     * @throws FabricException {@link FabricErrno#EINVAL} for everything else.
     */
    public static IbUdName parse(String text) {
        IbUdName name = parseOrNull(Codes.required(text, "text"));
        if (name == null) {
            throw new FabricException(FabricErrno.EINVAL, "\"" + text + "\" is no address of a datagram queue pair",
                "Write " + SCHEME + "<GID>:<queue pair>/<LID>/<P_Key>/<level>, numbers in hexadecimal.");
        }
        return name;
    }

    /**
     * Whether a text is such an address.
     *
     * @param text any, also null.
     * @return true if {@link #parse} takes it.
     */
    public static boolean isName(String text) {
        return text != null && parseOrNull(text) != null;
    }

    /**
     * Reads the bytes that a C program gives ({@code struct ofi_ib_ud_ep_name}).
     *
     * @param image 32 bytes.
     * @return the name.
     * @throws FabricException {@link FabricErrno#EINVAL} for another length or an impossible queue pair.
     */
    public static IbUdName ofBytes(byte[] image) {
        if (Codes.required(image, "image").length != LENGTH) {
            throw new FabricException(FabricErrno.EINVAL, "an address of " + image.length + " bytes",
                "Give the " + LENGTH + " bytes of a datagram queue pair's name.");
        }
        ByteBuffer buffer = ByteBuffer.wrap(image).order(ByteOrder.nativeOrder());
        return of(Arrays.copyOf(image, GID_LENGTH), buffer.getInt(16), buffer.getShort(20) & 0xffff,
            buffer.getShort(22), image[26] & 0xff);
    }

    /**
     * The bytes that C programs use.
     *
     * @return 32 bytes, a new array.
     */
    public byte[] toBytes() {
        ByteBuffer buffer = ByteBuffer.allocate(LENGTH).order(ByteOrder.nativeOrder());
        return buffer.put(0, gid).putInt(16, queuePair).putShort(20, (short) lid).putShort(22, partitionKey)
            .put(26, (byte) level).array();
    }

    /**
     * The port's GID.
     *
     * @return 16 bytes, a new array.
     */
    public byte[] gid() {
        return gid.clone();
    }

    /**
     * The queue pair at the port.
     *
     * @return its number.
     */
    public int queuePair() {
        return queuePair;
    }

    /**
     * The port within its subnet.
     *
     * @return LID, 0 on Ethernet.
     */
    public int lid() {
        return lid;
    }

    /**
     * The partition.
     *
     * @return P_Key in the byte order of the network.
     */
    public short partitionKey() {
        return partitionKey;
    }

    /**
     * The service level that it is reached with.
     *
     * @return 0 to 255.
     */
    public int level() {
        return level;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof IbUdName name && Arrays.equals(toBytes(), name.toBytes());
    }

    @Override
    public int hashCode() {
        return 31 * Arrays.hashCode(gid) + queuePair;
    }

    /** The text form; the same for every way of writing one address. */
    @Override
    public String toString() {
        return SCHEME + gidText(gid) + ':' + Integer.toHexString(queuePair) + '/' + Integer.toHexString(lid) + '/'
            + Integer.toHexString(partitionKey & 0xffff) + '/' + Integer.toHexString(level);
    }

    private static String gidText(byte[] gid) {
        return isMapped(gid) ? "::ffff:" + (gid[12] & 0xff) + '.' + (gid[13] & 0xff) + '.' + (gid[14] & 0xff) + '.'
            + (gid[15] & 0xff) : SocketName.in6Text(gid);
    }

    /** An IPv4 address: ten zero bytes and two of all ones before it. */
    private static boolean isMapped(byte[] gid) {
        for (int i = 0; i < MAPPED_AT; i++) {
            if (gid[i] != 0) {
                return false;
            }
        }
        return gid[MAPPED_AT] == -1 && gid[MAPPED_AT + 1] == -1;
    }

    private static IbUdName parseOrNull(String text) {
        int slash = text.indexOf('/', SCHEME.length());
        int colon = slash < 0 ? -1 : text.lastIndexOf(':', slash);
        if (!text.startsWith(SCHEME) || colon <= SCHEME.length()) {
            return null;
        }
        String[] numbers = text.substring(colon + 1).split("/", -1);
        byte[] gid = gid(text.substring(SCHEME.length(), colon));
        if (gid == null || numbers.length != 4) {
            return null;
        }
        int queuePair = number(numbers[0], MAX_QUEUE_PAIR);
        int lid = number(numbers[1], 0xffff);
        int key = number(numbers[2], 0xffff);
        int level = number(numbers[3], 0xff);
        return queuePair < 0 || lid < 0 || key < 0 || level < 0 ? null
            : new IbUdName(gid, queuePair, lid, (short) key, level);
    }

    private static byte[] gid(String text) {
        if (text.indexOf(':') < 0 || text.indexOf('%') >= 0) {
            return null;
        }
        try {
            // a literal only: nothing is resolved, and an IPv4 address in it becomes one
            byte[] address = InetAddress.ofLiteral(text).getAddress();
            if (address.length == GID_LENGTH) {
                return address;
            }
            byte[] mapped = new byte[GID_LENGTH];
            mapped[MAPPED_AT] = -1;
            mapped[MAPPED_AT + 1] = -1;
            System.arraycopy(address, 0, mapped, GID_LENGTH - address.length, address.length);
            return mapped;
        } catch (IllegalArgumentException ex) {
            return null;
        }
    }

    private static int number(String text, int most) {
        if (text.isEmpty() || text.length() > 8) {
            return -1;
        }
        try {
            long value = Long.parseLong(text, HEX);
            return value < 0 || value > most ? -1 : (int) value;
        } catch (NumberFormatException ex) {
            return -1;
        }
    }
}
