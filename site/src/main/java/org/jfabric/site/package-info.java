/** Makes a static documentation site from the Markdown pages of the repository. */
package org.jfabric.site;
