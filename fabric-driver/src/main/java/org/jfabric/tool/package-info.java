/**
 * The operators' commands behind the script {@code fabric}: a check and measurement between two processes, the driver
 * as a daemon, and views of what a driver offers, counts and complains about.
 */
package org.jfabric.tool;
