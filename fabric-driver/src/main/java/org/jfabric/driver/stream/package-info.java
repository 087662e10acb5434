/**
 * Groups: one writer, any number of readers, one ring in shared memory. What a group is stands here; how the drivers of
 * its members talk to each other is the matter of a link, which extends {@link org.jfabric.driver.stream.GroupWire}.
 */
package org.jfabric.driver.stream;
