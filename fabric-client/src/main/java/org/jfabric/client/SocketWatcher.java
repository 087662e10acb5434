package org.jfabric.client;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.agrona.UnsafeApi;
import org.jfabric.ffi.Epoll;
import org.jfabric.ffi.UnixSocket;
import org.jfabric.info.FabricErrno;

/**
 * The one thread of an attached client: parked on the driver's socket, it hands on that bytes or the end of file came.
 *
 * <p>It also knows how long it meant to sleep, so that it notices when the whole process did not run.
 */
final class SocketWatcher {
    private static final int BUFFER_LENGTH = 256;
    private static final int SLEEP_MS = 1000;
    private static final long SLEEP_NS = TimeUnit.MILLISECONDS.toNanos(SLEEP_MS);
    private static final long JOIN_NS = TimeUnit.SECONDS.toNanos(5);

    /** Handles the events of the socket; called by the watching thread. */
    interface Handler {
        void onBytes();

        void onEnd();

        void onPause(long pauseNs);

        /** The last call: the socket is not used any more. */
        void onStopped();
    }

    private final Doorbell socket;
    private final Handler handler;
    private final Epoll epoll = new Epoll(1);
    private final long buffer = UnsafeApi.allocateMemory(BUFFER_LENGTH);
    private final long pauseThresholdNs;
    private volatile Thread thread;
    /** The end was handled by {@link #poll()}. */
    private boolean hasEnded;

    SocketWatcher(Doorbell socket, Handler handler, long pauseThresholdNs) {
        this.socket = socket;
        this.handler = handler;
        this.pauseThresholdNs = pauseThresholdNs;
        epoll.add(socket.fd(), Epoll.EPOLLIN | Epoll.EPOLLRDHUP, 0);
    }

    void start(String name) {
        Thread started = new Thread(this::run, name);
        started.setDaemon(true);
        thread = started;
        started.start();
    }

    /**
     * Waits for the thread, after the socket was shut down; the thread does not wait for itself. True if it has
     * ended.
     */
    boolean join() {
        Thread started = thread;
        if (started == null) {
            stop();
            return true;
        }
        if (started != Thread.currentThread()) {
            long endNs = System.nanoTime() + JOIN_NS;
            boolean interrupted = false;
            while (started.isAlive() && System.nanoTime() - endNs < 0) {
                try {
                    started.join(Duration.ofNanos(endNs - System.nanoTime()));
                } catch (InterruptedException again) {
                    interrupted = true;
                }
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
        return !started.isAlive();
    }

    boolean isWatcher() {
        return Thread.currentThread() == thread;
    }

    /** Sleeps until something comes, once; false after the end. Owner: the watching thread. */
    private boolean watch() {
        long beforeNs = System.nanoTime();
        int ready = epoll.poll(SLEEP_MS);
        long pauseNs = System.nanoTime() - beforeNs - SLEEP_NS;
        if (pauseNs > pauseThresholdNs) {
            handler.onPause(pauseNs);
        }
        return handle(ready);
    }

    /** Handles what has come; for a client without the thread. True if there was something. */
    boolean poll() {
        if (hasEnded) {
            return false;
        }
        int ready = epoll.poll(0);
        hasEnded = !handle(ready);
        return ready != 0;
    }

    private boolean handle(int ready) {
        if (ready != 0) {
            int result = drain();
            if (result == 0 || result < 0 && result != -FabricErrno.EAGAIN && result != -FabricErrno.EINTR) {
                handler.onEnd();
                return false;
            }
            handler.onBytes();
        }
        return true;
    }

    private void run() {
        while (watch()) {
            Thread.onSpinWait();
        }
        stop();
    }

    private int drain() {
        int result;
        do {
            result = UnixSocket.recv(socket.fd(), buffer, BUFFER_LENGTH, UnixSocket.MSG_DONTWAIT);
        } while (result > 0);
        return result;
    }

    private void stop() {
        epoll.close();
        UnsafeApi.freeMemory(buffer);
        handler.onStopped();
    }
}
