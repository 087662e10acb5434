package org.jfabric.driver.tls;

import java.net.Socket;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedKeyManager;

/**
 * Offers the one key of the driver to every peer, also if the peer names authorities that have not issued its
 * certificate: the refusal of the peer then says which certificate it was. Any thread.
 *
 * <p>The JDK's own key managers take keys from a key store alone, which encrypts them with a slow function of a
 * password: tens of milliseconds for each identity.
 */
final class OnlyKey extends X509ExtendedKeyManager {
    private static final String ALIAS = "driver";

    private final PrivateKey key;
    private final X509Certificate[] chain;

    OnlyKey(PrivateKey key, Certificate[] chain) {
        this.key = key;
        this.chain = Arrays.copyOf(chain, chain.length, X509Certificate[].class);
    }

    /** The key if it is of that type: an algorithm, behind which older versions of TLS name that of the issuer. */
    private String alias(String keyType) {
        int issuer = keyType.indexOf('_');
        String algorithm = issuer < 0 ? keyType : keyType.substring(0, issuer);
        return chain[0].getPublicKey().getAlgorithm().equals(algorithm) ? ALIAS : null;
    }

    private String alias(String[] keyTypes) {
        for (String each : keyTypes) {
            if (alias(each) != null) {
                return ALIAS;
            }
        }
        return null;
    }

    private String[] aliases(String keyType) {
        return alias(keyType) == null ? null : new String[] {ALIAS};
    }

    @Override
    public String chooseEngineClientAlias(String[] keyTypes, Principal[] issuers, SSLEngine engine) {
        return alias(keyTypes);
    }

    @Override
    public String chooseEngineServerAlias(String keyType, Principal[] issuers, SSLEngine engine) {
        return alias(keyType);
    }

    @Override
    public String[] getClientAliases(String keyType, Principal[] issuers) {
        return aliases(keyType);
    }

    @Override
    public String[] getServerAliases(String keyType, Principal[] issuers) {
        return aliases(keyType);
    }

    @Override
    public String chooseClientAlias(String[] keyTypes, Principal[] issuers, Socket socket) {
        return alias(keyTypes);
    }

    @Override
    public String chooseServerAlias(String keyType, Principal[] issuers, Socket socket) {
        return alias(keyType);
    }

    @Override
    public X509Certificate[] getCertificateChain(String alias) {
        return ALIAS.equals(alias) ? chain.clone() : null;
    }

    @Override
    public PrivateKey getPrivateKey(String alias) {
        return ALIAS.equals(alias) ? key : null;
    }
}
