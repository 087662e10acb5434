package org.jfabric.driver.tls;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Collections;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSession;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.kit.TestKeys;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
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

    private TlsIdentity identity(boolean isForStreams, String key, String trusted) {
        DriverConfig.Builder config = DriverConfig.builder();
        String[] options = TestKeys.files(folder, key, trusted).options();
        for (int i = 0; i < options.length; i += 2) {
            config.set(options[i], options[i + 1]);
        }
        return isForStreams ? TlsIdentity.ofStreams(config.build().tls())
            : TlsIdentity.ofDatagrams(config.build().tls());
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
