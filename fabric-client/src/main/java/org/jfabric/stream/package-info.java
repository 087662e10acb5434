/**
 * What one writes and many read, for programs that need no entries: a {@link org.jfabric.stream.Publication} writes
 * messages with positions, and each {@link org.jfabric.stream.Subscription} reads them in order where they are. A log
 * has the messages of a group on disk; its reader needs no driver. See {@code docs/streams.md}.
 *
 * <p>Nothing in here allocates for a message.
 */
package org.jfabric.stream;
