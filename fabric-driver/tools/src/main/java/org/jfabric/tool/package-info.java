/**
 * The operators' commands behind the script {@code fabric}: a check and measurement between two processes, the driver
 * as a daemon, and views of a driver's links, counters, queues and errors.
 */
package org.jfabric.tool;
