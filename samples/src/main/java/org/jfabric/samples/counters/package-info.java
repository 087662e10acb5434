/** Operations that are counted instead of reported one by one. */
package org.jfabric.samples.counters;
