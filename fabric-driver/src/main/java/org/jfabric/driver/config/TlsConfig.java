package org.jfabric.driver.config;

import java.nio.file.Path;
import java.util.List;

/**
 * Keys and certificates of the links tls, tlsrxm and dtls. Immutable.
 */
public final class TlsConfig {
    /** Value of {@link #AUTHORITY_FILE} that names none. */
    public static final String NO_AUTHORITY_FILE = "none";

    /** {@code jfabric.tls.policy}. */
    public static final Option<TlsPolicy> POLICY = Option.oneOf("jfabric.tls.policy", TlsPolicy.class)
        .defaultsTo(TlsPolicy.OPTIONAL)
        .rule("OPTIONAL or REQUIRED", policy -> true)
        .why("REQUIRED has every link that reaches other hosts without encryption refuse its endpoints: tcp, rxm, udp, "
            + "and those of RDMA devices. The verdict of ./fabric info --why says so.");

    /** {@code jfabric.tls.keyFile}. */
    public static final Option<Path> KEY_FILE = Option.file("jfabric.tls.keyFile")
        .defaultsTo(Path.of("/etc/jfabric/tls/key.pem"))
        .rule("a file that only its owner can read", path -> path.getFileName() != null)
        .why("The driver's private key: PEM (PKCS #8, not encrypted), or a PKCS #12 store with the key and its "
            + "certificates. It is read again for a new connection or session when it has changed.");

    /** {@code jfabric.tls.certificateFile}. */
    public static final Option<Path> CERTIFICATE_FILE = Option.file("jfabric.tls.certificateFile")
        .defaultsTo(Path.of("/etc/jfabric/tls/certificate.pem"))
        .rule("a path", path -> path.getFileName() != null)
        .why("The certificate of that key and those of its issuers, the key's first (PEM). Not read if the key is in a "
            + "PKCS #12 store.");

    /** {@code jfabric.tls.passwordFile}. */
    public static final Option<Path> PASSWORD_FILE = Option.file("jfabric.tls.passwordFile")
        .defaultsTo(Path.of("/etc/jfabric/tls/password"))
        .rule("a file that only its owner can read", path -> path.getFileName() != null)
        .why("The password of the PKCS #12 store, in the first line. Not read if the key is PEM.");

    /** {@code jfabric.tls.trustFile}. */
    public static final Option<Path> TRUST_FILE = Option.file("jfabric.tls.trustFile")
        .defaultsTo(Path.of("/etc/jfabric/tls/trusted.pem"))
        .rule("a path", path -> path.getFileName() != null)
        .why("The certificates of the peers that are trusted (PEM). They are compared and issue nothing. A connection "
            + "in either direction needs one of them, or an authority. Read again when it has changed. May be "
            + "missing if there is a jfabric.tls.authorityFile.");

    /** {@code jfabric.tls.authorityFile}. */
    public static final Option<String> AUTHORITY_FILE = Option.name("jfabric.tls.authorityFile")
        .defaultsTo(NO_AUTHORITY_FILE)
        .rule("none, or the path of a file", name -> !name.isBlank())
        .why("Certificates of authorities (PEM): every peer is trusted whose certificate one of them has issued. Read "
            + "again when it has changed. none has no authority.");

    static final OptionGroup GROUP = new OptionGroup(
        "tls", "Keys of the links tls, tlsrxm and dtls",
        List.of(POLICY, KEY_FILE, CERTIFICATE_FILE, PASSWORD_FILE, TRUST_FILE, AUTHORITY_FILE));

    private final TlsPolicy policy;
    private final Path keyFile;
    private final Path certificateFile;
    private final Path passwordFile;
    private final Path trustFile;
    private final String authorityFile;

    TlsConfig(ConfigSource source) {
        policy = source.value(POLICY);
        keyFile = source.value(KEY_FILE);
        certificateFile = source.value(CERTIFICATE_FILE);
        passwordFile = source.value(PASSWORD_FILE);
        trustFile = source.value(TRUST_FILE);
        authorityFile = source.value(AUTHORITY_FILE);
    }

    /**
     * The protection that the driver demands of links to other hosts.
     *
     * @return the choice.
     */
    public TlsPolicy policy() {
        return policy;
    }

    /**
     * The file of the driver's private key.
     *
     * @return absolute path.
     */
    public Path keyFile() {
        return keyFile;
    }

    /**
     * The file of the key's certificates.
     *
     * @return absolute path.
     */
    public Path certificateFile() {
        return certificateFile;
    }

    /**
     * The file of the password of a PKCS #12 store.
     *
     * @return absolute path.
     */
    public Path passwordFile() {
        return passwordFile;
    }

    /**
     * The file of the certificates of peers.
     *
     * @return absolute path.
     */
    public Path trustFile() {
        return trustFile;
    }

    /**
     * The file of the certificates of authorities.
     *
     * @return absolute path, or null for none.
     */
    public Path authorityFile() {
        return NO_AUTHORITY_FILE.equals(authorityFile) ? null : Path.of(authorityFile).toAbsolutePath();
    }
}
