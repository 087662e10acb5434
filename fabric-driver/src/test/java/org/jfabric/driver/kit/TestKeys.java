package org.jfabric.driver.kit;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.util.Base64;
import java.util.concurrent.ConcurrentHashMap;
import java.util.Map;

/** Keys with certificates that they have signed themselves, made by the JDK's keytool once for each name. */
public final class TestKeys {
    private static final Map<String, Key> MADE = new ConcurrentHashMap<>();
    private static final String PASSWORD = "secret-of-tests";
    private static final int LINE = 64;
    /** Begin of the names of keys whose certificate has expired. */
    public static final String EXPIRED = "expired";

    private TestKeys() {
    }

    /** A key and its certificate. */
    public record Key(PrivateKey secret, Certificate certificate, byte[] store) {
    }

    /** The files of a driver, in a folder of their own. */
    public record Folder(Path folder) {
        /** Names and values of the options, in turn. */
        public String[] options() {
            return new String[] {"jfabric.tls.keyFile", folder + "/key", "jfabric.tls.certificateFile",
                folder + "/certificate.pem", "jfabric.tls.passwordFile", folder + "/password",
                "jfabric.tls.trustFile", folder + "/trusted.pem"};
        }

        /** Replaces key and certificate, each file at once. */
        public Folder key(String name) {
            return key(name, name);
        }

        /** Replaces the key and a certificate that may be another one's. */
        public Folder key(String name, String certificate) {
            write("key", pem("PRIVATE KEY", TestKeys.key(name).secret.getEncoded()));
            write("certificate.pem", certificates(certificate));
            return this;
        }

        /** Replaces the key by a PKCS #12 store. */
        public Folder store(String name) {
            write("key", TestKeys.key(name).store);
            write("password", (PASSWORD + '\n').getBytes(StandardCharsets.UTF_8));
            return this;
        }

        /** Replaces the trusted certificates. */
        public Folder trust(String... names) {
            write("trusted.pem", certificates(names));
            return this;
        }

        private void write(String name, byte[] content) {
            try {
                Path beside = folder.resolve(name + ".new");
                Files.write(beside, content);
                Files.setPosixFilePermissions(beside, PosixFilePermissions.fromString("rw-------"));
                Files.move(beside, folder.resolve(name), StandardCopyOption.ATOMIC_MOVE,
                    StandardCopyOption.REPLACE_EXISTING);
            } catch (IOException ex) {
                throw new UncheckedIOException(ex);
            }
        }
    }

    /** Files of a driver with one key, which trusts others. */
    public static Folder files(Path parent, String key, String... trusted) {
        try {
            Path folder = Files.createTempDirectory(parent, key);
            return new Folder(folder).key(key).trust(trusted);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** The key with a name. */
    public static Key key(String name) {
        return MADE.computeIfAbsent(name, TestKeys::make);
    }

    private static byte[] certificates(String... names) {
        StringBuilder all = new StringBuilder();
        for (String name : names) {
            try {
                all.append(new String(pem("CERTIFICATE", key(name).certificate.getEncoded()),
                    StandardCharsets.US_ASCII));
            } catch (GeneralSecurityException ex) {
                throw new IllegalStateException(ex);
            }
        }
        return all.toString().getBytes(StandardCharsets.US_ASCII);
    }

    private static byte[] pem(String what, byte[] content) {
        String body = Base64.getMimeEncoder(LINE, new byte[] {'\n'}).encodeToString(content);
        return ("-----BEGIN " + what + "-----\n" + body + "\n-----END " + what + "-----\n")
            .getBytes(StandardCharsets.US_ASCII);
    }

    private static Key make(String name) {
        try {
            Path folder = Files.createTempDirectory("jfabric-keys");
            Path file = folder.resolve("store.p12");
            Process keytool = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair", "-alias", "driver", "-keyalg", "EC", "-dname", "CN=" + name,
                "-startdate", name.startsWith(EXPIRED) ? "-10d" : "-1d", "-validity", "5",
                "-storetype", "PKCS12", "-keystore", file.toString(), "-storepass", PASSWORD)
                .redirectErrorStream(true).start();
            String said = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertEquals(0, keytool.waitFor(), said);
            KeyStore store = KeyStore.getInstance("PKCS12");
            try (InputStream content = Files.newInputStream(file)) {
                store.load(content, PASSWORD.toCharArray());
            }
            Key key = new Key((PrivateKey) store.getKey("driver", PASSWORD.toCharArray()),
                store.getCertificate("driver"), Files.readAllBytes(file));
            Files.delete(file);
            Files.delete(folder);
            return key;
        } catch (IOException | GeneralSecurityException ex) {
            throw new IllegalStateException(ex);
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(ex);
        }
    }
}
