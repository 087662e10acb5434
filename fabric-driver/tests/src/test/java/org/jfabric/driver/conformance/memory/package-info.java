/** Remote memory access: the rows of fi_rma(3) and fi_mr(3). */
package org.jfabric.driver.conformance.memory;
