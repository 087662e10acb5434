/**
 * The soak: random operations of every kind through the public API, whose entries and bytes are compared with a naive
 * model, over real drivers and in simulations. See docs/soak.md.
 */
package org.jfabric.simulation.soak;
