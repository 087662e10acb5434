package org.jfabric.driver.tls;

import java.security.cert.CertPathBuilderException;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertificateException;
import java.util.List;
import javax.net.ssl.SSLException;
import org.jfabric.info.FabricErrno;

/**
 * The reason why a peer was not proved, or why its bytes are not those that it has sealed.
 *
 * @param errno positive; {@code FI_EKEYREJECTED} if the key of one side is not trusted by the other.
 */
public record TlsFailure(int errno, String text) {
    /** Alerts about the key of this side. */
    private static final List<String> REFUSALS =
        List.of("certificate", "unknown_ca", "access_denied", "handshake_failure");

    /** Classifies what an engine has thrown. Returns the errno and text. */
    public static TlsFailure of(SSLException failed) {
        for (Throwable cause = failed; cause != null; cause = cause.getCause()) {
            if (cause instanceof CertificateException || cause instanceof CertPathValidatorException
                || cause instanceof CertPathBuilderException) {
                return new TlsFailure(FabricErrno.EKEYREJECTED,
                    "has a certificate that no trusted one proves: " + cause.getMessage());
            }
        }
        String text = String.valueOf(failed.getMessage());
        if (text.contains("Received fatal alert")) {
            boolean isAboutKey = REFUSALS.stream().anyMatch(text::contains);
            return new TlsFailure(
                isAboutKey ? FabricErrno.EKEYREJECTED : FabricErrno.EIO, "refuses this driver: " + text);
        }
        if (text.contains("Empty client certificate chain")) {
            return new TlsFailure(
                FabricErrno.EKEYREJECTED, "has no certificate of an authority that is trusted here");
        }
        return new TlsFailure(FabricErrno.EIO, "sent bytes that are no records of this connection: " + text);
    }
}
