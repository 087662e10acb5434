package org.jfabric.tool;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jfabric.driver.log.EventKind;
import org.jfabric.layout.EventRecordDescriptor;

/**
 * Explains the outliers of a ping-pong: joins what both sides have noted with the logs of the virtual machines and the
 * records of the drivers. Owner: the main thread.
 */
final class PingPongExplanation {
    /** Between two samples of a thread, which take some microseconds. */
    private static final long SAMPLE_NS = 500_000;
    private static final long LEAST_PERIOD = 8;
    private static final long MOST_PERIOD = 1024;

    private final PingPongPlan plan;
    private final Path folder;
    private final double times;
    private long beginNs;
    private long thresholdNs;

    PingPongExplanation(PingPongPlan plan, Path folder, double times) {
        this.plan = plan;
        this.folder = folder;
        this.times = times;
    }

    private Path log(PingPongPlan.Member member) {
        return folder.resolve("vm-" + member.title().replace(' ', '-') + ".log");
    }

    /** Options of the virtual machine of a process. */
    List<String> flags(PingPongPlan.Member member) {
        return List.of(SafepointLog.flag(log(member)));
    }

    /** A pass begins. Returns the command for both sides. */
    String begin(long medianNs) {
        beginNs = System.nanoTime();
        thresholdNs = Math.max(1, Math.round(medianNs * times));
        return "explain " + thresholdNs + ' '
            + Math.clamp(SAMPLE_NS / Math.max(1, medianNs), LEAST_PERIOD, MOST_PERIOD);
    }

    /** The pass is over. */
    Outliers end(String ping, String pong) {
        List<Outliers.Outlier> outliers = new ArrayList<>();
        List<Cause> causes = new ArrayList<>();
        long count = OutlierProbe.read(PingPongRole.PING.text(), ping, outliers, causes);
        OutlierProbe.read(PingPongRole.PONG.text(), pong, new ArrayList<>(), causes);
        for (PingPongPlan.Member member : plan.processes()) {
            if (Files.exists(log(member))) {
                causes.addAll(SafepointLog.read(member.title(), log(member)));
            }
            if (member.driver() != null) {
                addEvents(member, causes);
            }
        }
        causes.removeIf(cause -> cause.endNs() - beginNs < 0);
        return Outliers.explain("round trips", thresholdNs, count, outliers, causes);
    }

    /** A slow cycle of a driver that the side itself runs is the outlier, and explains nothing. */
    private void addEvents(PingPongPlan.Member member, List<Cause> causes) {
        RecordView record = RecordView.read(
            folder.resolve(member.driverName()), EventRecordDescriptor.FILE_NAME);
        if (record == null) {
            return;
        }
        for (RecordView.Event event : record.events()) {
            Cause cause = event.kind() == EventKind.SLOW_CYCLE && member.role() != PingPongRole.DAEMON ? null
                : WhyCommand.cause(event, "driver " + member.driverName());
            if (cause != null) {
                causes.add(cause);
            }
        }
    }
}
