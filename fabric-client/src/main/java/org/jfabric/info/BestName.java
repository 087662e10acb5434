package org.jfabric.info;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jfabric.AddressVector;

/**
 * The address of an endpoint that reaches each peer by the best of several links ({@code best}): the endpoint's name in
 * its driver, and the links by which it can be reached.
 *
 * <p>Use: {@code BestName.parse(endpoint.name()).way("tcp")}.
 *
 * <pre>
 *   best://4f2a9c01d4e5b677/alpha/ep-1;shm;tcp=fi_sockaddr_in://192.0.2.2:45007
 *          |                |     |    |   +-- link with an address of its own
 *          |                |     |    +-- link that reaches jfabric://alpha/ep-1
 *          |                |     +-- the endpoint's name in the driver
 *          |                +-- the driver's name
 *          +-- the folder of the driver's directory on the running system: equal if both see the same folder
 * </pre>
 *
 * <p>Everywhere in this interface it is that text ({@code FI_ADDR_STR}), as {@link AddressVector#insert(String)} takes
 * it. Links whose name a peer does not know are ignored. Immutable; any thread.
 *
 * @param folder   16 hexadecimal digits.
 * @param driver   name of the driver.
 * @param endpoint name of the endpoint within it.
 * @param ways     address by name of the link; empty for a link that reaches {@link #fabricName()}. The order says
 *                 nothing. Unmodifiable.
 */
public record BestName(String folder, String driver, String endpoint, Map<String, String> ways) {
    /** Prefix of the text. */
    public static final String SCHEME = "best://";
    /** Characters of the longest text. */
    public static final int MAX_LENGTH = 512;

    private static final String FOLDER = "[0-9a-f]{16}";
    private static final String PART = "[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}";
    private static final String LINK = "[a-z][a-z0-9]{0,31}";
    private static final String ADDRESS = "[\\x21-\\x3a\\x3c-\\x7e]*";

    /**
     * Takes an unmodifiable copy of the ways.
     *
     * @throws FabricException {@link FabricErrno#EINVAL} if a part cannot be one.
     */
    public BestName {
        ways = Collections.unmodifiableMap(new LinkedHashMap<>(Codes.required(ways, "ways")));
        boolean valid = matches(folder, FOLDER) && matches(driver, PART) && matches(endpoint, PART)
            && ways.entrySet().stream().allMatch(
                way -> matches(way.getKey(), LINK) && matches(way.getValue(), ADDRESS));
        if (!valid || text(folder, driver, endpoint, ways).length() > MAX_LENGTH) {
            throw malformed(text(folder, driver, endpoint, ways));
        }
    }

    /**
     * Reads the text form.
     *
     * @param text as {@link #toString()} returns it.
     * @return the name.
     * @throws FabricException {@link FabricErrno#EINVAL} for everything else.
     */
    public static BestName parse(String text) {
        Codes.required(text, "text");
        if (!text.startsWith(SCHEME) || text.length() > MAX_LENGTH) {
            throw malformed(text);
        }
        String[] parts = text.substring(SCHEME.length()).split(";", -1);
        String[] names = parts[0].split("/", -1);
        Map<String, String> ways = new LinkedHashMap<>();
        for (int i = 1; i < parts.length; i++) {
            int mark = parts[i].indexOf('=');
            String link = mark < 0 ? parts[i] : parts[i].substring(0, mark);
            String address = mark < 0 ? "" : parts[i].substring(mark + 1);
            if (mark >= 0 && address.isEmpty() || ways.put(link, address) != null) {
                throw malformed(text);
            }
        }
        if (names.length != 3) {
            throw malformed(text);
        }
        return new BestName(names[0], names[1], names[2], ways);
    }

    /**
     * Whether a text is such an address.
     *
     * @param text any; null is none.
     * @return true if {@link #parse} takes it.
     */
    public static boolean isName(String text) {
        if (text == null || !text.startsWith(SCHEME)) {
            return false;
        }
        try {
            parse(text);
            return true;
        } catch (FabricException malformed) {
            return false;
        }
    }

    /**
     * The address by a link.
     *
     * @param linkName name of the link.
     * @return the address; null if the endpoint is not reached by that link.
     */
    public String way(String linkName) {
        String address = ways.get(linkName);
        return address != null && address.isEmpty() ? fabricName() : address;
    }

    /**
     * The address for links between drivers that see the same folder.
     *
     * @return for example {@code jfabric://alpha/ep-1}.
     */
    public String fabricName() {
        return "jfabric://" + driver + '/' + endpoint;
    }

    @Override
    public String toString() {
        return text(folder, driver, endpoint, ways);
    }

    private static String text(String folder, String driver, String endpoint, Map<String, String> ways) {
        StringBuilder text = new StringBuilder(SCHEME).append(folder).append('/').append(driver).append('/')
            .append(endpoint);
        ways.forEach((link, address) -> {
            text.append(';').append(link);
            if (!address.isEmpty()) {
                text.append('=').append(address);
            }
        });
        return text.toString();
    }

    private static boolean matches(String text, String pattern) {
        return Objects.requireNonNullElse(text, "").matches(pattern);
    }

    private static FabricException malformed(String text) {
        String shown = text.length() > MAX_LENGTH ? text.substring(0, 64) + "..." : text;
        return new FabricException(FabricErrno.EINVAL,
            "\"" + shown.replaceAll("[^\\x20-\\x7e]", "?") + "\" is no address of a best endpoint",
            "Write " + SCHEME + "<16 hexadecimal digits>/<driver>/<endpoint>;<link>;<link>=<address>, as"
                + " Endpoint.name() returns it, at most " + MAX_LENGTH + " characters.");
    }
}
