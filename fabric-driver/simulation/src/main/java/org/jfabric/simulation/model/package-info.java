/** The naive reference model of matching that random tests are held against. */
package org.jfabric.simulation.model;
