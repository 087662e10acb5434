package org.jfabric.driver.tls;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.MessageDigest;
import java.security.cert.Certificate;
import java.util.HexFormat;
import java.util.List;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedKeyManager;
import org.jfabric.driver.config.TlsConfig;
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
    private static final String[] PROTOCOLS = {"TLSv1.3"};
    /** The fastest first. */
    private static final String[] SUITES =
        {"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"};
    private static final String NAME = "driver";
    private static final char[] IN_MEMORY = {'-'};

    private final KeyFiles files;
    private List<Object> stamps;
    private SSLContext context;
    private FabricException problem;

    /**
     * Reads the files.
     *
     * @param config their names.
     * @throws FabricException {@code FI_ENOENT}, {@code FI_EACCES} or {@code FI_EINVAL} with the file and what to do.
     */
    public TlsIdentity(TlsConfig config) {
        files = new KeyFiles(config);
        stamps = files.stamps();
        context = load();
    }

    /**
     * Makes the engine of a new connection, with the newest key.
     *
     * @param isClient whether this side begins the handshake.
     * @return engine whose peer must authenticate itself, too.
     */
    public synchronized SSLEngine engine(boolean isClient) {
        List<Object> now = files.stamps();
        if (!now.equals(stamps)) {
            stamps = now;
            try {
                context = load();
            } catch (FabricException unusable) {
                problem = unusable;
            }
        }
        SSLEngine engine = context.createSSLEngine();
        engine.setUseClientMode(isClient);
        SSLParameters parameters = engine.getSSLParameters();
        parameters.setProtocols(PROTOCOLS);
        parameters.setCipherSuites(SUITES);
        parameters.setUseCipherSuitesOrder(true);
        parameters.setNeedClientAuth(true);
        engine.setSSLParameters(parameters);
        return engine;
    }

    /**
     * The reason why changed files are not in use.
     *
     * @return null if there is none, or it was returned before.
     */
    public synchronized FabricException takeProblem() {
        FabricException taken = problem;
        problem = null;
        return taken;
    }

    /**
     * The fingerprint of a certificate, as {@code keytool} and {@code openssl x509 -fingerprint -sha256} compute it.
     *
     * @param certificate of a peer.
     * @return {@code sha256:} and 64 hexadecimal digits.
     */
    public static String fingerprint(Certificate certificate) {
        try {
            return "sha256:" + HexFormat.of().formatHex(
                MessageDigest.getInstance("SHA-256").digest(certificate.getEncoded()));
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private SSLContext load() {
        KeyFiles.Identity identity = files.identity();
        Certificate[] trusted = files.trusted();
        try {
            KeyStore keys = KeyStore.getInstance("PKCS12");
            keys.load(null, null);
            keys.setKeyEntry(NAME, identity.key(), IN_MEMORY, identity.chain());
            KeyManagerFactory keyManagers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            keyManagers.init(keys, IN_MEMORY);
            KeyStore anchors = KeyStore.getInstance("PKCS12");
            anchors.load(null, null);
            for (int i = 0; i < trusted.length; i++) {
                anchors.setCertificateEntry("trusted-" + i, trusted[i]);
            }
            TrustManagerFactory trustManagers =
                TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trustManagers.init(anchors);
            SSLContext made = SSLContext.getInstance("TLSv1.3");
            made.init(new KeyManager[] {new OnlyKey((X509ExtendedKeyManager) keyManagers.getKeyManagers()[0])},
                trustManagers.getTrustManagers(), null);
            return made;
        } catch (GeneralSecurityException | IOException ex) {
            throw new FabricException(FabricErrno.EINVAL, "the key or the trusted certificates cannot be used: "
                + ex.getMessage(), "See docs/security.md.", ex);
        }
    }
}
