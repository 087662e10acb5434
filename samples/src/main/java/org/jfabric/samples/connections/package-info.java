/** A connection that is asked for, accepted, used and ended. */
package org.jfabric.samples.connections;
