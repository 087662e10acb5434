package org.jfabric.driver.link.udp;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jfabric.driver.link.support.DatagramChannel;
import org.jfabric.driver.link.support.DatagramSources;
import org.jfabric.ffi.DatagramRun;

/**
 * Receives datagrams that the kernel has joined, and delivers each as a message. If fewer receives are posted than
 * datagrams were joined, the rest waits here, in front of those that wait in the socket.
 *
 * <p>Owner: progress agent.
 */
final class JoinedDatagrams implements DatagramIntake {
    private static final int ROOM_BYTES = 1 << 16;

    private final DatagramRun run = new DatagramRun(1);
    private final MemorySegment room = Arena.ofAuto().allocate(ROOM_BYTES, 64);
    private int at;
    private int end;
    private int datagramBytes;

    @Override
    public boolean areWaiting() {
        return at < end;
    }

    @Override
    public int receive(UdpPort port, DatagramSources sources, UdpChannel unknownSenders, long flags, int limit) {
        int delivered = 0;
        while (delivered < limit) {
            if (at == end && !next(port)) {
                break;
            }
            DatagramChannel channel = sources.find(UdpChannel.keyHigh(run.source()), UdpChannel.keyLow(run.source()),
                UdpChannel.keyRest(run.source()));
            UdpChannel sender = channel == null ? unknownSenders : (UdpChannel) channel;
            do {
                int bytes = Math.min(datagramBytes, end - at);
                long from = room.address() + at;
                at += bytes;
                delivered++;
                if (!sender.isOverRate(bytes)) {
                    sender.handler().onMessage(flags, 0, 0, from, bytes);
                }
            } while (at < end && delivered < limit);
        }
        return delivered;
    }

    private boolean next(UdpPort port) {
        int bytes = port.receive(run, room.address(), ROOM_BYTES);
        if (bytes < 0) {
            return false;
        }
        at = 0;
        end = bytes;
        int joined = run.datagramBytes();
        datagramBytes = joined > 0 ? joined : bytes;
        return true;
    }
}
