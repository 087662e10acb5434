package org.jfabric.info;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.jfabric.AddressVector;

/**
 * An address of the links that use sockets (tcp, udp): an IPv4 or IPv6 address with a port.
 *
 * <p>Use: {@code SocketName.parse("fi_sockaddr_in://192.0.2.2:45007").port()}.
 *
 * <p>Everywhere in this interface it is the text that libfabric calls {@code FI_ADDR_STR}:
 * {@code fi_sockaddr_in://192.0.2.2:45007} or {@code fi_sockaddr_in6://[2001:db8::2]:45007}; a link-local address has
 * the number of its interface behind a percent sign. This class turns it into the bytes that C programs exchange
 * ({@code struct sockaddr_in}, 16 bytes, or {@code sockaddr_in6}, 28 bytes) and back.
 *
 * <p>Where an address is inserted a host may stand by its name, {@code fi_sockaddr://host.example:45007}: the driver
 * resolves it, see {@link AddressVector#insert(String)}. Immutable; any thread.
 */
public final class SocketName implements Comparable<SocketName> {
    /** Prefix of the text of an IPv4 address. */
    public static final String IN_SCHEME = "fi_sockaddr_in://";
    /** Prefix of the text of an IPv6 address. */
    public static final String IN6_SCHEME = "fi_sockaddr_in6://";
    /** Prefix of a text that names a host, which is still to be resolved. */
    public static final String HOST_SCHEME = "fi_sockaddr://";
    /** Bytes of a {@code sockaddr_in}. */
    public static final int IN_LENGTH = 16;
    /** Bytes of a {@code sockaddr_in6}. */
    public static final int IN6_LENGTH = 28;

    private static final int AF_INET = 2;
    private static final int AF_INET6 = 10;
    private static final int IN6_GROUPS = 8;
    private static final int MAX_PORT = 0xffff;

    private final byte[] address;
    private final int scope;
    private final int port;

    private SocketName(byte[] address, int scope, int port) {
        this.address = address;
        this.scope = scope;
        this.port = port;
    }

    /**
     * The name of a resolved address.
     *
     * @param socket with an IPv4 or IPv6 address.
     * @return its name.
     * @throws FabricException {@link FabricErrno#EINVAL} if it is not resolved.
     */
    public static SocketName of(InetSocketAddress socket) {
        InetAddress host = Codes.required(socket, "socket").getAddress();
        if (host == null) {
            throw new FabricException(FabricErrno.EINVAL, "the address " + socket + " is not resolved");
        }
        return new SocketName(
            host.getAddress(), host instanceof Inet6Address six ? six.getScopeId() : 0, socket.getPort());
    }

    /**
     * Reads the text form.
     *
     * @param text with {@link #IN_SCHEME} or {@link #IN6_SCHEME}; a number as address, no name.
     * @return the name.
     * @throws FabricException {@link FabricErrno#EINVAL} for everything else.
     */
    public static SocketName parse(String text) {
        SocketName name = parseOrNull(Codes.required(text, "text"));
        if (name == null) {
            throw new FabricException(FabricErrno.EINVAL, "\"" + text + "\" is no socket address",
                "Write " + IN_SCHEME + "192.0.2.2:45007 or " + IN6_SCHEME + "[2001:db8::2]:45007, with a port from"
                    + " 0 to " + MAX_PORT + '.');
        }
        return name;
    }

    /**
     * Whether a text is a socket address.
     *
     * @param text any.
     * @return true if {@link #parse} takes it.
     */
    public static boolean isName(String text) {
        return text != null && parseOrNull(text) != null;
    }

    /**
     * The text of a host that is still to be resolved.
     *
     * @param node    name or number of the host.
     * @param service port as a number.
     * @return text for {@link AddressVector#insert(String)}.
     */
    public static String ofHost(String node, String service) {
        return HOST_SCHEME + (node.indexOf(':') >= 0 ? '[' + node + ']' : node) + ':' + service;
    }

    /**
     * Reads the bytes that a C program gives.
     *
     * @param image {@code sockaddr_in} or {@code sockaddr_in6}, in the byte order of this machine where C has it so.
     * @return the name.
     * @throws FabricException {@link FabricErrno#EINVAL} for another family or too few bytes.
     */
    public static SocketName ofBytes(byte[] image) {
        ByteBuffer buffer = ByteBuffer.wrap(Codes.required(image, "image")).order(ByteOrder.nativeOrder());
        int family = image.length < Short.BYTES ? 0 : buffer.getShort(0) & 0xffff;
        boolean six = family == AF_INET6;
        if (family != AF_INET && !six || image.length < (six ? IN6_LENGTH : IN_LENGTH)) {
            throw new FabricException(FabricErrno.EINVAL,
                "a socket address of family " + family + " in " + image.length + " bytes",
                "Give sockaddr_in (family 2, 16 bytes) or sockaddr_in6 (family 10, 28 bytes).");
        }
        int port = (image[2] & 0xff) << 8 | image[3] & 0xff;
        return six ? new SocketName(Arrays.copyOfRange(image, 8, 24), buffer.getInt(24), port)
            : new SocketName(Arrays.copyOfRange(image, 4, 8), 0, port);
    }

    /**
     * The bytes that C programs use.
     *
     * @return {@code sockaddr_in} or {@code sockaddr_in6}, a new array.
     */
    public byte[] toBytes() {
        byte[] image = new byte[isIn6() ? IN6_LENGTH : IN_LENGTH];
        ByteBuffer buffer = ByteBuffer.wrap(image).order(ByteOrder.nativeOrder());
        buffer.putShort(0, (short) (isIn6() ? AF_INET6 : AF_INET));
        image[2] = (byte) (port >>> 8);
        image[3] = (byte) port;
        buffer.put(isIn6() ? 8 : 4, address);
        if (isIn6()) {
            buffer.putInt(24, scope);
        }
        return image;
    }

