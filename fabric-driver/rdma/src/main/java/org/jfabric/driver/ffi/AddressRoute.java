package org.jfabric.driver.ffi;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/** Routes to ports: images of {@code struct ibv_ah_attr}, from which address handles are made. Stateless. */
public final class AddressRoute {
    /** The same value as in libfabric's verbs provider. */
    private static final byte HOP_LIMIT = 64;

    private AddressRoute() {
    }

    /**
     * Makes the route to a port from the parts of a libfabric name of a datagram endpoint.
     *
     * @param gid      of the other port, 16 bytes; all zero if its LID is enough.
     * @param lid      of the other port, 0 on Ethernet.
     */
    public static byte[] of(byte[] gid, int lid, int level, int port, int gidIndex) {
        ByteBuffer image = ByteBuffer.allocate(VerbsLayout.AH_ATTR_SIZE).order(ByteOrder.nativeOrder());
        if (!Arrays.equals(gid, new byte[gid.length])) {
            image.put(VerbsLayout.AH_ATTR_DESTINATION_GID, gid);
            image.put(VerbsLayout.AH_ATTR_SOURCE_GID_INDEX, (byte) gidIndex);
            image.put(VerbsLayout.AH_ATTR_HOP_LIMIT, HOP_LIMIT);
            image.put(VerbsLayout.AH_ATTR_IS_GLOBAL, (byte) 1);
        }
        image.putShort(VerbsLayout.AH_ATTR_DESTINATION_LID, (short) lid);
        image.put(VerbsLayout.AH_ATTR_SL, (byte) level);
        image.put(VerbsLayout.AH_ATTR_PORT, (byte) port);
        return image.array();
    }

    /** GID of the destination. Returns the GID, 16 bytes. */
    public static byte[] gid(byte[] route) {
        return Arrays.copyOf(route, Ibverbs.GID_BYTES);
    }

    /** LID of the destination within the subnet, 0 on Ethernet. */
    public static int lid(byte[] route) {
        return ByteBuffer.wrap(route).order(ByteOrder.nativeOrder())
            .getShort(VerbsLayout.AH_ATTR_DESTINATION_LID) & 0xffff;
    }
}
