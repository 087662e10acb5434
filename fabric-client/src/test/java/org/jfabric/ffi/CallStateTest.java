package org.jfabric.ffi;

import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.Test;

class CallStateTest {
    @Test
    void shouldHaveOneForEachThreadForAsLongAsItLives() throws Exception {
        CallState first = CallState.current();
        System.gc();
        assertSame(first, CallState.current());
        try (ExecutorService other = Executors.newSingleThreadExecutor()) {
            assertNotSame(first, other.submit(CallState::current).get());
        }
    }

    /** Applications are loaded and dropped again in servers and shells, whose threads remain. */
    @Test
    void shouldNotKeepAClassLoaderThatNothingElseReaches() throws Exception {
        try (ExecutorService thread = Executors.newSingleThreadExecutor()) {
            WeakReference<ClassLoader> loader = thread.submit(CallStateTest::callInALoaderOfItsOwn).get();
            // the thread has other work
            thread.submit(() -> { }).get();
            Deadline.awaitParked(() -> "the class loader is reachable", () -> {
                System.gc();
                return loader.get() == null;
            });
            assertTrue(loader.refersTo(null));
        }
    }

    private static WeakReference<ClassLoader> callInALoaderOfItsOwn() throws Exception {
        URL classes = Libc.class.getProtectionDomain().getCodeSource().getLocation();
        ClassLoader loader = new URLClassLoader(new URL[] {classes}, ClassLoader.getPlatformClassLoader());
        Class<?> loaded = loader.loadClass(Libc.class.getName());
        assertNotSame(Libc.class, loaded);
        loaded.getMethod("geteuid").invoke(null);
        return new WeakReference<>(loader);
    }
}
