/**
 * JMH benchmarks of single hops of the data path.
 */
package org.jfabric.perf.jmh;
