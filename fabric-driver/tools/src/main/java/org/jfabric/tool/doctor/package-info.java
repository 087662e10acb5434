/**
 * What {@code fabric doctor} examines: one class for each check, which reads a {@link org.jfabric.tool.doctor.Host} and
 * changes nothing.
 */
package org.jfabric.tool.doctor;
