package org.jfabric.client;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jfabric.ffi.Libc;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Where drivers and clients meet while another user makes and removes the folder in shared memory. */
class DefaultDirectoryTest {
    private final long uid = Libc.geteuid();
    // a tmpfs
    private final Path root = TestDirectory.create();
    private final Path shared = root.resolve("shm");
    private final Path runtime = root.resolve("run");
    private final Path fallback = runtime.resolve("jfabric");

    @AfterEach
    void delete() {
        TestDirectory.delete(root);
    }

    /** Stands for the folder of another user: no user can make one of those without being root. */
    private void makeForeign() throws IOException {
        Files.createSymbolicLink(shared, root);
    }

    private Path base() {
        return DefaultDirectory.base(shared, runtime, uid);
    }

    @Test
    void shouldUseSharedMemoryUnlessAnotherUserWasThereFirst() throws IOException {
        assertEquals(shared, base(), "nothing is there");
        Files.createDirectory(runtime);
        assertEquals(shared, base(), "nothing is in shared memory");
        Files.createDirectory(shared);
        assertEquals(shared, base(), "it is this user's");
        Files.createDirectory(fallback);
        assertEquals(shared, base(), "it is this user's, and no other can take it");
        assertEquals(shared, DefaultDirectory.base(shared, runtime, uid + 1), "both are another user's");
    }

    @Test
    void shouldUseTheRuntimeFolderAsLongAsADriverHasUsedIt() throws IOException {
        makeForeign();
        assertEquals(shared, base(), "there is no other place: the driver says whose folder it is");
        Files.createDirectory(runtime);
        assertEquals(fallback, base());
        Files.createDirectory(fallback);
        assertEquals(fallback, base());
        // what makes driver and client disagree if only the folder in shared memory were looked at
        Files.delete(shared);
        assertEquals(fallback, base(), "the other user has removed the folder again");
        Files.delete(fallback);
        assertEquals(shared, base());
    }
}
