/** A log in a file that survives a power failure, written by commits and replayed by remote reads. */
package org.jfabric.samples.log;
