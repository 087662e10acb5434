package org.jfabric.driver.tls;

import java.net.Socket;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedKeyManager;

/**
 * Offers the one key of the driver to every peer, also if the peer names authorities that have not issued its
 * certificate: the refusal of the peer then says which certificate it was. Any thread.
 */
final class OnlyKey extends X509ExtendedKeyManager {
    private final X509ExtendedKeyManager keys;

    OnlyKey(X509ExtendedKeyManager keys) {
        this.keys = keys;
    }

    @Override
    public String chooseEngineClientAlias(String[] keyTypes, Principal[] issuers, SSLEngine engine) {
        return keys.chooseEngineClientAlias(keyTypes, null, engine);
    }

    @Override
    public String chooseEngineServerAlias(String keyType, Principal[] issuers, SSLEngine engine) {
        return keys.chooseEngineServerAlias(keyType, null, engine);
    }

    @Override
    public String[] getClientAliases(String keyType, Principal[] issuers) {
        return keys.getClientAliases(keyType, null);
    }

    @Override
    public String[] getServerAliases(String keyType, Principal[] issuers) {
        return keys.getServerAliases(keyType, null);
    }

    @Override
    public String chooseClientAlias(String[] keyTypes, Principal[] issuers, Socket socket) {
        return keys.chooseClientAlias(keyTypes, null, socket);
    }

    @Override
    public String chooseServerAlias(String keyType, Principal[] issuers, Socket socket) {
        return keys.chooseServerAlias(keyType, null, socket);
    }

    @Override
    public X509Certificate[] getCertificateChain(String alias) {
        return keys.getCertificateChain(alias);
    }

    @Override
    public PrivateKey getPrivateKey(String alias) {
        return keys.getPrivateKey(alias);
    }
}
