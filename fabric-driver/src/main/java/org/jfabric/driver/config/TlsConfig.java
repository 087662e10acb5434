package org.jfabric.driver.config;

import java.nio.file.Path;

/**
 * Keys and certificates of the links tls, tlsrxm and dtls.
 */
public final class TlsConfig {
    static final OptionGroup GROUP = new OptionGroup("tls", "Keys of the links tls, tlsrxm and dtls");

    /** {@code jfabric.tls.policy}. */
    public static final Option<TlsPolicy> POLICY = GROUP.oneOf("jfabric.tls.policy", TlsPolicy.class)
        .defaultsTo(TlsPolicy.OPTIONAL)
        .rule("OPTIONAL or REQUIRED", policy -> true)
        .why("REQUIRED has every link that reaches other hosts without encryption refuse its endpoints: tcp, rxm, udp, "
            + "and those of RDMA devices. The verdict of ./fabric info --why says so.");

    /** {@code jfabric.tls.keyFile}. */
    public static final Option<Path> KEY_FILE = GROUP.file("jfabric.tls.keyFile")
        .defaultsTo(Path.of("/etc/jfabric/tls/key.pem"))
        .rule("a file that only its owner can read", path -> path.getFileName() != null)
        .why("The driver's private key: PEM (PKCS #8, not encrypted), or a PKCS #12 store with the key and its "
            + "certificates. It is read again for a new connection or session when it has changed.");

    /** {@code jfabric.tls.certificateFile}. */
    public static final Option<Path> CERTIFICATE_FILE = GROUP.file("jfabric.tls.certificateFile")
        .defaultsTo(Path.of("/etc/jfabric/tls/certificate.pem"))
        .rule("a path", path -> path.getFileName() != null)
        .why("The certificate of that key and those of its issuers, the key's first (PEM). Not read if the key is in a "
            + "PKCS #12 store.");

    /** {@code jfabric.tls.passwordFile}. */
    public static final Option<Path> PASSWORD_FILE = GROUP.file("jfabric.tls.passwordFile")
        .defaultsTo(Path.of("/etc/jfabric/tls/password"))
        .rule("a file that only its owner can read", path -> path.getFileName() != null)
        .why("The password of the PKCS #12 store, in the first line. Not read if the key is PEM.");

    /** {@code jfabric.tls.trustFile}. */
    public static final Option<Path> TRUST_FILE = GROUP.file("jfabric.tls.trustFile")
        .defaultsTo(Path.of("/etc/jfabric/tls/trusted.pem"))
        .rule("a path", path -> path.getFileName() != null)
        .why("The certificates of the peers that are trusted (PEM). They are compared and issue nothing. A connection "
            + "in either direction needs one of them, or an authority. Read again when it has changed. May be "
            + "missing if there is a jfabric.tls.authorityFile.");

    /** {@code jfabric.tls.authorityFile}. */
    public static final Option<String> AUTHORITY_FILE = GROUP.name("jfabric.tls.authorityFile")
        .defaultsTo(DriverConfig.NO_FILE)
        .rule("none, or the path of a file", name -> !name.isBlank())
        .why("Certificates of authorities (PEM): every peer is trusted whose certificate one of them has issued. Read "
            + "again when it has changed. none has no authority.");

    private TlsConfig() {
    }
}
