package org.jfabric.driver;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.agrona.concurrent.AtomicBuffer;
import org.agrona.concurrent.EpochClock;
import org.agrona.concurrent.errors.DistinctErrorLog;

/**
 * The distinct error log, of which one kind of error can take only a part. Agrona's log has a record for each text: a
 * peer whose refusals have different numbers in them would fill it, and the errors that matter later would be missing.
 * So errors of one class and one stack have {@value #TEXTS} records. Further ones count as observations of the last of
 * these.
 *
 * <p>Not for several threads at a time.
 */
final class DistinctErrors {
    private static final int TEXTS = 16;

    private record Kind(Class<?> type, List<StackTraceElement> stack) {
    }

    private final DistinctErrorLog log;
    /** What was recorded, by its text; the oldest first. */
    private final Map<Kind, LinkedHashMap<String, Throwable>> recorded = new HashMap<>();

    /**
     * Makes an empty log.
     *
     * @param buffer of zeros.
     * @param clock  for the times of observations.
     */
    DistinctErrors(AtomicBuffer buffer, EpochClock clock) {
        log = new DistinctErrorLog(buffer, clock, StandardCharsets.UTF_8);
    }

    /**
     * Records an observation.
     *
     * @param error what was thrown, or would have been.
     * @return false if there is no room.
     */
    boolean record(Throwable error) {
        LinkedHashMap<String, Throwable> alike = recorded.computeIfAbsent(
            new Kind(error.getClass(), List.of(error.getStackTrace())), kind -> new LinkedHashMap<>());
        String message = String.valueOf(error.getMessage());
        Throwable shown = alike.size() < TEXTS ? alike.computeIfAbsent(message, text -> error)
            : alike.getOrDefault(message, alike.lastEntry().getValue());
        return log.record(shown);
    }
}
