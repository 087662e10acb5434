/**
 * Watching drivers: samples of their counters with the change per second, shown in a terminal and on a web page.
 */
package org.jfabric.tool.watch;
