package org.jfabric.driver.kit;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;

/**
 * Keys with certificates, made once for each name. A key has signed its certificate itself, unless its name is
 * {@code name@authority}: then the key with the name of the authority has.
 */
public final class TestKeys {
    private static final Map<String, Key> MADE = new ConcurrentHashMap<>();
    private static final String PASSWORD = "secret-of-tests";
    private static final int LINE = 64;
    /** Behind the name of a key, and before that of the authority that has signed its certificate. */
    private static final String BY = "@";
    private static final int INTEGER = 0x02;
    private static final int BIT_STRING = 0x03;
    private static final int UTF8_STRING = 0x0C;
    private static final int UTC_TIME = 0x17;
    private static final int SEQUENCE = 0x30;
    private static final int SET = 0x31;
    private static final int EXTENSIONS = 0xA3;
    private static final byte[] ECDSA_WITH_SHA256 = HexFormat.of().parseHex("300a06082a8648ce3d040302");
    private static final String AUTHORITIES = "authorities.pem";
    /** Begin of the names of keys whose certificate has expired. */
    public static final String EXPIRED = "expired";

    private static Folder shared;

    private TestKeys() {
    }

    /** Files of drivers that all have the same key and trust it, until the end of the process. */
    public static synchronized Folder shared() {
        if (shared == null) {
            try {
                Path parent = Files.createTempDirectory("jfabric-keys");
                shared = files(parent, "shared", "shared");
                parent.toFile().deleteOnExit();
                shared.folder.toFile().deleteOnExit();
                // the order of deletion is the reverse one
                for (String file : new String[] {"key", "certificate.pem", "trusted.pem"}) {
                    shared.folder.resolve(file).toFile().deleteOnExit();
                }
            } catch (IOException ex) {
                throw new UncheckedIOException(ex);
            }
        }
        return shared;
    }

    /** A key and its certificate. */
    public record Key(PrivateKey secret, Certificate certificate, byte[] store) {
    }

    /** The files of a driver, in a folder of their own. */
    public record Folder(Path folder) {
        /** Names and values of the options, in turn. */
        public String[] options() {
            Path authorities = folder.resolve(AUTHORITIES);
            return new String[] {"jfabric.tls.keyFile", folder + "/key", "jfabric.tls.certificateFile",
                folder + "/certificate.pem", "jfabric.tls.passwordFile", folder + "/password",
                "jfabric.tls.trustFile", folder + "/trusted.pem",
                "jfabric.tls.authorityFile", Files.exists(authorities) ? authorities.toString() : "none"};
        }

        /** The same as NAME=VALUE. */
        public List<String> assignments() {
            String[] all = options();
            return IntStream.range(0, all.length / 2).mapToObj(i -> all[2 * i] + '=' + all[2 * i + 1]).toList();
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

        /** Replaces the authorities; without it there are none. */
        public Folder authorities(String... names) {
            write(AUTHORITIES, certificates(names));
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
        Key made = MADE.get(name);
        if (made == null) {
            // not inside of the map: the key of an authority is made in between
            MADE.putIfAbsent(name, make(name));
            made = MADE.get(name);
        }
        return made;
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
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec("secp256r1"));
            KeyPair pair = generator.generateKeyPair();
            Key issuer = name.contains(BY) ? key(name.substring(name.indexOf(BY) + 1)) : null;
            byte[] text = certificateText(name, issuer == null ? name : name.substring(name.indexOf(BY) + 1), pair);
            Signature signature = Signature.getInstance("SHA256withECDSA");
            signature.initSign(issuer == null ? pair.getPrivate() : issuer.secret);
            signature.update(text);
            byte[] signed = der(BIT_STRING, new byte[1], signature.sign());
            Certificate certificate = CertificateFactory.getInstance("X.509").generateCertificate(
                new ByteArrayInputStream(der(SEQUENCE, text, ECDSA_WITH_SHA256, signed)));
            KeyStore store = KeyStore.getInstance("PKCS12");
            store.load(null, null);
            store.setKeyEntry("driver", pair.getPrivate(), PASSWORD.toCharArray(), new Certificate[] {certificate});
            ByteArrayOutputStream content = new ByteArrayOutputStream();
            store.store(content, PASSWORD.toCharArray());
            return new Key(pair.getPrivate(), certificate, content.toByteArray());
        } catch (IOException | GeneralSecurityException ex) {
            throw new IllegalStateException(ex);
        }
    }

    /** What is signed of a certificate (RFC 5280, section 4.1). */
    private static byte[] certificateText(String name, String issuer, KeyPair pair) {
        Instant begin = Instant.now().minus(Duration.ofDays(name.startsWith(EXPIRED) ? 10 : 1));
        byte[] dates = der(SEQUENCE, time(begin), time(begin.plus(Duration.ofDays(5))));
        byte[] serial = der(INTEGER, BigInteger.valueOf(1 + name.hashCode() & Integer.MAX_VALUE).toByteArray());
        // basic constraints, critical: may issue certificates
        byte[] constraints = der(SEQUENCE, HexFormat.of().parseHex("0603551d130101ff040530030101ff"));
        byte[] extensions = name.equals(issuer) ? der(EXTENSIONS, der(SEQUENCE, constraints)) : new byte[0];
        return der(SEQUENCE, HexFormat.of().parseHex("a003020102"), serial, ECDSA_WITH_SHA256, commonName(issuer),
            dates, commonName(name), pair.getPublic().getEncoded(), extensions);
    }

    private static byte[] commonName(String name) {
        byte[] text = der(UTF8_STRING, name.getBytes(StandardCharsets.UTF_8));
        return der(SEQUENCE, der(SET, der(SEQUENCE, HexFormat.of().parseHex("0603550403"), text)));
    }

    private static byte[] time(Instant instant) {
        return der(UTC_TIME, DateTimeFormatter.ofPattern("yyMMddHHmmss'Z'").withZone(ZoneOffset.UTC).format(instant)
            .getBytes(StandardCharsets.US_ASCII));
    }

    /** A value of ASN.1 by the distinguished encoding rules. */
    private static byte[] der(int tag, byte[]... parts) {
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            content.writeBytes(part);
        }
        ByteArrayOutputStream value = new ByteArrayOutputStream();
        value.write(tag);
        if (content.size() > 255) {
            value.write(0x82);
            value.write(content.size() >> 8);
        } else if (content.size() > 127) {
            value.write(0x81);
        }
        value.write(content.size());
        value.writeBytes(content.toByteArray());
        return value.toByteArray();
    }
}
