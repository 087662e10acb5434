package org.jfabric.tool.watch;

import java.util.List;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.Option;
import org.jfabric.driver.config.OptionGroup;
import org.jfabric.tool.ErrorLog;
import org.jfabric.tool.JsonWriter;
import org.jfabric.tool.ToolException;

/** The answers of the page's server; one JSON object each. What is not known is {@code null}. */
final class WebJson {
    private WebJson() {
    }

    static String state(Sample sample, long periodMs) {
        JsonWriter json = new JsonWriter().beginObject()
            .member("timeMs", sample.timeMs())
            .member("seconds", sample.seconds())
            .member("periodMs", periodMs)
            .name("drivers").beginArray();
        sample.drivers().forEach(driver -> driver(json, driver));
        json.endArray().name("waits").beginArray();
        for (Sample.Wait wait : sample.waits()) {
            json.beginObject()
                .member("who", wait.who())
                .member("forWhom", wait.forWhom())
                .member("why", wait.why())
                .member("seconds", wait.seconds())
                .endObject();
        }
        json.endArray().name("groups").beginArray();
        sample.groups().forEach(group -> group.write(json));
        return json.endArray().endObject().toString();
    }

    private static void driver(JsonWriter json, Sample.Driver driver) {
        json.beginObject()
            .member("name", driver.name())
            .member("directory", driver.directory().toString())
            .member("state", driver.state().text())
            .member("problem", driver.problem())
            .member("pid", driver.pid())
            .member("startMs", driver.startMs())
            .name("totals").beginObject();
        driver.totals().forEach(json::member);
        json.endObject().name("cycles");
        cycles(json, driver.cycles());
        json.name("clients").beginArray();
        driver.clients().forEach(client -> json.beginObject()
            .member("id", client.id()).member("name", client.name()).member("pid", client.pid()).endObject());
        json.endArray().name("endpoints").beginArray();
        for (Sample.Endpoint endpoint : driver.endpoints()) {
            json.beginObject()
                .member("id", endpoint.id())
                .member("client", endpoint.client())
                .member("address", endpoint.address())
                .member("state", endpoint.state().text());
            meters(json, endpoint.meters());
            json.name("peers").beginArray();
            for (Sample.Peer peer : endpoint.peers()) {
                json.beginObject()
                    .member("address", peer.address())
                    .member("link", peer.link())
                    .member("state", peer.state().text());
                meters(json, peer.meters());
                json.endObject();
            }
            json.endArray().endObject();
        }
        json.endArray().name("links").beginArray();
        for (Sample.Link link : driver.links()) {
            meters(json.beginObject().member("name", link.name()), link.meters());
            json.endObject();
        }
        json.endArray().endObject();
    }

    private static void meters(JsonWriter json, Meters meters) {
        json.name("values").beginObject();
        meters.values().forEach(json::member);
        json.endObject().name("rates").beginObject();
        meters.rates().forEach(json::member);
        json.endObject();
    }

    private static void cycles(JsonWriter json, Sample.Cycles cycles) {
        if (cycles == null) {
            json.value((String) null);
        } else {
            json.beginObject()
                .member("count", cycles.count())
                .member("medianNs", cycles.medianNs())
                .member("p99Ns", cycles.p99Ns())
                .member("maxNs", cycles.maxNs())
                .endObject();
        }
    }

    static String history(List<History.Moment> moments) {
        JsonWriter json = new JsonWriter().beginObject().name("moments").beginArray();
        for (History.Moment moment : moments) {
            json.beginObject().member("timeMs", moment.timeMs()).name("drivers").beginArray();
            for (History.Point point : moment.points()) {
                json.beginObject()
                    .member("directory", point.driver())
                    .member("messages", point.messages())
                    .member("bytes", point.bytes())
                    .name("cycles");
                cycles(json, point.cycles());
                json.endObject();
            }
            json.endArray().endObject();
        }
        return json.endArray().endObject().toString();
    }

    /** The errors of each driver; of one whose log cannot be read the reason. */
    static String errors(Sample sample) {
        JsonWriter json = new JsonWriter().beginObject().name("drivers").beginArray();
        for (Sample.Driver driver : sample.drivers()) {
            try {
                ErrorLog.read(driver.directory()).write(json);
            } catch (ToolException ex) {
                json.beginObject().member("directory", driver.directory().toString()).member("running", false)
                    .name("errors").beginArray().endArray().name("kept").beginArray().endArray()
                    .member("problem", ex.getMessage()).endObject();
            }
        }
        return json.endArray().endObject().toString();
    }

    /** The options that each driver was given, and all options with their defaults. */
    static String options(Sample sample) {
        JsonWriter json = new JsonWriter().beginObject().name("drivers").beginArray();
        for (Sample.Driver driver : sample.drivers()) {
            json.beginObject().member("directory", driver.directory().toString()).name("set").beginArray();
            driver.options().forEach(setting -> json.beginObject()
                .member("name", setting.name())
                .member("value", setting.value())
                .member("origin", setting.origin())
                .endObject());
            json.endArray().endObject();
        }
        json.endArray().name("groups").beginArray();
        for (OptionGroup group : DriverConfig.optionGroups()) {
            json.beginObject().member("title", group.title()).name("options").beginArray();
            for (Option<?> option : group.options()) {
                json.beginObject()
                    .member("name", option.name())
                    .member("default", option.defaultText())
                    .member("unit", option.unit())
                    .endObject();
            }
            json.endArray().endObject();
        }
        return json.endArray().endObject().toString();
    }
}
