package org.jfabric.driver.soak;

import java.util.SplittableRandom;
import org.agrona.MutableDirectBuffer;
import org.jfabric.simulation.model.Message;

/**
 * The messages that one sender sends, each determined by the sender's seed and its number. So a sender in another
 * process, and the model, know the same ones without an exchange.
 */
final class ContextScript {
    static final int TAGS = 3;
    static final int LONGEST = 300_000;
    /** Header of a payload: the data that goes with it too. */
    static final int SHORTEST = 8;

    private final int sender;
    private final long seed;
    private final int senderContexts;
    private final int receiverContexts;

    /** A message of a script. */
    static final class Sent extends Message {
        /** Of the sender's contexts. */
        int context;
        boolean inject;
        /** The receive that has taken it. */
        ContextReceive receivedBy;

        @Override
        public String toString() {
            return "#" + Long.toHexString(id) + " of s" + from + '/' + context + " to " + to
                + (tagged ? " tag " + tag : " untagged") + ' ' + length + " bytes"
                + (receivedBy == null ? "" : " by " + receivedBy.context);
        }
    }

    ContextScript(int sender, long seed, int senderContexts, int receiverContexts) {
        this.sender = sender;
        this.seed = seed;
        this.senderContexts = senderContexts;
        this.receiverContexts = receiverContexts;
    }

    /** Number of the sender of the message with that data. */
    static int sender(long data) {
        return (int) (data >>> 32);
    }

    /** Number of the message with that data among those of its sender. */
    static int number(long data) {
        return (int) data;
    }

    /** A new object for the message with that number, from 1. */
    Sent message(int number) {
        SplittableRandom random = new SplittableRandom(seed * 1_000_003 + number);
        Sent message = new Sent();
        message.id = (long) sender << 32 | number;
        message.from = sender;
        message.context = random.nextInt(senderContexts);
        message.to = random.nextInt(receiverContexts);
        message.tagged = random.nextInt(4) != 0;
        message.tag = message.tagged ? random.nextInt(TAGS) : 0;
        int dice = random.nextInt(100);
        message.length = SHORTEST + random.nextInt(
            dice < 70 ? 100 : dice < 85 ? 5000 : dice < 97 ? 20_000 : LONGEST - SHORTEST);
        message.inject = message.length <= 64 && random.nextBoolean();
        return message;
    }

    /** Writes the payload of a message. */
    static void fill(MutableDirectBuffer buffer, int offset, Sent message) {
        for (int i = 0; i < message.length; i++) {
            buffer.putByte(offset + i, at(message, i));
        }
    }

    /** A byte of a payload: first those of the id, then others that depend on it. */
    static byte at(Sent message, int index) {
        return (byte) (index < Long.BYTES ? message.id >>> 8 * index : message.id * 31 + index * 7L + (index >> 8));
    }
}
