/**
 * The command {@code ./fabric qualify}: two hosts with RDMA devices or Ethernet try all that the links have between
 * them, beside the programs of C, and one of them writes a report. See {@code docs/verbs-tests.md}.
 */
package org.jfabric.driver.qualify;
