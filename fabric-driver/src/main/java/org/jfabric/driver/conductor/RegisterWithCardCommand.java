package org.jfabric.driver.conductor;

import java.util.List;
import org.jfabric.codec.control.CardKeyReady;
import org.jfabric.codec.control.RegisterWithCard;
import org.jfabric.driver.link.ExposureHandler;
import org.jfabric.driver.resource.KeyTable;
import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;

/**
 * The second part of {@code fi_mr_reg} in a domain whose keys are those of a card: registers a region with it. Owner:
 * conductor.
 */
final class RegisterWithCardCommand extends Command {
    private static final long REMOTE_ACCESS = Flags.REMOTE_READ | Flags.REMOTE_WRITE;

    private final RegisterWithCard message;
    private final Info where;
    private boolean isBegun;
    private boolean isAnswered;
    private long key;
    private long address;
    private FabricException refusal;

    RegisterWithCardCommand(CommandRequest request, RegisterWithCard message) {
        super(request);
        this.message = message;
        where = new Info().srcAddr(message.srcAddr());
        where.destAddr(message.destAddr());
    }

    @Override
    protected Step step(long nowNs) {
        if (!isBegun) {
            RegionResource region = session().regions().get(message.regionIndex());
            if (region == null || message.access() == 0 || (message.access() & ~REMOTE_ACCESS) != 0) {
                throw new FabricException(FabricErrno.EINVAL, "region " + message.regionIndex() + " is "
                    + (region == null ? "not open" : "open") + ", the rights of peers are "
                    + Flags.toString(message.access(), Flags.Kind.MR_ACCESS),
                    "Name an open region, and remote reads, writes or both.");
            }
            isBegun = true;
            // links with cards have all their endpoints on the first thread
            onThread(0, () -> expose(region.copy(0)));
            return Step.AGAIN;
        }
        if (!isAnswered) {
            return Step.LATER;
        }
        if (refusal != null) {
            throw refusal;
        }
        return answer(new CardKeyReady(correlationId(), key, address));
    }

    private void expose(RegisteredRegion region) {
        if (region.binding() != null) {
            throw new FabricException(FabricErrno.EOPNOTSUPP,
                "region " + message.regionIndex()
                    + " is bound or not enabled, and a card does not report accesses to it",
                "Register it without FI_RMA_EVENT.");
        }
        KeyTable keys = session().progress(0).session().regions().keys(region.key().domain());
        context().threads().get(0).engine().links(List.of(message.linkName())).getFirst().expose(
            region, message.access(), keys, where, new Answer(region, keys));
    }

    private final class Answer implements ExposureHandler {
        private final RegisteredRegion region;
        private final KeyTable keys;

        Answer(RegisteredRegion region, KeyTable keys) {
            this.region = region;
            this.keys = keys;
        }

        @Override
        public void onExposed(long cardKey, long firstAddress) {
            if (!region.isClosed()) {
                keys.addOfCard(cardKey, region, message.access());
            }
            context().inbox().post(() -> {
                key = cardKey;
                address = firstAddress;
                isAnswered = true;
            });
        }

        @Override
        public void onFailed(FabricException cause) {
            context().inbox().post(() -> {
                refusal = cause;
                isAnswered = true;
            });
        }
    }
}
