package org.jfabric.perf.compare;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedMethod;
import jdk.jfr.consumer.RecordingFile;

/**
 * Samples every millisecond what a thread executes, with the JVM's flight recorder, and names the part of a message's
 * way by the call of the API and the package. A sample costs microseconds, so profiled passes are not timed.
 */
final class Profiler {
    private static final String EVENT = "jdk.ExecutionSample";
    private static final Duration PERIOD = Duration.ofMillis(1);
    private static final String OURS = "org.jfabric.";
    private static final String OTHERS = "the test's own loop";
    /** For example the loop of a driver's agent. */
    private static final String OUTSIDE = "outside of JFabric";
    /** Part of a message's way for each method of the API. */
    private static final Map<String, String> CALLS = Map.of(
        "tsend", "send", "send", "send", "inject", "send", "trecv", "post the receive", "recv", "post the receive",
        "poll", "poll");
    /** Places, by package; the first match counts. Flyweights and rings count for their callers. */
    private static final List<Map.Entry<String, String>> PLACES = List.of(
        Map.entry("org.jfabric.perf.", OTHERS),
        Map.entry("org.jfabric.tool.", OTHERS),
        Map.entry("org.jfabric.driver.engine.match.", "matching"),
        Map.entry("org.jfabric.driver.engine.", "receiver"),
        Map.entry("org.jfabric.driver.engine.", "sender"),
        Map.entry("org.jfabric.driver.engine.", "peer and credit"),
        Map.entry("org.jfabric.driver.engine.", "completion written"),
        Map.entry("org.jfabric.driver.engine.", "engine"),
        Map.entry("org.jfabric.driver.link.", "link: ring and frames"),
        Map.entry("org.jfabric.driver.progress.QueuePoller", "queues of clients"),
        Map.entry("org.jfabric.driver.progress.ProgressClient", "queues of clients"),
        Map.entry("org.jfabric.driver.progress.EndpointQueues", "queues of clients"),
        Map.entry("org.jfabric.driver.", "duty cycle"),
        Map.entry("org.jfabric.", "client"));

    private final String thread;
    private final Recording recording = new Recording();

    /** Starts sampling. */
    Profiler(String thread) {
        this.thread = thread;
        recording.enable(EVENT).withPeriod(PERIOD);
        recording.start();
    }

    Profile end(Path folder) {
        recording.stop();
        Map<String, Integer> samples = new TreeMap<>();
        try {
            Path file = Files.createTempFile(folder, "profile", ".jfr");
            recording.dump(file);
            for (RecordedEvent event : RecordingFile.readAllEvents(file)) {
                if (event.getEventType().getName().equals(EVENT) && event.getStackTrace() != null
                    && thread.equals(event.getThread("sampledThread").getJavaName())) {
                    samples.merge(part(event.getStackTrace().getFrames()), 1, Integer::sum);
                }
            }
            Files.delete(file);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        } finally {
            recording.close();
        }
        return new Profile(samples);
    }

    /** Frames come with the innermost first. */
    private static String part(List<RecordedFrame> frames) {
        String place = null;
        String call = null;
        for (RecordedFrame frame : frames) {
            RecordedMethod method = frame.getMethod();
            String type = method.getType().getName();
            if (place == null) {
                place = place(type);
            }
            // the outermost one of the public API
            if (type.startsWith(OURS) && type.indexOf('.', OURS.length()) < 0 && CALLS.containsKey(method.getName())) {
                call = CALLS.get(method.getName());
            }
        }
        if (place == null) {
            return OUTSIDE;
        }
        // a driver's own thread is in no call
        return place.equals(OTHERS) || call == null ? place : call + ": " + place;
    }

    /** Null for a class that counts for the one that uses it. */
    private static String place(String type) {
        if (!type.startsWith(OURS) || type.startsWith("org.jfabric.codec.") || type.startsWith("org.jfabric.layout.")) {
            return null;
        }
        for (Map.Entry<String, String> each : PLACES) {
            if (type.startsWith(each.getKey())) {
                return each.getValue();
            }
        }
        return null;
    }
}
