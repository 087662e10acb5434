package com.example.hello;

import org.jfabric.Fabric;
import org.jfabric.Messenger;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;

/** Starts a driver in this process, and sends a message to itself through it. */
public final class Hello {
    private static final long TAG = 7;
    private static final long RECEIVE = 1;
    private static final long SEND = 2;
    private static final long TIMEOUT_NS = 10_000_000_000L;

    private Hello() {
    }

    /**
     * Runs it.
     *
     * @param args not used.
     */
    public static void main(String[] args) {
        DriverConfig config = DriverConfig.builder().set("jfabric.dir.name", "hello-" + ProcessHandle.current().pid())
            .threadingMode(ThreadingMode.INVOKER).build();
        try (FabricDriver driver = FabricDriver.launchEmbedded(config); Fabric fabric = driver.fabric();
             Messenger self = fabric.messenger().open()) {
            int length = self.memory().buffer().putStringUtf8(0, "hello from " + home());
            self.endpoint().trecv(self.memory().slice(2048, 1024), TAG, 0, RECEIVE);
            self.endpoint().tsend(self.memory().slice(0, length), self.peer(self.address()), TAG, SEND);
            self.await(2, TIMEOUT_NS, entry -> { });
            System.out.println("received: " + self.memory().buffer().getStringUtf8(2048));
        }
    }

    private static String home() {
        Module module = Hello.class.getModule();
        return module.isNamed() ? "module " + module.getName() : "the class path";
    }
}
