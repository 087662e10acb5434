package org.jfabric.driver.stream.net;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.List;
import javax.crypto.KDF;
import javax.crypto.SecretKey;
import javax.crypto.spec.HKDFParameterSpec;

/**
 * The keys of the members of groups: the first one seals, all of them open.
 *
 * @param secrets at least one, of {@link #LENGTH_BYTES} each.
 */
public record GroupKeys(List<byte[]> secrets) {
    /** Bytes of a key. */
    public static final int LENGTH_BYTES = 32;
    private static final byte[] LABEL = "jfabric stream 1".getBytes(StandardCharsets.US_ASCII);
    private static final int SUBKEY_BYTES = 16;

    /**
     * The key of one sender for AES: HKDF-SHA256 of the group's key with the session as salt.
     *
     * @param era upper half of the counter: each 2³² datagrams have a key of their own.
     */
    SecretKey subkey(int index, long sessionHigh, long sessionLow, byte[] use, int era) {
        byte[] salt = ByteBuffer.allocate(2 * Long.BYTES).putLong(sessionHigh).putLong(sessionLow).array();
        byte[] info = ByteBuffer.allocate(LABEL.length + Integer.BYTES + use.length)
            .put(LABEL).putInt(era).put(use).array();
        try {
            return KDF.getInstance("HKDF-SHA256").deriveKey("AES", HKDFParameterSpec.ofExtract()
                .addIKM(secrets.get(index)).addSalt(salt).thenExpand(info, SUBKEY_BYTES));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("the JDK has no HKDF-SHA256", e);
        }
    }

    /** What a subkey is for: sender's role, number of the path, name of the group. */
    static byte[] use(boolean isWriter, int path, String group) {
        byte[] name = ControlSender.text(group);
        return ByteBuffer.allocate(2 + name.length).put((byte) (isWriter ? 1 : 2)).put((byte) path).put(name).array();
    }

    boolean isSame(GroupKeys other) {
        boolean isSame = secrets.size() == other.secrets.size();
        for (int i = 0; isSame && i < secrets.size(); i++) {
            isSame = Arrays.equals(secrets.get(i), other.secrets.get(i));
        }
        return isSame;
    }

    @Override
    public String toString() {
        return secrets.size() + " keys";
    }
}
