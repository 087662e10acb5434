package org.jfabric.driver.conductor;

import java.util.List;
import org.jfabric.codec.control.RegisterWithCardDecoder;
import org.jfabric.driver.link.ExposureHandler;
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

    private final int regionIndex;
    private final long access;
    private final String linkName;
    private final Info where;
    private boolean isBegun;
    private boolean isAnswered;
    private long key;
    private long address;
    private FabricException refusal;

    /**
     * Decodes the command.
     *
     * @param request as it arrived; not kept.
     */
    RegisterWithCardCommand(CommandRequest request) {
        super(request);
        RegisterWithCardDecoder decoder = new RegisterWithCardDecoder().wrap(
            request.body(), 0, RegisterWithCardDecoder.BLOCK_LENGTH, RegisterWithCardDecoder.SCHEMA_VERSION);
        regionIndex = decoder.regionIndex();
        access = decoder.access();
        linkName = decoder.linkName();
        where = new Info().srcAddr(decoder.srcAddr());
        where.destAddr(decoder.destAddr());
    }

    @Override
    protected Step step(long nowNs) {
        if (!isBegun) {
            RegionResource region = session().regions().get(regionIndex);
            if (region == null || access == 0 || (access & ~REMOTE_ACCESS) != 0) {
                throw new FabricException(FabricErrno.EINVAL, "region " + regionIndex + " is "
                    + (region == null ? "not open" : "open") + ", the rights of peers are "
                    + Flags.toString(access, Flags.Kind.MR_ACCESS),
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
        session().proxy().cardKeyReady(correlationId(), key, address);
        return Step.ENDED;
    }

    private void expose(RegisteredRegion region) {
        if (region.binding() != null) {
            throw new FabricException(FabricErrno.EOPNOTSUPP,
                "region " + regionIndex + " is bound or not enabled, and a card does not report accesses to it",
                "Register it without FI_RMA_EVENT.");
        }
        context().threads().get(0).engine().links(List.of(linkName)).getFirst().expose(region, access,
            session().progress(0).session().regions().keys(region.key().domain()), where, new Answer());
    }

    private final class Answer implements ExposureHandler {
        @Override
        public void onExposed(long cardKey, long firstAddress) {
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
