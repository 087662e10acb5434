package org.jfabric.driver.link.support;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * The peers that may connect, by network and key. The file is read again when it has changed; while it cannot be used,
 * the last good rules stay in use.
 *
 * <pre>
 *   # network           key, or * for every key and for plain connections
 *   10.1.0.0/16         *
 *   192.0.2.7           sha256:3b0c...
 *   *                   sha256:95d1...
 * </pre>
 *
 * <p>Any thread; reading the file is slow.
 */
public final class AccessList {
    private static final String ANY = "*";
    private static final int KEY_LENGTH = "sha256:".length() + 64;

    /** One line of the file; address null for any, key null for any. */
    private record Rule(byte[] address, int prefixBits, String key) {
        boolean admits(byte[] host) {
            if (address == null) {
                return true;
            }
            if (address.length != host.length) {
                return false;
            }
            for (int bit = 0; bit < prefixBits; bit++) {
                int mask = 0x80 >> (bit & 7);
                if (((address[bit >> 3] ^ host[bit >> 3]) & mask) != 0) {
                    return false;
                }
            }
            return true;
        }
    }

    private final Path file;
    private Object stamp;
    private FabricException problem;
    private volatile List<Rule> rules;

    /**
     * Reads the file.
     *
     * @throws FabricException {@code FI_EINVAL} with the line that is wrong, {@code FI_ENOENT} if it cannot be read.
     */
    public AccessList(Path file) {
        this.file = file;
        stamp = stamp();
        rules = read();
    }

    /** Reads the file again if it has changed. */
    public synchronized void refresh() {
        Object now = stamp();
        if (!now.equals(stamp)) {
            stamp = now;
            try {
                rules = read();
            } catch (FabricException unusable) {
                problem = unusable;
            }
        }
    }

    /** The reason why the changed file is not in use. Returns null if there is none, or it was returned before. */
    public synchronized FabricException takeProblem() {
        FabricException taken = problem;
        problem = null;
        return taken;
    }

    /** Whether a host may connect if it has the right key. */
    public boolean admits(InetAddress host) {
        byte[] address = host.getAddress();
        return rules.stream().anyMatch(rule -> rule.admits(address));
    }

    /**
     * Whether a peer may connect.
     *
     * @param key  fingerprint of its certificate; null for a plain connection, which only rules for every key admit.
     * @return false if no rule names it.
     */
    public boolean admits(InetAddress host, String key) {
        byte[] address = host.getAddress();
        return rules.stream().anyMatch(
            rule -> rule.admits(address) && (rule.key == null || rule.key.equals(key)));
    }

    @Override
    public String toString() {
        return file.toString();
    }

    private Object stamp() {
        try {
            BasicFileAttributes now = Files.readAttributes(file, BasicFileAttributes.class);
            return List.of(String.valueOf(now.fileKey()), now.lastModifiedTime(), now.size());
        } catch (IOException missing) {
            return "missing";
        }
    }

    private List<Rule> read() {
        List<String> lines;
        try {
            lines = Files.readAllLines(file);
        } catch (IOException ex) {
            throw new FabricException(FabricErrno.ENOENT, "the access list " + file + " cannot be read: " + ex,
                "Name a file in jfabric.tcp.accessFile that the driver's user can read.", ex);
        }
        List<Rule> read = new ArrayList<>();
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i).replaceFirst("#.*", "").strip();
            if (!line.isEmpty()) {
                read.add(rule(line, i + 1));
            }
        }
        return read;
    }

    private Rule rule(String line, int number) {
        String[] parts = line.split("\\s+");
        if (parts.length != 2) {
            throw wrong(number, "\"" + line + "\" is not a network and a key");
        }
        String key = ANY.equals(parts[1]) ? null : parts[1].toLowerCase(Locale.ROOT);
        if (key != null && (key.length() != KEY_LENGTH || !key.matches("sha256:[0-9a-f]+"))) {
            throw wrong(number, "\"" + parts[1] + "\" is neither * nor sha256: and 64 hexadecimal digits");
        }
        if (ANY.equals(parts[0])) {
            return new Rule(null, 0, key);
        }
        String[] network = parts[0].split("/", 2);
        try {
            byte[] address = InetAddress.ofLiteral(network[0]).getAddress();
            int bits = network.length == 1 ? address.length * Byte.SIZE : Integer.parseInt(network[1]);
            if (bits < 0 || bits > address.length * Byte.SIZE) {
                throw wrong(number, "\"" + parts[0] + "\" has a prefix of " + bits + " bits");
            }
            return new Rule(address, bits, key);
        } catch (IllegalArgumentException ex) {
            throw wrong(number, "\"" + parts[0] + "\" is neither *, an address as a number, nor a network such as"
                + " 10.1.0.0/16");
        }
    }

    private FabricException wrong(int number, String what) {
        return new FabricException(FabricErrno.EINVAL, "line " + number + " of the access list " + file + ": " + what,
            "Correct it; docs/security.md shows the form.");
    }
}
