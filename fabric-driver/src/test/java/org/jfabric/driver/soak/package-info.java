/**
 * The random soak: operations of every kind from a seeded generator, through the public API over each link and in each
 * threading mode, held against the naive reference model; see docs/soak.md.
 */
package org.jfabric.driver.soak;
