package org.jfabric.driver.kit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import org.agrona.DirectBuffer;
import org.jfabric.Endpoint;
import org.jfabric.info.FabricErrno;

/** Calls of a pair's first endpoint with arguments that cannot be, and what must not change by them. */
public final class InputCheck {
    public static final long CONTEXT = 0x0BAD_C0DE;
    private static final int EINVAL = -FabricErrno.EINVAL;
    private static final int EBADFLAGS = -FabricErrno.EBADFLAGS;

    private final FabricPair pair;
    private final Endpoint endpoint;
    private final long sends;
    private final long receives;

    /** A call with all its arguments; those that it does not have are not looked at. */
    public record Request(long buf, long len, long addr, long flags) {
    }

    /** One of the endpoint's calls. */
    public interface Call {
        int post(Endpoint endpoint, Request request);
    }

    public InputCheck(FabricPair pair) {
        this.pair = pair;
        this.endpoint = pair.a.endpoint;
        sends = endpoint.txSizeLeft();
        receives = endpoint.rxSizeLeft();
    }

    public void refused(Map<String, Call> calls, Request request, int expected) {
        calls.forEach((name, call) -> refused(name, call, request, expected));
    }

    public void refused(String name, Call call, Request request, int expected) {
        int result = call.post(endpoint, request);
        assertEquals(FabricErrno.name(expected), FabricErrno.name(result), () -> name + ' ' + request);
        assertUnchanged(name);
    }

    public void injectRefused(DirectBuffer source, int offset, int length, long to) {
        String what = offset + " + " + length;
        assertEquals(EINVAL, endpoint.inject(source, offset, length, to), what);
        assertEquals(EINVAL, endpoint.tinject(source, offset, length, to, 5), what);
        assertEquals(EINVAL, endpoint.messages().injectdata(source, offset, length, 7, to), what);
        assertEquals(EINVAL, endpoint.messages().tinjectdata(source, offset, length, 7, to, 5), what);
        assertUnchanged(what);
    }

    public void fails(Map<String, Call> calls, Request request, int errno) {
        calls.forEach((name, call) -> fails(name, call, request, errno, CONTEXT));
    }

    public void fails(String name, Call call, Request request, int errno, long context) {
        String what = name + ' ' + request;
        assertEquals(0, call.post(endpoint, request), what);
        FabricNode.Entry entry = pair.a.await();
        assertEquals(errno, entry.err(), () -> what + ": " + entry);
        assertEquals(context, entry.context(), () -> what + ": " + entry);
        assertTrue(entry.len() == 0 && entry.data() == 0, () -> what + ": " + entry);
        assertUnchanged(what);
    }

    public void refusedOrFailed(Map.Entry<String, Call> call, Request request, String where) {
        String what = call.getKey() + ' ' + request + ' ' + where;
        int result = call.getValue().post(endpoint, request);
        if (result != 0) {
            assertTrue(result == EINVAL || result == EBADFLAGS, () -> what + " answered " + result);
            assertUnchanged(what);
            return;
        }
        FabricNode.Entry entry = pair.a.await();
        assertTrue(entry.err() == FabricErrno.EFAULT || entry.err() == FabricErrno.EINVAL,
            () -> what + ": " + entry);
        assertEquals(CONTEXT, entry.context(), what);
        assertUnchanged(what);
    }

    public void assertUnchanged(String what) {
        assertEquals(sends, endpoint.txSizeLeft(), what);
        assertEquals(receives, endpoint.rxSizeLeft(), what);
    }

    /** Nothing is left over at either side, all of the room is there again, and messages go both ways. */
    public void usable() {
        pair.a.assertQuiet(50);
        pair.b.assertQuiet(50);
        assertUnchanged("at the end");
        pair.assertTransfers(endpoint);
        assertUnchanged("after messages went both ways");
    }
}
