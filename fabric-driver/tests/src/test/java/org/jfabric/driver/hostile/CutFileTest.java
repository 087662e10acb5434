package org.jfabric.driver.hostile;

/** Cut files under a driver with one thread. */
class CutFileTest extends CutFiles {
    CutFileTest() {
        super("jfabric.threading.mode=SHARED");
    }
}