    /**
     * Which of the two it is.
     *
     * @return {@link AddressFormat#SOCKADDR_IN} or {@link AddressFormat#SOCKADDR_IN6}.
     */
    public AddressFormat format() {
        return isIn6() ? AddressFormat.SOCKADDR_IN6 : AddressFormat.SOCKADDR_IN;
    }

    /**
     * Whether it is an IPv6 address.
     *
     * @return false for IPv4.
     */
    public boolean isIn6() {
        return address.length == 16;
    }

    /**
     * The port.
     *
     * @return 0 to 65535.
     */
    public int port() {
        return port;
    }

    /**
     * The same host with another port.
     *
     * @param other 0 to 65535.
     * @return a new name.
     */
    public SocketName withPort(int other) {
        if (other < 0 || other > MAX_PORT) {
            throw new FabricException(FabricErrno.EINVAL, "port " + other + " is not from 0 to 65535");
        }
        return new SocketName(address, scope, other);
    }

    /**
     * The host alone, as the operating system's libraries of Java want it.
     *
     * @return address, with the scope of a link-local one.
     */
    public InetAddress inetAddress() {
        try {
            return isIn6() ? Inet6Address.getByAddress(null, address, scope) : InetAddress.getByAddress(address);
        } catch (UnknownHostException ex) {
            throw new IllegalStateException("an address of " + address.length + " bytes", ex);
        }
    }

    /** As C programs compare: the bytes of the address, then the port, both without signs. */
    @Override
    public int compareTo(SocketName other) {
        int byAddress = Arrays.compareUnsigned(address, other.address);
        if (byAddress != 0) {
            return byAddress;
        }
        int byPort = Integer.compare(port, other.port);
        return byPort != 0 ? byPort : Integer.compare(scope, other.scope);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof SocketName name && port == name.port && scope == name.scope
            && Arrays.equals(address, name.address);
    }

    @Override
    public int hashCode() {
        return 31 * (31 * Arrays.hashCode(address) + port) + scope;
    }

    /** The text form; the same for every way of writing one address. */
    @Override
    public String toString() {
        if (!isIn6()) {
            return IN_SCHEME + (address[0] & 0xff) + '.' + (address[1] & 0xff) + '.' + (address[2] & 0xff) + '.'
                + (address[3] & 0xff) + ':' + port;
        }
        return IN6_SCHEME + '[' + in6Text(address)
            + (scope == 0 ? "" : "%" + Integer.toUnsignedString(scope)) + "]:" + port;
    }

    /** The longest run of two or more zero groups, the first of equals, is written as two colons. */
    static String in6Text(byte[] address) {
        ByteBuffer groups = ByteBuffer.wrap(address);
        int best = -1;
        int bestLength = 1;
        for (int i = 0; i < IN6_GROUPS; i++) {
            int length = 0;
            while (i + length < IN6_GROUPS && groups.getShort(2 * (i + length)) == 0) {
                length++;
            }
            if (length > bestLength) {
                best = i;
                bestLength = length;
            }
        }
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < IN6_GROUPS; i++) {
            if (i == best) {
                text.append("::");
                i += bestLength - 1;
                continue;
            }
            if (!text.isEmpty() && text.charAt(text.length() - 1) != ':') {
                text.append(':');
            }
            text.append(Integer.toHexString(groups.getShort(2 * i) & 0xffff));
        }
        return text.toString();
    }

    private static SocketName parseOrNull(String text) {
        boolean six = text.startsWith(IN6_SCHEME);
        if (!six && !text.startsWith(IN_SCHEME)) {
            return null;
        }
        int begin = six ? IN6_SCHEME.length() : IN_SCHEME.length();
        int colon = text.lastIndexOf(':');
        int port = colon <= begin ? -1 : portOrMinusOne(text.substring(colon + 1));
        if (port < 0) {
            return null;
        }
        String host = text.substring(begin, colon);
        if (six) {
            if (host.length() < 4 || host.charAt(0) != '[' || host.charAt(host.length() - 1) != ']') {
                return null;
            }
            host = host.substring(1, host.length() - 1);
        }
        return six ? in6(host, port) : in4(host, port);
    }

    private static SocketName in4(String host, int port) {
        String[] parts = host.split("\\.", -1);
        byte[] address = new byte[4];
        if (parts.length != address.length) {
            return null;
        }
        for (int i = 0; i < address.length; i++) {
            int value = number(parts[i], 255);
            if (value < 0) {
                return null;
            }
            address[i] = (byte) value;
        }
        return new SocketName(address, 0, port);
    }

    private static SocketName in6(String host, int port) {
        int percent = host.indexOf('%');
        try {
            int scope = percent < 0 ? 0 : Integer.parseUnsignedInt(host.substring(percent + 1));
            // a literal only: nothing is resolved, and an IPv4 address in it becomes one
            InetAddress literal = Inet6Address.ofLiteral(percent < 0 ? host : host.substring(0, percent));
            return new SocketName(literal.getAddress(), literal instanceof Inet6Address ? scope : 0, port);
        } catch (IllegalArgumentException ex) {
            return null;
        }
    }

    private static int portOrMinusOne(String text) {
        return number(text, MAX_PORT);
    }

    private static int number(String text, int most) {
        if (text.isEmpty() || text.length() > 5) {
            return -1;
        }
        int value = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c < '0' || c > '9') {
                return -1;
            }
            value = 10 * value + (c - '0');
        }
        return value > most ? -1 : value;
    }
}
