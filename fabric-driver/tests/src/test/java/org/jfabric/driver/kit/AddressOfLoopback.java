package org.jfabric.driver.kit;

import java.util.List;
import org.jfabric.test.TestProcess;

/** A further address of the loopback interface, which comes and goes. */
public final class AddressOfLoopback implements AutoCloseable {
    private final String address;

    /** Not there yet; each test has a number of its own, for tests that run at the same time. */
    public AddressOfLoopback(int test) {
        address = "198.18." + (98 + test) + '.' + (1 + ProcessHandle.current().pid() % 250);
    }

    /** Returns false if this process may not do that. */
    public boolean add() {
        return isChanged("add");
    }

    /** Returns false if it was not there. */
    public boolean remove() {
        return isChanged("del");
    }

    private boolean isChanged(String how) {
        return TestProcess.start(List.of("ip", "addr", how, address + "/32", "dev", "lo")).ended().status() == 0;
    }

    @Override
    public void close() {
        remove();
    }

    @Override
    public String toString() {
        return address;
    }
}
