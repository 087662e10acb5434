/**
 * Test support shared by all modules: which requirement a test shows, and the report made from it.
 */
package org.jfabric.test;
