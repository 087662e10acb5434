package org.jfabric.simulation.soak;

import java.util.Random;
import org.jfabric.simulation.model.Receive;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.Flags;

/** Receives, tagged and untagged, with and without masks and sources. */
final class ReceiveKind implements Kind {
    private static final String[] CALLS = {"trecv", "trecv", "trecvmsg", "trecvmsg", "recv", "recvmsg",
        "trecvv", "trecvmsg(iov)", "recvv", "recvmsg(iov)"};

    @Override
    public int weight(Random random) {
        return random.nextInt(50);
    }

    @Override
    public void run(SoakWorld world, Window window) {
        Random random = world.random;
        SoakReceive receive = new SoakReceive();
        receive.call = CALLS[random.nextInt(CALLS.length)];
        receive.tagged = receive.call.charAt(0) == 't';
        receive.at = random.nextInt(world.endpoints.size());
        if (!receive.tagged && world.endpoints.get(receive.at).postsBuffersByDefault()) {
            // calls without flags would post a multi-receive buffer
            receive.call = receive.call.equals("recv") ? "recvmsg"
                : receive.call.equals("recvv") ? "recvmsg(iov)" : receive.call;
        }
        long tag = world.tags[random.nextInt(world.tags.length)];
        long ignore = mask(random);
        BufferedReceiveCheck buffered = world.endpoints.get(receive.at).buffered;
        if (buffered != null) {
            buffered.postTag(tag, ignore,
                random.nextInt(3) == 0 ? random.nextInt(world.endpoints.size()) : Receive.ANY_SOURCE);
            return;
        }
        receive.tag = receive.tagged ? tag : 0;
        receive.ignore = receive.tagged ? ignore : 0;
        int source = random.nextInt(3) == 0 ? random.nextInt(world.endpoints.size()) : Receive.ANY_SOURCE;
        receive.length = Math.min(
            random.nextInt(4) == 0 ? window.length() : window.length() + random.nextInt(2000), SoakMemory.ROOM[2]);
        boolean asksForEntry = random.nextInt(3) != 0;
        int shift = random.nextInt(8);
        SoakEndpoint at = world.endpoints.get(receive.at);
        receive.source = at.client.directed ? source : Receive.ANY_SOURCE;
        boolean asked = receive.call.contains("msg") ? asksForEntry : (at.receiveDefault & Flags.COMPLETION) != 0;
        receive.wantsEntry = !at.selectiveReceives || asked;
        if (!receive.wantsEntry && !maySilence(world, receive)) {
            receive.call = receive.tagged ? "trecvmsg" : "recvmsg";
            receive.wantsEntry = true;
        }
        post(world, receive, shift, source < 0 ? FabricAddress.ADDR_UNSPEC : at.addresses[source]);
    }

    /** Posts a receive in a slot of its endpoint; false if the call was refused or there is no slot. */
    static boolean post(SoakWorld world, SoakReceive receive, int shift, long source) {
        SoakEndpoint at = world.endpoints.get(receive.at);
        receive.context = world.nextId++;
        SoakMemory.Slot slot = at.memory.acquire(false, receive.length);
        if (slot == null) {
            return false;
        }
        receive.slot = slot;
        receive.offset = slot.begin(shift);
        receive.base = at.memory.at(receive.offset);
        receive.rotation =
            RotatedPieces.usedBy(receive.call) ? RotatedPieces.rotation(world.random, receive.length) : 0;
        if (!world.post(receive, at.memory.at(receive.offset), source)) {
            at.memory.free(slot);
            return false;
        }
        return true;
    }

    private static boolean maySilence(SoakWorld world, SoakReceive receive) {
        return receive.tagged
            ? (receive.tag & SoakWorld.SILENT_TAG) != 0 && (receive.ignore & SoakWorld.SILENT_TAG) == 0
            : world.untaggedSilent;
    }

    static long mask(Random random) {
        return ~SoakWorld.BARRIER_TAG & switch (random.nextInt(10)) {
            case 0 -> -1L;
            case 1 -> 1L;
            case 2 -> 3L;
            case 3 -> random.nextLong();
            case 4 -> SoakWorld.SILENT_TAG;
            case 5 -> -1L ^ SoakWorld.SILENT_TAG;
            default -> 0;
        };
    }
}
