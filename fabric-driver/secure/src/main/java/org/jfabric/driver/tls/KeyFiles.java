package org.jfabric.driver.tls;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Enumeration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.Option;
import org.jfabric.driver.config.TlsConfig;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * Reads a driver's key, its certificates, and those that it trusts. Slow; any thread.
 */
final class KeyFiles {
    /** A private key with its certificates, the key's own first. */
    record Identity(PrivateKey key, Certificate[] chain) {
    }

    /** State of a file by which a change is recognised. */
    private record Stamp(Object fileKey, Object modified, long sizeBytes) {
    }

    private static final Set<PosixFilePermission> OF_OTHERS = EnumSet.of(
        PosixFilePermission.GROUP_READ, PosixFilePermission.GROUP_WRITE,
        PosixFilePermission.OTHERS_READ, PosixFilePermission.OTHERS_WRITE);
    private static final Pattern PEM_KEY = Pattern.compile(
        "-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\\s]+)-----END PRIVATE KEY-----");
    /** The signature algorithms by the algorithm of the key, for the check that key and certificate fit. */
    private static final Map<String, String> SIGNATURES =
        Map.of("RSA", "SHA256withRSA", "RSASSA-PSS", "RSASSA-PSS", "EC", "SHA256withECDSA", "EdDSA", "EdDSA");
    private static final String PEM_MARK = "-----BEGIN";
    private static final String REMEDY_KEY =
        "Give a key in PKCS #8 (openssl pkcs8 -topk8 -nocrypt), or a PKCS #12 store made by keytool.";

    private final DriverConfig config;

    KeyFiles(DriverConfig config) {
        this.config = config;
    }

    /** The state of all files, to be compared with a later one. */
    List<Object> stamps() {
        return Stream.of(TlsConfig.KEY_FILE, TlsConfig.CERTIFICATE_FILE, TlsConfig.PASSWORD_FILE, TlsConfig.TRUST_FILE,
            TlsConfig.AUTHORITY_FILE).map(option -> stamp(config.file(option))).toList();
    }

    private static Object stamp(Path file) {
        if (file == null) {
            return "none";
        }
        try {
            BasicFileAttributes now = Files.readAttributes(file, BasicFileAttributes.class);
            return new Stamp(now.fileKey(), now.lastModifiedTime(), now.size());
        } catch (IOException missing) {
            return "missing";
        }
    }

    /**
     * Reads the key and its certificates.
     *
     * @throws FabricException {@code FI_ENOENT}, {@code FI_EACCES} or {@code FI_EINVAL} with the file and what to do.
     */
    Identity identity() {
        byte[] content = secret(TlsConfig.KEY_FILE);
        boolean isPem = new String(content, StandardCharsets.ISO_8859_1).contains(PEM_MARK);
        Identity identity = isPem ? pem(content) : store(content);
        checkPair(identity);
        return identity;
    }

    /**
     * Reads the certificates of single peers.
     *
     * @return empty only if the file is missing and there are authorities.
     * @throws FabricException as {@link #identity()}.
     */
    List<X509Certificate> pinned() {
        return config.file(TlsConfig.AUTHORITY_FILE) != null && Files.notExists(config.file(TlsConfig.TRUST_FILE))
            ? List.of() : certificates(TlsConfig.TRUST_FILE);
    }

    /**
     * Reads the certificates of authorities.
     *
     * @return empty if no file is named.
     * @throws FabricException as {@link #identity()}.
     */
    List<X509Certificate> authorities() {
        if (config.file(TlsConfig.AUTHORITY_FILE) == null) {
            return List.of();
        }
        List<X509Certificate> read = certificates(TlsConfig.AUTHORITY_FILE);
        for (X509Certificate each : read) {
            if (each.getBasicConstraints() < 0) {
                throw wrong(TlsConfig.AUTHORITY_FILE, "has the certificate of "
                    + each.getSubjectX500Principal() + ", which may not issue others (no CA:TRUE)",
                    "The certificate of a peer belongs into " + TlsConfig.TRUST_FILE.name() + '.', null);
            }
        }
        return read;
    }

    static KeyStore emptyStore() throws GeneralSecurityException {
        try {
            KeyStore store = KeyStore.getInstance("PKCS12");
            store.load(null, null);
            return store;
        } catch (IOException impossible) {
            // nothing is read
            throw new UncheckedIOException(impossible);
        }
    }

