package org.jfabric.driver.link;

import org.jfabric.info.FabricException;
import org.jfabric.info.LogPosition;

/**
 * Takes the result of {@link Link#join(LocalEndpoint, GroupName, long, LogPosition, GroupHandler)}: one call of one
 * method.
 *
 * <p>Owner: progress agent.
 */
public interface GroupHandler {
    /**
     * The endpoint is a member.
     *
     * @param start of a reader its first message, of a writer the next one.
     * @param log   folder in which the group is recorded; empty without.
     */
    void onJoined(LogPosition start, String log);

    /**
     * The endpoint is no member.
     *
     * @param cause with errno, values and remedy.
     */
    void onFailed(FabricException cause);
}
