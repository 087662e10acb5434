/** Two programs that find each other by the names of their services, over the daemon that runs on this host. */
package org.jfabric.samples.pingpong;
