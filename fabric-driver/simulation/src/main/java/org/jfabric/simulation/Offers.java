package org.jfabric.simulation;

import java.util.SplittableRandom;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.SendClaim;
import org.jfabric.info.FabricErrno;
import org.jfabric.stream.Publication;

/** Offers messages of random lengths, some of them by claims. */
final class Offers {
    private static final int SHORT_BYTES = 200;

    private final SplittableRandom random;
    private final int mostBytes;
    private final UnsafeBuffer bytes = new UnsafeBuffer(new byte[1 << 16]);
    private final SendClaim claim = new SendClaim();
    private int length;

    /**
     * Makes no message.
     *
     * @param mostBytes of a message; most are shorter.
     */
    Offers(SplittableRandom random, int mostBytes) {
        this.random = random;
        this.mostBytes = mostBytes;
    }

    /** Offers a message; the result of the call, {@code -FI_EAGAIN} also for a claim that was aborted. */
    int offer(Publication publication, long id) {
        int most = random.nextInt(4) == 0 ? mostBytes : Math.min(mostBytes, SHORT_BYTES);
        length = Long.BYTES + random.nextInt(most - Long.BYTES + 1);
        if (random.nextInt(4) == 0 && publication.tryClaim(Math.min(length, SHORT_BYTES), claim) == 0) {
            length = Math.min(length, SHORT_BYTES);
            return commit(publication, id);
        }
        Payload.fill(bytes, 0, length, id);
        return publication.offer(bytes, 0, length);
    }

    /** Bytes of the last message. */
    int length() {
        return length;
    }

    private int commit(Publication publication, long id) {
        if (random.nextInt(4) == 0) {
            claim.abort();
            return -FabricErrno.EAGAIN;
        }
        UnsafeBuffer to = new UnsafeBuffer(new byte[length]);
        Payload.fill(to, 0, length, id);
        claim.buffer().putBytes(0, to, 0, length);
        int result = publication.commit(claim, length);
        if (result != 0) {
            claim.abort();
        }
        return result;
    }
}
