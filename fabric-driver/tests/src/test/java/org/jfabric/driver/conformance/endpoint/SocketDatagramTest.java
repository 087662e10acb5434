package org.jfabric.driver.conformance.endpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import org.jfabric.CompletionQueue;
import org.jfabric.Counter;
import org.jfabric.PortedCalls;
import org.jfabric.SocketEndpoint;
import org.jfabric.WaitObjectHandle;
import org.jfabric.ffi.Epoll;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.ControlCommand;
import org.jfabric.info.CounterAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.SocketName;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/** Endpoints that behave like sockets of datagrams, also towards those of the JDK. */
@Tag("conformance")
@Timeout(120)
@ParameterizedClass(name = "daemon={0}")
@ValueSource(booleans = {false, true})
class SocketDatagramTest extends SocketFixture {
    @Test
    @DisplayName("link=udp, transfers")
    @Requirement({"SOCK-004", "SOCK-006", "SOCK-007"})
    void shouldTransferDatagramsByEachCallAndReturnTheBytes() {
        try (SocketEndpoint from = domain.openSocketEndpoint(datagrams.copy().srcAddr(HERE), 0);
            SocketEndpoint to = domain.openSocketEndpoint(datagrams.copy().srcAddr(HERE), 0)) {
            for (SocketEndpoint endpoint : new SocketEndpoint[] {from, to}) {
                endpoint.bind(vector, 0);
                endpoint.enable();
            }
            transferByEachCall(from, vector.insert(to.name()), to);
            assertEquals(from.name(), to.sourceName());
        }
    }

    @Test
    @DisplayName("link=udp, bindings")
    @Requirement({"SOCK-005", "SOCK-009", "SOCK-011"})
    void shouldNeedAnAddressVectorForDatagramsAndNothingElse() {
        CompletionQueue queue = domain.openCompletionQueue(new CompletionQueueAttr());
        Counter counter = domain.openCounter(new CounterAttr());
        try (SocketEndpoint datagram = domain.openSocketEndpoint(datagrams, 0)) {
            assertEquals(-FabricErrno.EOPBADSTATE, datagram.recv(in, 8));
            refused(FabricErrno.EINVAL, () -> datagram.bind(queue, 0));
            refused(FabricErrno.EINVAL, () -> datagram.bind(counter, 0));
            refused(FabricErrno.ENOAV, datagram::enable);
            refused(FabricErrno.EBADFLAGS, () -> datagram.bind(vector, 1));
            datagram.bind(vector, 0);
            refused(FabricErrno.EINVAL, () -> datagram.bind(vector, 0));
            datagram.enable();
            refused(FabricErrno.EOPBADSTATE, datagram::enable);
            assertEquals(-FabricErrno.EAGAIN, datagram.recv(in, 8));
            assertEquals(-FabricErrno.EINVAL, datagram.send(out, 8, 99), "no such destination");
        }
        queue.close();
        counter.close();
    }

    @Test
    @DisplayName("link=udp, the descriptor")
    @Requirement({"SOCK-008", "SOCK-012", "SOCK-013"})
    void shouldSignalTheDescriptorOfDatagrams() {
        WaitObjectHandle handle = new WaitObjectHandle();
        int getWait = ControlCommand.GETWAIT.code();
        try (SocketEndpoint endpoint = domain.openSocketEndpoint(datagrams.copy().srcAddr(HERE), 0);
            Epoll epoll = new Epoll(4)) {
            assertEquals(-FabricErrno.ENODATA, PortedCalls.control(endpoint, getWait, handle));
            endpoint.bind(vector, 0);
            endpoint.enable();
            assertEquals(0, PortedCalls.control(endpoint, getWait, handle));
            epoll.add(handle.fd(), Epoll.EPOLLIN | Epoll.EPOLLOUT, 1);
            assertReady(epoll, Epoll.EPOLLOUT);
            assertEquals(-FabricErrno.EAGAIN, endpoint.recv(in, 64));
            assertNull(endpoint.sourceName(), "nothing was received");
            assertEquals(8, endpoint.send(out, 8, vector.insert(endpoint.name())));
            assertReady(epoll, Epoll.EPOLLIN | Epoll.EPOLLOUT);
            assertEquals(8, endpoint.recv(in, 64));
            assertReady(epoll, Epoll.EPOLLOUT);
            assertEquals(-FabricErrno.EAGAIN, endpoint.recv(in, 64));
            assertEquals(endpoint.name(), endpoint.sourceName(), "that of the last datagram");
        }
    }

    @Test
    @DisplayName("link=udp, datagrams")
    @Requirement({"SOCK-015", "EP-123", "EP-032"})
    void shouldKeepDatagramsApartAndRefuseLongerOnes() throws Exception {
        try (SocketEndpoint endpoint = domain.openSocketEndpoint(datagrams.copy().srcAddr(HERE), 0);
            DatagramChannel channel = DatagramChannel.open()) {
            endpoint.bind(vector, 0);
            endpoint.enable();
            channel.bind(new InetSocketAddress("127.0.0.1", 0));
            long peer = vector.insert(SocketName.of((InetSocketAddress) channel.getLocalAddress()).toString());
            ByteBuffer bytes = ByteBuffer.allocate(100);
            for (int length : new int[] {10, 0, 20}) {
                fill(out, length, length);
                assertEquals(length, endpoint.send(out, length, peer));
            }
            for (int length : new int[] {10, 0, 20}) {
                InetSocketAddress from = assertInstanceOf(InetSocketAddress.class, channel.receive(bytes.clear()));
                assertEquals(length, bytes.position());
                channel.send(bytes.flip(), from);
                assertEquals(length, await(() -> endpoint.recv(in, 64)));
                assertFilled(in, length, length);
                assertEquals(vector.lookup(peer), endpoint.sourceName());
            }
            long longest = datagrams.epAttr().maxMsgSize();
            assertEquals(longest, endpoint.send(out, longest, peer));
            assertEquals(-FabricErrno.EMSGSIZE, endpoint.send(out, longest + 1, peer));
            assertEquals(-FabricErrno.EINVAL, endpoint.send(out, 8, peer + 1));
            vector.remove(peer);
            assertEquals(-FabricErrno.EINVAL, endpoint.send(out, 8, peer));
            long again = vector.insert(SocketName.of((InetSocketAddress) channel.getLocalAddress()).toString());
            assertEquals(8, endpoint.send(out, 8, again));
            refused(FabricErrno.EBUSY, vector::close);
            refused(FabricErrno.EOPNOTSUPP, () -> endpoint.connect(HERE));
        }
        vector.close();
    }

    /** An address vector takes names of every link. */
    @Test
    void shouldSendNothingToAnAddressThatIsNoSocket() {
        try (SocketEndpoint endpoint = domain.openSocketEndpoint(datagrams.copy().srcAddr(HERE), 0)) {
            endpoint.bind(vector, 0);
            endpoint.enable();
            long other = vector.insert("jfabric://nobody/here");
            assertEquals(-FabricErrno.EINVAL, endpoint.send(out, 8, other));
            assertEquals(-FabricErrno.EINVAL, endpoint.send(out, 8, other));
            assertEquals(8, endpoint.send(out, 8, vector.insert(endpoint.name())));
            assertEquals(-FabricErrno.EINVAL, endpoint.send(out, 8, other));
            assertEquals(8, await(() -> endpoint.recv(in, 64)));
            assertEquals(-FabricErrno.EAGAIN, endpoint.recv(in, 64));
        }
    }
}
