package org.jfabric.driver.torture;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Files that are opened and closed all the time in a process of a driver or client, so that they get the numbers of
 * descriptors that the product has closed. A product that used such a number once more would close or write one of
 * these, which is noticed.
 */
final class Canaries {
    private static final int COUNT = 12;
    private static final long PAUSE_NS = 20_000_000;
    private static final Path DESCRIPTORS = Path.of("/proc/self/fd");

    /** An open file without a name and without a byte in it. */
    private record Canary(Path path, FileChannel channel, Path descriptor) {
    }

    private final Path folder;
    private final Consumer<String> faults;
    private final SplittableRandom random = new SplittableRandom(ProcessHandle.current().pid());
    private final List<Canary> canaries = new ArrayList<>();

    Canaries(Path folder, Consumer<String> faults) {
        this.folder = folder;
        this.faults = faults;
    }

    /** In a thread of its own, until the process ends. */
    static void start(Path folder, Consumer<String> faults) {
        Canaries canaries = new Canaries(folder, faults);
        Thread thread = new Thread(() -> {
            while (true) {
                LockSupport.parkNanos(PAUSE_NS);
                canaries.step();
            }
        }, "canaries");
        thread.setDaemon(true);
        thread.start();
    }

    /** One more, or another one in the place of an old one; all are checked. */
    void step() {
        try {
            if (canaries.size() < COUNT) {
                canaries.add(open());
            }
            check();
            if (canaries.size() == COUNT) {
                canaries.remove(random.nextInt(COUNT)).channel.close();
            }
        } catch (IOException e) {
            // that no descriptor is left is done on purpose
            if (e.getMessage() == null || !e.getMessage().contains("Too many open files")) {
                faults.accept("canaries: " + e);
            }
        }
    }

    /** As if somebody else had closed the first one. */
    void lose() throws IOException {
        canaries.getFirst().channel.close();
    }

    private Canary open() throws IOException {
        // an earlier process that was killed may have had the same number and left such a file
        Path path = Files.createTempFile(folder, "canary-", "");
        FileChannel channel = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE);
        try (Stream<Path> descriptors = Files.list(DESCRIPTORS)) {
            Path descriptor = descriptors.filter(each -> path.equals(target(each))).findFirst()
                .orElseThrow(() -> new IOException("the descriptor of " + path + " was closed at once"));
            Files.delete(path);
            return new Canary(Path.of(path + " (deleted)"), channel, descriptor);
        } catch (UncheckedIOException e) {
            channel.close();
            throw e.getCause();
        } catch (IOException e) {
            channel.close();
            throw e;
        }
    }

    private void check() throws IOException {
        for (Canary each : canaries) {
            Path target = target(each.descriptor);
            if (!each.path.equals(target)) {
                faults.accept("descriptor " + each.descriptor.getFileName() + " of another owner was closed, it is now "
                    + target);
            } else if (each.channel.size() != 0 || each.channel.position() != 0) {
                faults.accept("descriptor " + each.descriptor.getFileName() + " of another owner was used");
            }
        }
    }

    private static Path target(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor);
        } catch (IOException e) {
            return null;
        }
    }
}
