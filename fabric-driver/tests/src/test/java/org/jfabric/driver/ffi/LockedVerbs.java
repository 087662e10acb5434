package org.jfabric.driver.ffi;

import java.lang.reflect.Proxy;

/** A {@link FakeVerbs} for whole drivers: their threads use it in turn, and those of its network too. */
public final class LockedVerbs {
    private final FakeVerbs fake;
    private final Object lock;
    private final VerbsLibraries libraries;

    /**
     * For one process.
     *
     * @param fake that is used, by calls under the lock.
     * @param lock of the whole network.
     */
    public LockedVerbs(FakeVerbs fake, Object lock) {
        this.fake = fake;
        this.lock = lock;
        VerbsDataPath path = new LockedPath();
        Object proxy = Proxy.newProxyInstance(
            LockedVerbs.class.getClassLoader(), new Class<?>[] {Ibverbs.class, RdmaCm.class}, (self, method, args) -> {
                synchronized (lock) {
                    return method.getName().equals("dataPath") ? path : method.invoke(fake, args);
                }
            });
        libraries = new VerbsLibraries((Ibverbs) proxy, (RdmaCm) proxy);
    }

    /**
     * As bound libraries.
     *
     * @return the same always.
     */
    public VerbsLibraries libraries() {
        return libraries;
    }

    /**
     * Changes the device.
     *
     * @param change made while no thread uses it.
     */
    public void change(Runnable change) {
        synchronized (lock) {
            change.run();
        }
    }

    private final class LockedPath extends VerbsDataPath {
        @Override
        public int postSend(long queuePair, long request) {
            synchronized (lock) {
                return fake.dataPath.postSend(queuePair, request);
            }
        }

        @Override
        public int postReceive(long queuePair, long request) {
            synchronized (lock) {
                return fake.dataPath.postReceive(queuePair, request);
            }
        }

        @Override
        public int postSharedReceive(long sharedQueue, long request) {
            synchronized (lock) {
                return fake.dataPath.postSharedReceive(sharedQueue, request);
            }
        }

        @Override
        public int poll(long queue, WorkCompletions completions) {
            synchronized (lock) {
                return fake.dataPath.poll(queue, completions);
            }
        }

        @Override
        public int arm(long queue) {
            synchronized (lock) {
                return fake.dataPath.arm(queue);
            }
        }
    }
}
