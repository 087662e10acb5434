package org.jfabric.driver.conductor;

import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.link.LinkProvider;
import org.jfabric.driver.log.AgentLog;
import org.jfabric.driver.progress.ProgressThreads;
import org.jfabric.driver.resource.Inbox;
import org.jfabric.driver.resource.ResourceAgent;
import org.jfabric.driver.resource.SharedFiles;
import org.jfabric.driver.resource.SystemCounters;

import java.nio.file.Path;
import java.util.List;

/**
 * The parts of the driver that the conductor and its commands use.
 *
 * @param gid          group whose users are served besides the driver's own user, -1 for none.
 * @param threads      that make progress; their engines and agents only for calls made through their proxies.
 * @param providers    of the enabled links, the preferred one first.
 */
public record ConductorContext(
    DriverConfig config,
    Path directory,
    long gid,
    SharedFiles files,
    ResourceAgent resource,
    Inbox inbox,
    ProgressThreads threads,
    List<LinkProvider> providers,
    SystemCounters counters,
    AgentLog log,
    Drain drain) {

    /**
     * The length of private data that every link with connections carries (FI_OPT_CM_DATA_SIZE). Returns the bytes, 0
     * if no link connects.
     */
    public int cmDataBytes() {
        return providers.stream().mapToInt(LinkProvider::cmDataBytes).filter(each -> each > 0).min().orElse(0);
    }

    /** The driver's name. Returns the last part of its directory, host part of its addresses. */
    public String driverName() {
        return directory.getFileName().toString();
    }
}
