package org.jfabric.driver.link.shm;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/** Alpha, which sends to beta; what goes wrong between the two must not disturb gamma. One thread runs all. */
abstract class ThreeShmNodes {
    @TempDir
    Path base;
    ShmNode alpha;
    ShmNode beta;
    ShmNode gamma;
    long toBeta;
    long toGamma;

    @BeforeEach
    void start() throws IOException {
        Files.setPosixFilePermissions(base, PosixFilePermissions.fromString("rwx------"));
        alpha = new ShmNode(base, "alpha");
        beta = new ShmNode(base, "beta");
        gamma = new ShmNode(base, "gamma");
        toBeta = alpha.addresses.insert(ShmNode.address("beta"));
        toGamma = alpha.addresses.insert(ShmNode.address("gamma"));
    }

    @AfterEach
    void stop() {
        alpha.close();
        beta.close();
        gamma.close();
    }

    final void steps(int count) {
        for (int i = 0; i < count; i++) {
            alpha.step();
            beta.step();
            gamma.step();
        }
    }

    final ShmNode.Entry await(ShmNode node) {
        for (int i = 0; i < 100_000; i++) {
            ShmNode.Entry entry = node.poll();
            if (entry != null) {
                return entry;
            }
            steps(1);
        }
        throw new AssertionError("no completion; errors " + alpha.services.errors + " and " + beta.services.errors);
    }
}
