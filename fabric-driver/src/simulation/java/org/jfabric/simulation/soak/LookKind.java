package org.jfabric.simulation.soak;

import java.util.Random;
import org.jfabric.simulation.model.Receive;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.Flags;

/** Looks at messages that wait: some are only looked at, some dropped, some reserved, and fetched or dropped later. */
final class LookKind implements Kind {
    private static final long[] LOOKS = {Flags.PEEK, Flags.PEEK | Flags.DISCARD, Flags.PEEK | Flags.CLAIM};

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
            at.receives.stream().filter(each -> each.hasClaim() && !each.settled).findFirst()
                .ifPresent(claim -> settle(world, claim));
            return;
        }
        SoakReceive look = new SoakReceive();
        look.tagged = random.nextInt(3) != 0 || at.packs && !world.neverHoldsBack();
        look.call = look.tagged ? "tlook" : "look";
        look.look = LOOKS[random.nextInt(LOOKS.length)];
        look.at = at.index;
        long tag = world.tags[random.nextInt(world.tags.length)];
        long ignore = ReceiveKind.mask(random);
        look.tag = look.tagged ? tag : 0;
        look.ignore = look.tagged ? ignore : 0;
        int source = random.nextInt(3) == 0 ? random.nextInt(world.endpoints.size()) : Receive.ANY_SOURCE;
        look.source = at.client.directed ? source : Receive.ANY_SOURCE;
        look.wantsEntry = true;
        look.context = world.nextId++;
        world.post(look, 0, source < 0 ? FabricAddress.ADDR_UNSPEC : at.addresses[source]);
    }

    /** Fetches what was reserved, or drops it; false if that was refused, or there is no slot. */
    static boolean settle(SoakWorld world, SoakReceive claim) {
        SoakEndpoint at = world.endpoints.get(claim.at);
        SoakReceive receive = new SoakReceive();
        receive.claim = claim;
        receive.context = claim.context;
        receive.at = claim.at;
        receive.tagged = claim.tagged;
        receive.call = claim.call;
        receive.wantsEntry = true;
        if (world.random.nextBoolean()) {
            receive.look = Flags.CLAIM | Flags.DISCARD;
            return world.post(receive, 0, FabricAddress.ADDR_UNSPEC);
        }
        receive.look = Flags.CLAIM | Flags.COMPLETION;
        int longer = world.random.nextInt(4) == 0 ? 0 : (int) claim.entry.length();
        receive.length = Math.min(longer + world.random.nextInt(100), SoakMemory.ROOM[2]);
        SoakMemory.Slot slot = at.memory.take(false, receive.length);
        if (slot == null) {
            return false;
        }
        receive.slot = slot;
        receive.offset = slot.begin(world.random.nextInt(8));
        if (!world.post(receive, at.memory.at(receive.offset), FabricAddress.ADDR_UNSPEC)) {
            at.memory.give(slot);
            return false;
        }
        return true;
    }
}
