package org.jfabric.driver.stream;

import org.jfabric.info.LogPosition;

/**
 * What the driver of a reader asks the driver of a group's writer.
 *
 * @param join   the asking driver's number of the membership.
 * @param source address of the endpoint that wants to read.
 * @param group  address of the group.
 * @param from   the first message that it reads; null for what is written from now on.
 */
public record GroupRequest(int join, String source, String group, byte[] authKey, LogPosition from) {
}
