package org.jfabric.driver.link.support;

import org.jfabric.info.Info;
import org.jfabric.info.MrMode;
import org.jfabric.info.Reason;

/** Attributes of links whose cards access remote memory, under keys and addresses of their own. */
public final class CardAccess {
    /** What an application has to do whose peers access its memory by the card. */
    public static final long MR_MODE = MrMode.VIRT_ADDR | MrMode.ALLOCATED | MrMode.PROV_KEY;
    /** Longest access, which is one request: no card is known that takes less. */
    public static final long LONGEST_BYTES = 1L << 30;

    private static final int KEY_BYTES = 4;
    private static final int DATA_BYTES = Integer.BYTES;

    private CardAccess() {
    }

    /** Adds the attributes to an offer. */
    public static void describe(Info offer, long longestBytes) {
        offer.txAttr().rmaIovLimit(1);
        offer.epAttr().maxMsgSize(longestBytes).maxOrderRawSize(longestBytes).maxOrderWarSize(0)
            .maxOrderWawSize(longestBytes);
        offer.domainAttr().mrMode(offer.domainAttr().mrMode() | MR_MODE).mrKeySize(KEY_BYTES)
            .cqDataSize(DATA_BYTES);
    }

    /** Why hints without registration modes, which mean any for other links, are refused. */
    public static Reason unnamed() {
        return new Reason("domain_attr.mr_mode", MrMode.toString(MR_MODE | MrMode.LOCAL), "0",
            "Name these bits: keys are those of the card, and peers give virtual addresses");
    }
}
