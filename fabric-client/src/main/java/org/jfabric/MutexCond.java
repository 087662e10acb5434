package org.jfabric;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/**
 * A lock and its condition, which is signalled while the lock is held (fi_mutex_cond).
 *
 * <pre>{@code
 * pair.lock().lock();
 * try {
 *     while (queue.tryWait() == 0) {
 *         pair.condition().await();
 *     }
 * } finally {
 *     pair.lock().unlock();
 * }
 * }</pre>
 *
 * <p>The lock must be held from {@code tryWait} to {@code await}, else a signal in between is missed.
 *
 * @param lock      to be held around {@code tryWait} and {@code await}.
 * @param condition signalled for all waiters, sometimes without a reason.
 */
public record MutexCond(Lock lock, Condition condition) {
}
