/**
 * The driver's options, in groups of one concern each.
 *
 * <p>Every option is declared once, as an {@link org.jfabric.driver.config.Option} constant of its group: property
 * name, unit, default, range and the reason to change it. A {@link org.jfabric.driver.config.DriverConfig} is built
 * from code, system properties and a file, checked as a whole and immutable afterwards. Internal settings of the driver
 * (queues, agents, clocks) are no options and not here.
 */
package org.jfabric.driver.config;
