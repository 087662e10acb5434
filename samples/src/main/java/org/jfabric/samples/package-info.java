/**
 * Small runnable programs, one idea each, that use the public API only.
 */
package org.jfabric.samples;
