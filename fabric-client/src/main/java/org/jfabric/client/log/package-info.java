/**
 * The files of a log, read: what {@link org.jfabric.stream.LogReader}, the log's writer when it opens, and the tools
 * share.
 */
package org.jfabric.client.log;
