/** What a completion tells: levels, and a fence. */
package org.jfabric.samples.levels;
