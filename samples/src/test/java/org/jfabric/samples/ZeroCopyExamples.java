package org.jfabric.samples;

import org.agrona.MutableDirectBuffer;
import org.jfabric.Fabric;
import org.jfabric.IoVec;
import org.jfabric.Messenger;
import org.jfabric.SendClaim;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;

/** The code of docs/zero-copy.md: each region between markers stands there, and is run by the page's test. */
final class ZeroCopyExamples {
    private static final long TAG = 7;
    private static final int ORDER_LENGTH = 24;

    final Messenger sample;
    final long peer;

    ZeroCopyExamples(Fabric fabric) {
        sample = fabric.messenger().open();
        peer = sample.peers().insert(sample.endpoint().name());
    }

    void receive(long opContext) {
        sample.endpoint().trecv(sample.memory().address(1024), 256, FabricAddress.ADDR_UNSPEC, TAG, 0, opContext);
    }

    // example: claim
    private final SendClaim claim = new SendClaim();

    int sendOrder(long id, long price, int quantity, long opContext) {
        int result = sample.endpoint().tryClaim(ORDER_LENGTH, claim);
        if (result != 0) {
            return result;
        }
        MutableDirectBuffer order = claim.buffer();
        order.putLong(0, id);
        order.putLong(8, price);
        order.putInt(16, quantity);
        order.putInt(20, 0);
        return claim.commit(ORDER_LENGTH, peer, TAG, opContext);
    }
    // end

    int sendText(String text, long opContext) {
        // example: shorter
        int result = sample.endpoint().tryClaim(sample.endpoint().injectSize(), claim);
        if (result != 0) {
            return result;
        }
        int length = claim.buffer().putStringWithoutLengthAscii(0, text);
        if (length == 0) {
            claim.abort();
            return -FabricErrno.ENODATA;
        }
        result = claim.commit(length, peer, TAG, opContext);
        // end
        return result;
    }

    // example: pieces
    private final IoVec iov = new IoVec();

    int sendHeaderAndBody(long header, int headerLength, long body, int bodyLength, long opContext) {
        iov.clear().add(header, headerLength).add(body, bodyLength);
        return sample.endpoint().messages().tsendv(iov, peer, TAG, opContext);
    }
    // end

    // example: lend-send
    int publish(long image, int length, long[] readers, long slice) {
        for (long reader : readers) {
            // the same bytes for each of them; each one's entry has the slice as its context
            int result = sample.endpoint().messages().tsendLent(image, length, reader, TAG, slice);
            if (result != 0) {
                return result;
            }
        }
        return 0;
    }
    // end
}
