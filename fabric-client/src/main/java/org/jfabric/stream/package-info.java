/**
 * What one writes and many read, for programs that need no entries: a {@link org.jfabric.stream.Publication} writes
 * messages with positions, each {@link org.jfabric.stream.Subscription} reads them in order where they are
 * ({@code docs/streams.md}); and the
 * reader of a log, which is the messages of a group on disk in the order of their positions, and needs no driver.
 *
 * <p>Nothing in here allocates for a message.
 */
package org.jfabric.stream;
