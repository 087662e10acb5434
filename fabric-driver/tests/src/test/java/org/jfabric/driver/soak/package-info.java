/**
 * The random soak over real drivers: {@link org.jfabric.simulation.soak.SoakWorld} over each link and in each threading
 * mode, and random use of contexts; see docs/soak.md.
 */
package org.jfabric.driver.soak;
