package org.jfabric.simulation.soak;

import java.util.Random;
import org.jfabric.simulation.model.Receive;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.Flags;

/** Peeks at waiting messages, with or without discard or claim; claimed ones are received or discarded later. */
final class PeekKind implements Kind {
    private static final long[] PEEKS = {Flags.PEEK, Flags.PEEK | Flags.DISCARD, Flags.PEEK | Flags.CLAIM};

    @Override
    public int weight(Random random) {
        return random.nextInt(12);
    }

    @Override
    public void run(SoakWorld world, Window window) {
        Random random = world.random;
        SoakEndpoint at = world.anyEndpoint();
        if (at.buffered != null) {
            return;
        }
        if (random.nextInt(3) == 0) {
            at.receives.stream().filter(each -> each.hasClaim() && !each.claimEnded).findFirst()
                .ifPresent(claim -> endClaim(world, claim));
            return;
        }
        SoakReceive peek = new SoakReceive();
        peek.tagged = random.nextInt(3) != 0 || at.usesMultiReceive && !world.neverWaitsForSlots();
        peek.call = peek.tagged ? "tpeek" : "peek";
        peek.peekFlags = PEEKS[random.nextInt(PEEKS.length)];
        peek.at = at.index;
        long tag = world.tags[random.nextInt(world.tags.length)];
        long ignore = ReceiveKind.mask(random);
        peek.tag = peek.tagged ? tag : 0;
        peek.ignore = peek.tagged ? ignore : 0;
        int source = random.nextInt(3) == 0 ? random.nextInt(world.endpoints.size()) : Receive.ANY_SOURCE;
        peek.source = at.client.directed ? source : Receive.ANY_SOURCE;
        peek.wantsEntry = true;
        peek.context = world.nextId++;
        world.post(peek, 0, source < 0 ? FabricAddress.ADDR_UNSPEC : at.addresses[source]);
    }

    /** Receives or discards a claimed message; false if the call was refused or there is no memory slot. */
    static boolean endClaim(SoakWorld world, SoakReceive claim) {
        SoakEndpoint at = world.endpoints.get(claim.at);
        SoakReceive receive = new SoakReceive();
        receive.claim = claim;
        receive.context = claim.context;
        receive.at = claim.at;
        receive.tagged = claim.tagged;
        receive.call = claim.call;
        receive.wantsEntry = true;
        if (world.random.nextBoolean()) {
            receive.peekFlags = Flags.CLAIM | Flags.DISCARD;
            return world.post(receive, 0, FabricAddress.ADDR_UNSPEC);
        }
        receive.peekFlags = Flags.CLAIM | Flags.COMPLETION;
        int longer = world.random.nextInt(4) == 0 ? 0 : (int) claim.entry.length();
        receive.length = Math.min(longer + world.random.nextInt(100), SoakMemory.ROOM[2]);
        SoakMemory.Slot slot = at.memory.acquire(false, receive.length);
        if (slot == null) {
            return false;
        }
        receive.slot = slot;
        receive.offset = slot.begin(world.random.nextInt(8));
        if (!world.post(receive, at.memory.at(receive.offset), FabricAddress.ADDR_UNSPEC)) {
            at.memory.free(slot);
            return false;
        }
        return true;
    }
}
