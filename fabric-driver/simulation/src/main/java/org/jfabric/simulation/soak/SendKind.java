package org.jfabric.simulation.soak;

import java.util.Random;
import org.jfabric.info.Flags;

/** Sends of registered memory, tagged and untagged, with every flag. */
final class SendKind implements Kind {
    private static final String[] CALLS = {"tsend", "tsenddata", "tsendmsg", "tsendmsg", "send", "senddata", "sendmsg",
        "tsendv", "tsendmsg(iov)", "sendv", "sendmsg(iov)"};
    private static final long[] LEVELS = {0, 0, Flags.INJECT_COMPLETE, Flags.TRANSMIT_COMPLETE,
        Flags.DELIVERY_COMPLETE, Flags.MATCH_COMPLETE, Flags.MATCH_COMPLETE | Flags.INJECT_COMPLETE};

    @Override
    public int weight(Random random) {
        return random.nextInt(40);
    }

    @Override
    public void run(SoakWorld world, Window window) {
        Random random = world.random;
        SoakMessage message = draw(world, window, CALLS[random.nextInt(CALLS.length)]);
        int length = Math.max(window.length(), leastLength(world, message));
        long flags = flags(world);
        int shift = random.nextInt(8);
        SoakEndpoint from = world.endpoints.get(message.from);
        if (!from.maySend()) {
            return;
        }
        message.flags = message.call.contains("msg") ? flags : from.sendDefault;
        message.length = Math.min(length, SoakMemory.ROOM[2]);
        message.hasData = message.call.endsWith("data") || (message.flags & Flags.REMOTE_CQ_DATA) != 0;
        message.wantsEntry = !from.selectiveSends || (message.flags & Flags.COMPLETION) != 0;
        message.slot = from.memory.acquire(true, message.length);
        if (message.slot == null) {
            return;
        }
        int begin = message.slot.begin(shift);
        SoakMemory.Slot slot = message.slot;
        from.memory.fill(begin, message.length, message.id);
        message.rotation = RotatedPieces.usedBy(message.call) ? RotatedPieces.rotation(random, message.length) : 0;
        from.memory.rotate(begin, message.length, message.rotation);
        if (!world.post(message, begin, from.addresses[message.to])) {
            from.memory.restore(begin, message.length);
            from.memory.free(slot);
        }
    }

    static long flags(SoakWorld world) {
        Random random = world.random;
        long flags = LEVELS[random.nextInt(LEVELS.length)] & world.drivers.levels();
        flags |= random.nextInt(3) != 0 ? Flags.COMPLETION : 0;
        flags |= random.nextBoolean() ? Flags.REMOTE_CQ_DATA : 0;
        flags |= random.nextInt(6) == 0 ? Flags.FENCE : 0;
        return flags | (random.nextInt(4) == 0 ? Flags.MORE : 0);
    }

    /** A message from a random endpoint to a random endpoint. */
    static SoakMessage draw(SoakWorld world, Window window, String call) {
        Random random = world.random;
        SoakMessage message = new SoakMessage();
        message.id = world.nextId++;
        message.call = call;
        int sender = random.nextInt(world.endpoints.size());
        message.from = window.onlySender >= 0 ? window.onlySender : sender;
        message.to = random.nextInt(world.endpoints.size());
        message.tagged = call.charAt(0) == 't';
        long tag = world.tags[random.nextInt(world.tags.length)];
        message.tag = message.tagged ? tag : 0;
        return message;
    }

    /** A message that may be received without an entry is identified by its first bytes. */
    static int leastLength(SoakWorld world, SoakMessage message) {
        return world.mayLackReceiveEntry(message) ? Long.BYTES : 0;
    }
}
