package org.jfabric.driver.tls;

import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * Decides whether a peer's certificate is trusted: because it is a pinned one, or because an authority has issued it. A
 * pinned certificate is compared and issues nothing, whatever its extensions say. Dates of all of them are examined;
 * those of authorities too, which the JDK does not do. Any thread.
 */
final class TrustedPeers extends X509ExtendedTrustManager {
    private record Authority(X509Certificate certificate, X509ExtendedTrustManager issued) {
    }

    private final Set<X509Certificate> pinned;
    private final List<Authority> authorities = new ArrayList<>();

    /** Makes the decision ready. */
    TrustedPeers(List<X509Certificate> pinned, List<X509Certificate> authorities) throws GeneralSecurityException {
        this.pinned = Set.copyOf(pinned);
        for (X509Certificate each : authorities) {
            KeyStore anchor = KeyFiles.emptyStore();
            anchor.setCertificateEntry("authority", each);
            TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            factory.init(anchor);
            this.authorities.add(new Authority(each, (X509ExtendedTrustManager) factory.getTrustManagers()[0]));
        }
    }

    private void check(X509Certificate[] chain, String authType, SSLEngine engine) throws CertificateException {
        if (pinned.contains(chain[0])) {
            chain[0].checkValidity();
            return;
        }
        CertificateException problem = new CertificateException(
            "it is not in jfabric.tls.trustFile, and no authority of jfabric.tls.authorityFile has issued it");
        for (Authority authority : authorities) {
            try {
                authority.certificate.checkValidity();
                if (engine.getUseClientMode()) {
                    authority.issued.checkServerTrusted(chain, authType, engine);
                } else {
                    authority.issued.checkClientTrusted(chain, authType, engine);
                }
                return;
            } catch (CertificateException ex) {
                problem.addSuppressed(ex);
            }
        }
        throw problem;
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
        throws CertificateException {
        check(chain, authType, engine);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
        throws CertificateException {
        check(chain, authType, engine);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket)
        throws CertificateException {
        throw new CertificateException("links use engines");
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket)
        throws CertificateException {
        throw new CertificateException("links use engines");
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType) throws CertificateException {
        throw new CertificateException("links use engines");
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType) throws CertificateException {
        throw new CertificateException("links use engines");
    }

    /** None: each driver offers its one key, whoever has issued its certificate. */
    @Override
    public X509Certificate[] getAcceptedIssuers() {
        return new X509Certificate[0];
    }
}
