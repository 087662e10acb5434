/**
 * Torture of real processes: workers with checked contents, which a controller kills, stops and harms by a seed. See
 * {@code docs/reliability.md}.
 */
package org.jfabric.driver.torture;
