package org.jfabric.client;

/** An embedded driver at whose objects no thread sleeps, for tests of what its cycles are for. */
public abstract class SleeplessDriver extends EmbeddedDriver {
    @Override
    public boolean prepareSleep() {
        return true;
    }

    @Override
    public void cancelSleep() {
    }

    @Override
    public void wakeSleepers() {
    }

    @Override
    public void addSleeper(Sleeper sleeper) {
    }

    @Override
    public void removeSleeper(Sleeper sleeper) {
    }

    @Override
    public int catchUp(int messageLimit) {
        return cycle(messageLimit);
    }

    @Override
    protected void settle() {
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public void pause() {
        Thread.yield();
    }
}
