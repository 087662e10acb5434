package org.jfabric.driver.link.best;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * The identity of a folder of drivers: which running system, which mounted file system, which file in it. Two drivers
 * with the same one can open each other's files. A container with a memory file system of its own has another one,
 * although name and path are the same; one that the host's folder is mounted into has the same one under any path.
 *
 * <p>Stateless; conductor and resource thread.
 */
final class SharedFolder {
    private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");
    private static final int DIGITS = 16;

    private SharedFolder() {
    }

    /**
     * The identity.
     *
     * @return 16 hexadecimal digits.
     * @throws FabricException {@code FI_EIO} if the system does not say.
     */
    static String of(Path folder) {
        try {
            String text = Files.readString(BOOT_ID).strip() + ' ' + Files.getAttribute(folder, "unix:dev") + ' '
                + Files.getAttribute(folder, "unix:ino");
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.US_ASCII));
            return HexFormat.of().formatHex(digest).substring(0, DIGITS);
        } catch (IOException | NoSuchAlgorithmException e) {
            throw new FabricException(FabricErrno.EIO, "the identity of " + folder + " is not known: " + e,
                "Ask for link shm or tcp instead of best.", e);
        }
    }
}
