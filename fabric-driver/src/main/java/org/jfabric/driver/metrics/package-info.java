/**
 * The counters of a driver as metrics: with names, units and labels, for the tools and for monitoring systems.
 */
package org.jfabric.driver.metrics;
