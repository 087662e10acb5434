/**
 * Streams: the messages of a group in the order of their positions.
 *
 * <p>Today the package has the reader of a log, which is a stream on disk. It needs no driver. See
 * {@code docs/streams.md}.
 */
package org.jfabric.stream;
