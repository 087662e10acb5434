package org.jfabric.driver.link.support;

import org.jfabric.codec.queue.ErrorCellEncoder;
import org.jfabric.layout.OwnerId;

import java.util.HexFormat;

/**
 * Addresses of the loopback and shm links: {@code jfabric://<driver>/<endpoint>}.
 */
public final class FabricName {
    /** The prefix of these addresses. */
    public static final String SCHEME = "jfabric://";
    /** Length of the longest address in ASCII characters: it fits into the data of an error entry. */
    public static final int MAX_LENGTH = ErrorCellEncoder.errDataLength();

    private FabricName() {
    }

    /** Builds an address. */
    public static String of(String driver, String endpoint) {
        return SCHEME + driver + '/' + endpoint;
    }

    /**
     * Makes the name of an endpoint for which the application gave none. The name contains the id of the running
     * driver, so that an address kept beyond the driver's end never names an endpoint of the next driver in the same
     * directory, for example {@code ep-3f2a9c01d4e5b677-3}.
     */
    public static String unnamed(String kind, OwnerId owner, long endpointId) {
        return kind + '-' + HexFormat.of().toHexDigits(owner.high()) + '-' + endpointId;
    }

    /**
     * The driver's name in an address.
     *
     * @param address any text.
     * @return the name, or null if the text is no such address.
     */
    public static String driverOf(String address) {
        int slash = slash(address);
        return slash < 0 ? null : address.substring(SCHEME.length(), slash);
    }

    /**
     * The endpoint's name in an address.
     *
     * @param address any text.
     * @return the name, or null if the text is no such address.
     */
    public static String endpointOf(String address) {
        int slash = slash(address);
        return slash < 0 ? null : address.substring(slash + 1);
    }

    /**
     * Whether a name can be the name of a driver, an endpoint or a service.
     *
     * @param name any text.
     * @return true for 1 to 64 letters, digits, dots, hyphens and underscores, not beginning with a dot.
     */
    public static boolean isValidPart(String name) {
        if (name.isEmpty() || name.length() > 64 || name.charAt(0) == '.') {
            return false;
        }
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            boolean valid = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
                || c == '.' || c == '-' || c == '_';
            if (!valid) {
                return false;
            }
        }
        return true;
    }

    private static int slash(String address) {
        if (!address.startsWith(SCHEME) || address.length() > MAX_LENGTH) {
            return -1;
        }
        int slash = address.indexOf('/', SCHEME.length());
        if (slash <= SCHEME.length() || slash == address.length() - 1
            || address.indexOf('/', slash + 1) >= 0) {
            return -1;
        }
        return slash;
    }
}
