package org.jfabric.driver.stream;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import org.jfabric.driver.config.UdpConfig;
import org.jfabric.driver.stream.net.GroupKeys;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/** The file with the keys of the groups that are sent and read between hosts. Resource thread. */
final class GroupKeyFile {
    private static final int MOST_KEYS = 2;
    private static final int LONGEST_BYTES = 4096;
    private static final Set<PosixFilePermission> OF_OTHERS = EnumSet.of(
        PosixFilePermission.GROUP_READ, PosixFilePermission.GROUP_WRITE,
        PosixFilePermission.OTHERS_READ, PosixFilePermission.OTHERS_WRITE);

    private GroupKeyFile() {
    }

    /**
     * Reads the keys.
     *
     * @throws FabricException {@code FI_EACCES} if others can read it, {@code FI_EINVAL} if it has no keys.
     */
    static GroupKeys read(Path file) {
        List<byte[]> keys = new ArrayList<>();
        try {
            if (!Collections.disjoint(Files.getPosixFilePermissions(file), OF_OTHERS)) {
                throw refusal(FabricErrno.EACCES, "others than its owner can read or write " + file,
                    "Run chmod 600 on it, and replace the key if others may have read it.", null);
            }
            if (Files.size(file) > LONGEST_BYTES) {
                throw unusable(file, "is longer than " + LONGEST_BYTES + " bytes");
            }
            for (String line : Files.readAllLines(file)) {
                String text = line.strip();
                if (!text.isEmpty() && text.charAt(0) != '#') {
                    keys.add(HexFormat.of().parseHex(text));
                }
            }
        } catch (IOException e) {
            throw refusal(FabricErrno.EACCES, file + " cannot be read: " + e,
                "Make it with openssl rand -hex 32, readable by the driver's user alone.", e);
        } catch (IllegalArgumentException e) {
            // the cause would show the line
            throw unusable(file, "has a line that is no key");
        }
        if (keys.isEmpty() || keys.size() > MOST_KEYS
            || keys.stream().anyMatch(key -> key.length != GroupKeys.LENGTH_BYTES)) {
            throw unusable(file, "has no key of 64 hexadecimal digits, another line, or more than two keys");
        }
        return new GroupKeys(keys);
    }

    private static FabricException unusable(Path file, String what) {
        return refusal(FabricErrno.EINVAL, file + " " + what,
            "Give it one key for each line, the newest first; openssl rand -hex 32 makes one.", null);
    }

    private static FabricException refusal(int errno, String what, String remedy, Throwable cause) {
        return new FabricException(errno, UdpConfig.STREAM_KEY_FILE.name() + ": " + what, remedy, cause);
    }
}