    private Identity pem(byte[] content) {
        Certificate[] chain =
            certificates(TlsConfig.CERTIFICATE_FILE).toArray(Certificate[]::new);
        Matcher block = PEM_KEY.matcher(new String(content, StandardCharsets.ISO_8859_1));
        if (!block.find()) {
            throw wrong(TlsConfig.KEY_FILE, "has no block BEGIN PRIVATE KEY", REMEDY_KEY, null);
        }
        try {
            byte[] encoded = Base64.getMimeDecoder().decode(block.group(1));
            KeyFactory factory = KeyFactory.getInstance(chain[0].getPublicKey().getAlgorithm());
            return new Identity(factory.generatePrivate(new PKCS8EncodedKeySpec(encoded)), chain);
        } catch (GeneralSecurityException | IllegalArgumentException ex) {
            throw wrong(TlsConfig.KEY_FILE, "is not a key of the algorithm of the certificate in "
                + config.get(TlsConfig.CERTIFICATE_FILE) + " (" + chain[0].getPublicKey().getAlgorithm() + ')',
                REMEDY_KEY, ex);
        }
    }

    private Identity store(byte[] content) {
        char[] password = new String(secret(TlsConfig.PASSWORD_FILE), StandardCharsets.UTF_8)
            .lines().findFirst().orElse("").toCharArray();
        try {
            KeyStore store = KeyStore.getInstance("PKCS12");
            store.load(new ByteArrayInputStream(content), password);
            for (Enumeration<String> names = store.aliases(); names.hasMoreElements();) {
                String name = names.nextElement();
                if (store.isKeyEntry(name) && store.getKey(name, password) instanceof PrivateKey key) {
                    return new Identity(key, store.getCertificateChain(name));
                }
            }
        } catch (GeneralSecurityException | IOException ex) {
            throw wrong(TlsConfig.KEY_FILE, "is neither PEM nor a PKCS #12 store that the password"
                + " in " + config.get(TlsConfig.PASSWORD_FILE) + " opens: " + ex.getMessage(), REMEDY_KEY, ex);
        }
        throw wrong(TlsConfig.KEY_FILE, "has no private key", REMEDY_KEY, null);
    }

    /** A new key beside an old certificate, as in the middle of a replacement of both. */
    private void checkPair(Identity identity) {
        byte[] text = {1, 2, 3};
        PublicKey ofCertificate = identity.chain[0].getPublicKey();
        boolean fits;
        try {
            String algorithm = SIGNATURES.get(identity.key.getAlgorithm());
            Signature signature = Signature.getInstance(algorithm == null ? identity.key.getAlgorithm() : algorithm);
            signature.initSign(identity.key);
            signature.update(text);
            byte[] signed = signature.sign();
            signature.initVerify(ofCertificate);
            signature.update(text);
            fits = signature.verify(signed);
        } catch (GeneralSecurityException ex) {
            throw wrong(TlsConfig.KEY_FILE, "has a key that cannot sign: " + ex.getMessage(),
                "Use a key of RSA, EC or Ed25519.", ex);
        }
        if (!fits) {
            throw wrong(TlsConfig.KEY_FILE, "has a key that is not the one of the certificate",
                "Replace both files, each by a rename; connections use the new ones when they fit.", null);
        }
    }

    private List<X509Certificate> certificates(Option<?> option) {
        try {
            List<X509Certificate> read = CertificateFactory.getInstance("X.509")
                .generateCertificates(new ByteArrayInputStream(read(option))).stream()
                .map(X509Certificate.class::cast).toList();
            if (!read.isEmpty()) {
                return read;
            }
        } catch (GeneralSecurityException ex) {
            throw wrong(option, "is not a file of certificates: " + ex.getMessage(),
                "Give certificates in PEM (keytool -exportcert -rfc).", ex);
        }
        throw wrong(option, "has no certificate", "Give certificates in PEM (keytool -exportcert -rfc).", null);
    }

    /** Reads a file that only its owner may read. */
    private byte[] secret(Option<?> option) {
        byte[] content = read(option);
        Path file = config.file(option);
        try {
            if (!Collections.disjoint(Files.getPosixFilePermissions(file), OF_OTHERS)) {
                throw new FabricException(FabricErrno.EACCES, option.name() + ": others than its owner can read or"
                    + " write " + file, "Run chmod 600 on it, and replace the key if others may have read it.");
            }
        } catch (IOException ex) {
            throw unreadable(option, ex);
        }
        return content;
    }

    private byte[] read(Option<?> option) {
        try {
            return Files.readAllBytes(config.file(option));
        } catch (IOException ex) {
            throw unreadable(option, ex);
        }
    }

    private FabricException unreadable(Option<?> option, IOException cause) {
        boolean isMissing = cause instanceof NoSuchFileException;
        return new FabricException(isMissing ? FabricErrno.ENOENT : FabricErrno.EACCES,
            option.name() + ": " + config.file(option) + (isMissing ? " does not exist" : " cannot be read: " + cause),
            "Name the file in " + option.name() + ", readable for the driver's user; docs/security.md shows how to"
                + " make one.", cause);
    }

    private FabricException wrong(Option<?> option, String what, String remedy, Exception cause) {
        return new FabricException(
            FabricErrno.EINVAL, option.name() + ": " + config.file(option) + ' ' + what, remedy, cause);
    }
}
