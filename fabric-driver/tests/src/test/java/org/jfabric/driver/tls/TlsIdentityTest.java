package org.jfabric.driver.tls;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.Collections;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSession;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.kit.TestKeys;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TlsIdentityTest {
    private static final int CONNECTIONS = 20;

    @TempDir
    private Path folder;
    private final ByteBuffer plain = ByteBuffer.allocate(1 << 15);

    /** A peer that connects again and again must not fill the heap with sessions that are never resumed. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldKeepNoSessionsOfClosedConnections(boolean isForStreams) throws SSLException {
        TlsIdentity client = identity(isForStreams, "a", "b");
        TlsIdentity server = identity(isForStreams, "b", "a");
        SSLSession last = null;
        SSLSession lastOfClient = null;
        for (int i = 0; i < CONNECTIONS; i++) {
            SSLEngine connecting = client.engine(true);
            SSLEngine accepting = server.engine(false);
            shake(connecting, accepting);
            assertEquals(TlsIdentity.fingerprint(TestKeys.key("b").certificate()), TlsIdentity.peerKey(connecting));
            last = accepting.getSession();
            lastOfClient = connecting.getSession();
        }
        assertTrue(kept(last) + kept(lastOfClient) <= 2, () -> "sessions are kept");
    }

    private static int kept(SSLSession session) {
        return Collections.list(session.getSessionContext().getIds()).size();
    }

    /** What a pinned certificate's key has signed is admitted by none, nor what has expired, in both directions. */
    @ParameterizedTest
    @CsvSource({
        // key of the peer, certificate that is pinned, authority, admitted
        "alpha, alpha, none, true",
        "mallory@alpha, alpha, none, false",
        "mallory@expired, expired, none, false",
        "expired, expired, none, false",
        "alpha@authority, beta, authority, true",
        "alpha@authority, alpha@authority, none, true",
        "alpha@authority, beta, other-authority, false",
        "expired@authority, beta, authority, false",
        "alpha@expired-authority, beta, expired-authority, false",
        "mallory@alpha, alpha, authority, false"})
    void shouldAdmitPinnedCertificatesAndWhatAuthoritiesHaveIssued(
        String peer, String pinned, String authority, boolean isAdmitted) throws SSLException {
        for (boolean isForStreams : new boolean[] {true, false}) {
            TestKeys.Folder files = TestKeys.files(folder, "a", pinned);
            if (!authority.equals("none")) {
                files.authorities("third-authority", authority);
            }
            TlsIdentity one = identity(isForStreams, files);
            TlsIdentity other = identity(isForStreams, peer, "a");
            if (isAdmitted) {
                shake(one.engine(true), other.engine(false));
                shake(other.engine(true), one.engine(false));
            } else {
                assertRefused(() -> shake(one.engine(true), other.engine(false)));
                assertRefused(() -> shake(other.engine(true), one.engine(false)));
            }
        }
    }

    private static void assertRefused(Executable handshake) {
        TlsFailure failure = TlsFailure.of(assertThrows(SSLException.class, handshake));
        assertEquals(FabricErrno.EKEYREJECTED, failure.errno());
        assertTrue(failure.text().contains("has a certificate that no trusted one proves"), failure.text());
    }

    @Test
    void shouldNeedNoPinnedCertificateWhenThereAreAuthorities() throws IOException {
        TestKeys.Folder files = TestKeys.files(folder, "a", "b").authorities("authority");
        Files.delete(files.folder().resolve("trusted.pem"));
        shake(identity(true, files).engine(true), identity(true, "b@authority", "a").engine(false));
        FabricException missing =
            assertThrows(FabricException.class, () -> identity(true, files.authorities("b@authority")));
        assertEquals(FabricErrno.EINVAL, missing.errno());
        assertTrue(missing.getMessage().contains("may not issue others"), missing.getMessage());
    }

    /** What the page says makes the certificate of a peer, not one of an authority. */
    @Test
    void shouldMakeNoAuthorityByTheCommandOfThePage() throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/openssl")), "there is no openssl");
        Matcher command = Pattern.compile("openssl req -x509[^\n]*\\\\\n[^\n]*")
            .matcher(Files.readString(Path.of("../docs/security.md")));
        assertTrue(command.find());
        Process made = new ProcessBuilder("sh", "-c", command.group()).directory(folder.toFile())
            .redirectErrorStream(true).redirectInput(new File("/dev/null")).start();
        String output = new String(made.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, made.waitFor(), output);
        try (InputStream in = Files.newInputStream(folder.resolve("certificate.pem"))) {
            X509Certificate certificate =
                (X509Certificate) CertificateFactory.getInstance("X.509").generateCertificate(in);
            assertEquals(-1, certificate.getBasicConstraints());
        }
    }

    private TlsIdentity identity(boolean isForStreams, String key, String trusted) {
        return identity(isForStreams, TestKeys.files(folder, key, trusted));
    }

    private static TlsIdentity identity(boolean isForStreams, TestKeys.Folder files) {
        DriverConfig.Builder config = DriverConfig.builder();
        String[] options = files.options();
        for (int i = 0; i < options.length; i += 2) {
            config.set(options[i], options[i + 1]);
        }
        return isForStreams ? TlsIdentity.ofStreams(config.build())
            : TlsIdentity.ofDatagrams(config.build());
    }

    private void shake(SSLEngine one, SSLEngine two) throws SSLException {
        ByteBuffer there = ByteBuffer.allocate(1 << 17).limit(0);
        ByteBuffer back = ByteBuffer.allocate(1 << 17).limit(0);
        one.beginHandshake();
        two.beginHandshake();
        for (int i = 0; i < 400; i++) {
            step(one, back, there);
            step(two, there, back);
        }
        assertEquals(HandshakeStatus.NOT_HANDSHAKING, one.getHandshakeStatus());
        assertEquals(HandshakeStatus.NOT_HANDSHAKING, two.getHandshakeStatus());
    }

    private void step(SSLEngine engine, ByteBuffer in, ByteBuffer out) throws SSLException {
        switch (engine.getHandshakeStatus()) {
            case NEED_TASK -> {
                for (Runnable task = engine.getDelegatedTask(); task != null; task = engine.getDelegatedTask()) {
                    task.run();
                }
            }
            case NEED_WRAP -> {
                engine.wrap(ByteBuffer.allocate(0), out.compact());
                out.flip();
            }
            default -> {
                if (in.hasRemaining() || engine.getHandshakeStatus() == HandshakeStatus.NEED_UNWRAP_AGAIN) {
                    engine.unwrap(in, plain.clear());
                }
            }
        }
    }
}
