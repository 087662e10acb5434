/** Drivers, fabrics and simulations for tests of JUnit: {@link org.jfabric.junit.FabricTest}. */
package org.jfabric.junit;
