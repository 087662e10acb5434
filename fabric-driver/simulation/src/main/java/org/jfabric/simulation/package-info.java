/**
 * Whole fabrics in one thread: drivers, their clients and the network between them run by a virtual clock, in an order
 * that a seed determines. The same seed repeats every event.
 */
package org.jfabric.simulation;
