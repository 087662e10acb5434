/**
 * Benchmarks and the rig that measures JFabric side by side with its peers.
 */
package org.jfabric.perf;
