package org.jfabric.samples.pingpong;

import org.jfabric.Fabric;
import org.jfabric.Messenger;
import org.jfabric.info.FabricAddress;

/**
 * Waits under the service name {@code pong} for messages, and answers each with its contents, until one is empty.
 * Needs a driver: {@code ./fabric driver}.
 */
public final class Pong {
    /** Name that peers insert. */
    public static final String SERVICE = "pong";

    private static final int LENGTH = 1024;

    private Pong() {
    }

    /**
     * Runs it.
     *
     * @param args not used.
     */
    public static void main(String[] args) {
        try (Fabric fabric = Fabric.connect()) {
            Messenger own = fabric.messenger().open();
            own.endpoint().publish(SERVICE);
            System.out.println("pong waits as " + own.endpoint().name());
            long[] length = new long[1];
            int answered = 0;
            do {
                own.endpoint().trecv(own.memory().address(0), LENGTH, FabricAddress.ADDR_UNSPEC, Ping.TAG, 0, 1);
                own.await(1, entry -> length[0] = entry.len());
                // The first word of a message says which service wants the answer.
                String text = own.memory().buffer().getStringWithoutLengthAscii(0, (int) length[0]);
                if (!text.isEmpty()) {
                    String service = text.substring(0, text.indexOf(' '));
                    long peer = own.peers().insertService(fabric.driverName(), service);
                    own.endpoint().tsend(own.memory().address(0), length[0], peer, Ping.TAG, 2);
                    own.await(1, entry -> { });
                    answered++;
                }
            } while (length[0] > 0);
            System.out.println("pong answered " + answered + " messages");
        }
    }
}
