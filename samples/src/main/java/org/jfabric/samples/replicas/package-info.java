/** A counter on two nodes that survives the end of one; its test is a simulation with faults. */
package org.jfabric.samples.replicas;
