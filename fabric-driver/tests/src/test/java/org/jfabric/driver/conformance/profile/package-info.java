/** What an application gets that asks for API version 2.0 or later. */
package org.jfabric.driver.conformance.profile;
