/** An application on the module path. */
module com.example.hello {
    requires org.jfabric.driver;
}
