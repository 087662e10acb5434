package org.jfabric.driver.hostile;

/**
 * Cut files under a driver with two threads whose code is compiled to the end early, so that the virtual machine
 * reports a fault later than at the access.
 */
class CutFileCompiledTest extends CutFiles {
    CutFileCompiledTest() {
        super("jfabric.threading.mode=DEDICATED",
            "-XX:TieredStopAtLevel=4", "-XX:Tier3DelayOn=0", "-XX:Tier4InvocationThreshold=200",
            "-XX:Tier4MinInvocationThreshold=100", "-XX:Tier4CompileThreshold=400", "-XX:Tier4BackEdgeThreshold=1000");
    }
}
