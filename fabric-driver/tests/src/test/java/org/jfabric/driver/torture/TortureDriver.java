package org.jfabric.driver.torture;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;
import org.jfabric.driver.FabricDriver;

/** A daemon as users run it, with {@link Canaries} in its process, which answers how much of its heap is in use. */
final class TortureDriver {
    /** Property of the folder for the canaries. */
    static final String FOLDER = "torture.folder";

    private static final long GRACE_NS = 5_000_000_000L;

    private TortureDriver() {
    }

    public static void main(String[] args) {
        Canaries.start(Path.of(System.getProperty(FOLDER)), fault -> System.out.println("fault " + fault));
        Thread answers = new Thread(TortureDriver::answer, "answers");
        answers.setDaemon(true);
        answers.start();
        FabricDriver.main(args);
    }

    /** One answer for each line. */
    private static void answer() {
        try (BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            while (in.readLine() != null) {
                System.gc();
                Runtime runtime = Runtime.getRuntime();
                System.out.println("census " + (runtime.totalMemory() - runtime.freeMemory()));
            }
        } catch (IOException e) {
            System.out.println("fault " + e);
        }
        // the controller has ended, or ends this process in order
        LockSupport.parkNanos(GRACE_NS);
        Runtime.getRuntime().halt(4);
    }
}
