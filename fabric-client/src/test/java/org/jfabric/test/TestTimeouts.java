package org.jfabric.test;

import java.lang.reflect.Method;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;
import org.junit.platform.commons.support.AnnotationSupport;

/**
 * Makes {@link Timeout} mean seconds of a quiet machine, like every {@link Deadline}. JUnit's own reading of the
 * annotation is turned off in {@code junit-platform.properties}. What is over tells what all threads were doing.
 */
public final class TestTimeouts implements InvocationInterceptor {
    private static final int FRAMES = 20;
    private static final ScheduledExecutorService TIMER = Executors.newSingleThreadScheduledExecutor(work -> {
        Thread thread = new Thread(work, "test timeouts");
        thread.setDaemon(true);
        return thread;
    });

    @Override
    public void interceptTestMethod(
        Invocation<Void> invocation, ReflectiveInvocationContext<Method> method, ExtensionContext context)
        throws Throwable {
        limited(invocation, context);
    }

    @Override
    public void interceptTestTemplateMethod(
        Invocation<Void> invocation, ReflectiveInvocationContext<Method> method, ExtensionContext context)
        throws Throwable {
        limited(invocation, context);
    }

    @Override
    public <T> T interceptTestFactoryMethod(
        Invocation<T> invocation, ReflectiveInvocationContext<Method> method, ExtensionContext context)
        throws Throwable {
        return limited(invocation, context);
    }

    private static <T> T limited(Invocation<T> invocation, ExtensionContext context) throws Throwable {
        Optional<Timeout> limit = AnnotationSupport.findAnnotation(context.getRequiredTestMethod(), Timeout.class);
        for (Class<?> each = context.getRequiredTestClass(); limit.isEmpty() && each != null;) {
            limit = AnnotationSupport.findAnnotation(each, Timeout.class);
            each = each.getEnclosingClass();
        }
        if (limit.isEmpty()) {
            return invocation.proceed();
        }
        long ns = (long) (limit.get().unit().toNanos(limit.get().value()) * Deadline.slowness());
        return limit.get().threadMode() == Timeout.ThreadMode.SEPARATE_THREAD ? inThread(invocation, ns)
            : interrupted(invocation, ns);
    }

    /** Interrupts the caller's thread when the time is over. */
    static <T> T interrupted(Invocation<T> invocation, long ns) throws Throwable {
        Thread thread = Thread.currentThread();
        AtomicReference<TimeoutException> over = new AtomicReference<>();
        Object end = new Object();
        Future<?> timer = TIMER.schedule(() -> {
            synchronized (end) {
                if (over.compareAndSet(null, timeout(thread, ns))) {
                    thread.interrupt();
                }
            }
        }, ns, TimeUnit.NANOSECONDS);
        T result = null;
        Throwable failure = null;
        try {
            result = invocation.proceed();
        } catch (Throwable e) {
            failure = e;
        }
        synchronized (end) {
            timer.cancel(false);
            if (!over.compareAndSet(null, new TimeoutException("not over"))) {
                // of the interrupt
                Thread.interrupted();
                if (failure != null) {
                    over.get().addSuppressed(failure);
                }
                failure = over.get();
            }
        }
        if (failure != null) {
            throw failure;
        }
        return result;
    }

    /** Leaves the test to itself when the time is over: for what no interrupt ends, as reading a process's output. */
    static <T> T inThread(Invocation<T> invocation, long ns) throws Throwable {
        AtomicReference<T> result = new AtomicReference<>();
        AtomicReference<Throwable> failure = new AtomicReference<>();
        Thread thread = new Thread(() -> {
            try {
                result.set(invocation.proceed());
            } catch (Throwable e) {
                failure.set(e);
            }
        }, Thread.currentThread().getName() + " (test)");
        thread.setDaemon(true);
        thread.start();
        thread.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(ns)));
        if (thread.isAlive()) {
            TimeoutException over = timeout(thread, ns);
            thread.interrupt();
            throw over;
        }
        if (failure.get() != null) {
            throw failure.get();
        }
        return result.get();
    }

    private static TimeoutException timeout(Thread test, long ns) {
        TimeoutException result = new TimeoutException("the test did not end within "
            + TimeUnit.NANOSECONDS.toMillis(ns) + " ms, slowness " + Deadline.slowness() + "; threads:" + threads());
        result.setStackTrace(test.getStackTrace());
        return result;
    }

    /** What all threads of this JVM do, a line for each frame. */
    static String threads() {
        StringBuilder text = new StringBuilder();
        Map<String, StackTraceElement[]> stacks = new TreeMap<>();
        Thread.getAllStackTraces().forEach((thread, stack) -> stacks.put(
            thread.getName() + ' ' + thread.threadId() + ' ' + thread.getState(), stack));
        stacks.forEach((name, stack) -> {
            text.append('\n').append(name);
            for (int i = 0; i < Math.min(stack.length, FRAMES); i++) {
                text.append("\n    at ").append(stack[i]);
            }
        });
        return text.toString();
    }
}
