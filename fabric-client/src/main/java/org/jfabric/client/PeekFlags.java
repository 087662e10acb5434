package org.jfabric.client;

import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;

/**
 * Which combinations of {@link Flags#PEEK}, {@link Flags#CLAIM} and {@link Flags#DISCARD} mean something; the client
 * refuses the others before they are submitted, the driver because it trusts no client.
 *
 * <p>Any thread.
 */
public final class PeekFlags {
    /** A receive with one of these is not an ordinary one. */
    public static final long ANY = Flags.PEEK | Flags.CLAIM | Flags.DISCARD;

    private PeekFlags() {
    }

    /**
     * Checks a receive that has at least one of the flags.
     *
     * @param context of the operation; a claim is known by it, so it cannot be 0.
     * @return 0 for peek, peek and discard, and with a context for peek and claim, claim, claim and discard;
     *     {@code -FI_EINVAL} for a claim without a context, for discard alone and for all three together.
     */
    public static int check(long flags, long context) {
        long asked = flags & ANY;
        if (asked == Flags.PEEK || asked == (Flags.PEEK | Flags.DISCARD)) {
            return 0;
        }
        boolean claims = (flags & Flags.CLAIM) != 0;
        return claims && asked != ANY && context != 0 ? 0 : -FabricErrno.EINVAL;
    }
}
