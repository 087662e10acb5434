/**
 * Matching, placing and completion of receives; the unexpected store.
 */
package org.jfabric.driver.engine.rx;
