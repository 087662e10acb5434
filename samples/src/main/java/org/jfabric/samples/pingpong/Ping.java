package org.jfabric.samples.pingpong;

import org.jfabric.Fabric;
import org.jfabric.Messenger;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricException;

/**
 * Sends messages to {@link Pong}, which it finds by the name of its service, and prints the answers. An empty message
 * ends the other side.
 */
public final class Ping {
    public static final long TAG = 0x1234;

    private static final String SERVICE = "ping";
    private static final int LENGTH = 1024;

    private Ping() {
    }

    /**
     * Runs it, and ends the process with status 1 and a sentence if there is no answer.
     *
     * @param args how many messages, by default 3.
     */
    public static void main(String[] args) {
        if (args.length > 1 || args.length == 1 && !args[0].matches("[1-9][0-9]{0,8}")) {
            System.err.println("ping takes one argument, the number of messages, from 1 to 999999999; given: "
                + String.join(" ", args));
            System.exit(2);
        }
        try {
            exchange(args.length == 0 ? 3 : Integer.parseInt(args[0]));
        } catch (FabricException ex) {
            System.err.println(ex.getMessage());
            System.exit(1);
        }
    }

    private static void exchange(int count) {
        try (Fabric fabric = Fabric.connect()) {
            Messenger own = fabric.messenger().open();
            own.endpoint().publish(SERVICE);
            long pong = own.peers().insertService(fabric.driverName(), Pong.SERVICE);
            for (int i = 1; i <= count; i++) {
                int length = own.memory().buffer().putStringWithoutLengthAscii(0, SERVICE + " message " + i);
                own.endpoint().trecv(own.memory().address(LENGTH), LENGTH, FabricAddress.ADDR_UNSPEC, TAG, 0, 1);
                own.endpoint().tsend(own.memory().address(0), length, pong, TAG, 2);
                // Two entries: the send has reached the peer, the answer is here.
                own.await(2, entry -> { });
                System.out.println("answer: " + own.memory().buffer().getStringWithoutLengthAscii(LENGTH, length));
            }
            own.endpoint().tinject(own.memory().buffer(), 0, 0, pong, TAG);
            System.out.println("ping done");
        }
    }
}
