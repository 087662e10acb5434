package org.jfabric.driver.link.udp;

import org.agrona.concurrent.EpochNanoClock;
import org.agrona.concurrent.SystemEpochNanoClock;
import org.jfabric.driver.link.support.DatagramSources;
import org.jfabric.driver.resource.Stage;
import org.jfabric.driver.resource.StageTimes;
import org.jfabric.ffi.MessageVector;
import org.jfabric.ffi.SocketTimes;
import org.jfabric.info.Flags;
import org.jfabric.info.TimestampClock;

/**
 * Receives datagrams with their times of arrival. They are never joined, because joined ones have one time.
 *
 * <p>Owner: progress agent.
 */
final class TimedDatagrams implements DatagramIntake {
    private final MessageVector incoming;
    private final UdpReader.Slots slots;
    private final boolean isOfCard;
    private final StageTimes stages;
    private final EpochNanoClock clock = new SystemEpochNanoClock();
    private int expected = 1;
    private int untilSample;

    TimedDatagrams(int batch, TimestampClock clock, StageTimes stages) {
        incoming = new MessageVector(batch, 1, SocketTimes.CONTROL_BYTES);
        slots = new UdpReader.Slots(incoming);
        isOfCard = clock == TimestampClock.CARD;
        this.stages = stages;
        untilSample = stages.interval();
    }

    @Override
    public boolean areWaiting() {
        return false;
    }

    @Override
    public int receive(UdpPort port, DatagramSources sources, UdpChannel unknownSenders, long flags, int limit) {
        MessageVector taken = port.incoming(incoming);
        int asked = Math.min(expected, Math.min(limit, taken.capacity()));
        int count = port.receiveTimed(taken, asked);
        for (int i = 0; i < count; i++) {
            long name = taken.nameAddress(i);
            taken.nameLength(i, MessageVector.NAME_BYTES);
            UdpChannel sender = UdpChannel.sender(sources, name, unknownSenders);
            if (!sender.isOverRate(taken.transferred(i))) {
                long timeNs = port.timeNs(taken, i, isOfCard);
                sample(timeNs);
                sender.handler().arrivedAt(timeNs);
                sender.handler().onMessage(
                    flags | Flags.TIMESTAMP, 0, 0, taken.pieceAddress(i, 0), taken.transferred(i));
            }
        }
        if (count != 0) {
            port.delivered();
        }
        adapt(count, asked);
        return count;
    }

    /** A card's clock cannot be compared with ours. */
    private void sample(long timeNs) {
        if (stages.isOn() && --untilSample <= 0) {
            untilSample = stages.interval();
            if (timeNs != 0 && !isOfCard) {
                stages.record(Stage.ARRIVAL_TO_MATCH, clock.nanoTime() - timeNs);
            }
        }
    }

    /** As {@link UdpEndpoint}: a request for several costs an additional check of the socket. */
    private void adapt(int count, int asked) {
        if (count == asked) {
            expected = Math.min(2 * expected, incoming.capacity());
        } else if (count == 0 && expected > 1) {
            expected /= 2;
        }
    }
}
