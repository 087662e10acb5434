package org.jfabric.driver.tls;

import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.util.HexFormat;
import java.util.List;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.TrustManager;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * The identity of a driver toward its peers: key, certificates, and the certificates that it trusts. The files are read
 * again for a new connection when they have changed; open connections keep their keys. If the new files cannot be used,
 * the last good ones stay in use.
 *
 * <p>Any thread; slow.
 */
public final class TlsIdentity {
    /** Protocol and ciphers of one kind of links; the fastest cipher first. */
    private record Kind(String protocol, String... suites) {
    }

    /** Contexts are made of it. */
    private record Managers(KeyManager[] keys, TrustManager[] trust) {
    }

    private static final Kind STREAMS = new Kind("TLSv1.3",
        "TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256");
    /** The newest that the JDK has. Each has a key exchange whose secrets are not kept, and authenticates records. */
    private static final Kind DATAGRAMS = new Kind("DTLSv1.2",
        "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
        "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
        "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256");

    private final Kind kind;
    private final KeyFiles files;
    private List<Object> stamps;
    private Managers managers;
    private SSLContext context;
    private FabricException problem;

    private TlsIdentity(Kind kind, DriverConfig config) {
        this.kind = kind;
        files = new KeyFiles(config);
        stamps = files.stamps();
        managers = load();
        context = newContext(managers);
    }

    /**
     * Reads the files, for connections over TLS 1.3.
     *
     * @throws FabricException {@code FI_ENOENT}, {@code FI_EACCES} or {@code FI_EINVAL} with the file and what to do.
     */
    public static TlsIdentity ofStreams(DriverConfig config) {
        return new TlsIdentity(STREAMS, config);
    }

    /**
     * Reads the files, for sessions over DTLS 1.2.
     *
     * @throws FabricException as {@link #ofStreams}.
     */
    public static TlsIdentity ofDatagrams(DriverConfig config) {
        return new TlsIdentity(DATAGRAMS, config);
    }

    /**
     * Makes the engine of a new connection, with the newest key. Returns the engine whose peer must authenticate
     * itself, too.
     */
    public synchronized SSLEngine engine(boolean isClient) {
        List<Object> now = files.stamps();
        if (!now.equals(stamps)) {
            stamps = now;
            try {
                managers = load();
                context = newContext(managers);
            } catch (FabricException unusable) {
                problem = unusable;
            }
        }
        // the cookies of a context do not contain the peer's address: with a context for each handshake, one that was
        // sent to an address does not prove that another one receives
        SSLEngine engine = (kind == DATAGRAMS ? newContext(managers) : context).createSSLEngine();
        engine.setUseClientMode(isClient);
        SSLParameters parameters = engine.getSSLParameters();
        parameters.setProtocols(new String[] {kind.protocol});
        parameters.setCipherSuites(kind.suites);
        parameters.setUseCipherSuitesOrder(true);
        parameters.setNeedClientAuth(true);
        engine.setSSLParameters(parameters);
        return engine;
    }

    /** The reason why changed files are not in use. Returns null if there is none, or it was returned before. */
    public synchronized FabricException takeProblem() {
        FabricException taken = problem;
        problem = null;
        return taken;
    }

    /**
     * Checks that a handshake which the engine does not continue has its result. An engine also stops if what a peer
     * sends has closed it.
     *
     * @param engine that neither wraps nor unwraps for its handshake.
     * @throws SSLException if the peer has not proved its key.
     */
    public static void requireProved(SSLEngine engine) throws SSLException {
        try {
            engine.getSession().getPeerCertificates();
        } catch (SSLPeerUnverifiedException notProved) {
            throw new SSLException("the handshake ended before the peer had proved its key", notProved);
        }
    }

    /**
     * The fingerprint of the peer's certificate.
     *
     * @param engine that {@link #requireProved} takes.
     * @return as {@link #fingerprint}.
     */
    public static String peerKey(SSLEngine engine) {
        try {
            return fingerprint(engine.getSession().getPeerCertificates()[0]);
        } catch (SSLPeerUnverifiedException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /**
     * The fingerprint of a certificate, as {@code keytool} and {@code openssl x509 -fingerprint -sha256} compute it.
     * Returns {@code sha256:} and 64 hexadecimal digits.
     */
    public static String fingerprint(Certificate certificate) {
        try {
            return "sha256:" + HexFormat.of().formatHex(
                MessageDigest.getInstance("SHA-256").digest(certificate.getEncoded()));
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private Managers load() {
        KeyFiles.Identity identity = files.identity();
        List<X509Certificate> pinned = files.pinned();
        List<X509Certificate> authorities = files.authorities();
        try {
            return new Managers(
                new KeyManager[] {new OnlyKey(identity.key(), identity.chain())},
                new TrustManager[] {new TrustedPeers(pinned, authorities)});
        } catch (GeneralSecurityException ex) {
            throw unusable(ex);
        }
    }

    private SSLContext newContext(Managers from) {
        try {
            SSLContext made = SSLContext.getInstance(kind.protocol);
            made.init(from.keys, from.trust, null);
            // no session is resumed, and the JDK would keep 20,480 of them for a day
            made.getServerSessionContext().setSessionCacheSize(1);
            made.getClientSessionContext().setSessionCacheSize(1);
            return made;
        } catch (GeneralSecurityException ex) {
            throw unusable(ex);
        }
    }

    private static FabricException unusable(Exception cause) {
        return new FabricException(FabricErrno.EINVAL, "the key or the trusted certificates cannot be used: "
            + cause.getMessage(), "See docs/security.md.", cause);
    }
}
