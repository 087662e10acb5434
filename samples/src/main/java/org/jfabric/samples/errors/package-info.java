/** What a program sees when a transfer cannot be done. */
package org.jfabric.samples.errors;
