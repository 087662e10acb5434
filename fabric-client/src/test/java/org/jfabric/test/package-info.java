/**
 * Test support shared by all modules: which requirement a test shows, and the report made from it; how long tests wait,
 * which on a slow machine is longer by one factor.
 */
package org.jfabric.test;
