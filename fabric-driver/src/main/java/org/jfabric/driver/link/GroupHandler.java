package org.jfabric.driver.link;

import org.jfabric.info.FabricException;

/**
 * Takes the result of {@link Link#join(LocalEndpoint, GroupName, long, LogPosition, boolean, GroupHandler)}: one
 * call of one method.
 *
 * <p>Owner: progress agent.
 */
public interface GroupHandler {
    /** The endpoint is a member. */
    void onJoined(JoinedGroup joined);

    /**
     * The endpoint is no member.
     *
     * @param cause with errno, values and remedy.
     */
    void onFailed(FabricException cause);
}
