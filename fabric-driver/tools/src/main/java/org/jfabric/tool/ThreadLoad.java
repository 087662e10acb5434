package org.jfabric.tool;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/**
 * How long one thread waited for a core, and its page faults, between two samples, from {@code /proc}. Owner: one
 * thread, which need not be the one that is watched.
 */
final class ThreadLoad implements AutoCloseable {
    private static final int FAULTS_WORD = 7;
    private static final int MAJOR_FAULTS_WORD = 9;
    private static final int LONGEST_LINE = 1024;

    private final String who;
    private final RandomAccessFile schedule;
    private final RandomAccessFile state;
    private final byte[] line = new byte[LONGEST_LINE];
    private long sampledNs;
    private long waitedNs;
    private long faults;
    private long majorFaults;

    /**
     * Opens the files.
     *
     * @throws IOException if there is no such thread, or the kernel does not count.
     */
    ThreadLoad(String who, Path thread) throws IOException {
        this.who = who;
        schedule = new RandomAccessFile(thread.resolve("schedstat").toFile(), "r");
        RandomAccessFile opened = null;
        try {
            opened = new RandomAccessFile(thread.resolve("stat").toFile(), "r");
            state = opened;
            read();
        } catch (IOException | NumberFormatException | IndexOutOfBoundsException ex) {
            schedule.close();
            if (opened != null) {
                opened.close();
            }
            throw ex instanceof IOException failed ? failed : new IOException(thread + " has another form", ex);
        }
    }

    /** Watches the calling thread. */
    static ThreadLoad ofThisThread(String who) throws IOException {
        return new ThreadLoad(who, Path.of("/proc/thread-self"));
    }

    /** Watches a thread of any process of this user. Returns null if there is no such thread. */
    static ThreadLoad of(String who, long pid, long thread) {
        try {
            return new ThreadLoad(who, Path.of("/proc/" + pid + "/task/" + thread));
        } catch (IOException ex) {
            return null;
        }
    }

    /** Adds what happened since the last sample. Returns false if the thread has ended. */
    boolean sample(List<Cause> causes) {
        long beforeNs = sampledNs;
        long waitedBefore = waitedNs;
        long faultsBefore = faults;
        long majorBefore = majorFaults;
        try {
            read();
        } catch (IOException | NumberFormatException | IndexOutOfBoundsException ex) {
            return false;
        }
        if (waitedNs > waitedBefore) {
            causes.add(new Cause(who, Cause.Kind.PREEMPTED, beforeNs, sampledNs, waitedNs - waitedBefore, ""));
        }
        long more = faults - faultsBefore + majorFaults - majorBefore;
        if (more > 0) {
            causes.add(new Cause(who, Cause.Kind.PAGE_FAULTS, beforeNs, sampledNs, more,
                majorFaults > majorBefore ? majorFaults - majorBefore + " from storage" : ""));
        }
        return true;
    }

    private void read() throws IOException {
        waitedNs = Long.parseLong(text(schedule).split(" ")[1]);
        String text = text(state);
        // the name in parentheses may hold anything
        String[] words = text.substring(text.lastIndexOf(')') + 2).split(" ");
        faults = Long.parseLong(words[FAULTS_WORD]);
        majorFaults = Long.parseLong(words[MAJOR_FAULTS_WORD]);
        sampledNs = System.nanoTime();
    }

    private String text(RandomAccessFile file) throws IOException {
        file.seek(0);
        int length = file.read(line);
        if (length <= 0) {
            throw new FileNotFoundException("the thread has ended");
        }
        return new String(line, 0, length, StandardCharsets.US_ASCII).strip();
    }

    @Override
    public void close() {
        try {
            schedule.close();
            state.close();
        } catch (IOException ex) {
            // they were only read
            return;
        }
    }
}
