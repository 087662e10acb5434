package org.jfabric.perf.compare;

import java.util.List;
import java.util.Map;
import org.jfabric.tool.JsonWriter;

/** A run as one JSON object on one line; the names are what programs rely on. */
final class ResultJson {
    private static final int RATIO_DECIMALS = 3;

    private ResultJson() {
    }

    /**
     * Writes it.
     *
     * @param run     to be written.
     * @param readings true to add the value of each round to each result.
     */
    static String write(Comparison run, boolean readings) {
        JsonWriter json = new JsonWriter().beginObject();
        json.name("environment").beginObject();
        for (Map.Entry<String, String> each : run.environment().entrySet()) {
            json.member(each.getKey(), each.getValue());
        }
        json.member("rounds", run.results().rounds()).member("roundsWanted", run.results().wanted())
            .member("maxHandOverNs", run.results().maxHandOverNs()).endObject();
        json.name("results").beginArray();
        for (Results.Line line : run.results().lines()) {
            write(json, line, run, readings);
        }
        json.endArray().name("targets").beginArray();
        for (Target.Verdict verdict : run.verdicts()) {
            write(json, verdict, Reason.of(run, verdict));
        }
        json.endArray().name("profiles").beginArray();
        for (Comparison.SideProfile each : run.profiles()) {
            write(json, each);
        }
        json.endArray();
        json.name("garbageCollections").beginObject()
            .member("messages", run.streamed()).member("collections", run.collections()).endObject();
        json.member("messagesCompared", run.verified());
        texts(json, "missing", run.missing());
        texts(json, "notes", run.notes());
        return json.endObject().toString();
    }

    private static void write(JsonWriter json, Results.Line line, Comparison run, boolean readings) {
        json.beginObject()
            .member("system", line.cell().system())
            .member("metric", line.metric().key())
            .member("sizeBytes", line.cell().sizeBytes())
            .member("median", line.median())
            .member("min", line.min())
            .member("max", line.max())
            .member("unit", line.metric().unit())
            .name("medianInHandOvers").value(line.inHandOvers(), RATIO_DECIMALS)
            .member("validRounds", line.validRounds());
        states(json, line.states(), 1);
        json.member("disturbedRounds", run.results().disturbedRounds(line.cell()));
        if (readings) {
            json.name("values").beginArray();
            for (double value : line.values()) {
                json.value(value);
            }
            json.endArray().name("disturbances").beginArray();
            for (Reading reading : run.results().readings(line.cell())) {
                json.value(reading == null ? null : String.join("; ", reading.disturbances()));
            }
            json.endArray();
            handOvers(json, line, run.results());
        }
        json.endObject();
    }

    private static void handOvers(JsonWriter json, Results.Line line, Results results) {
        json.name("states").beginArray();
        for (RoundState state : results.states(line.metric(), line.cell())) {
            json.value(state.text());
        }
        json.endArray().name("handOversNs").beginArray();
        for (Reading reading : results.readings(line.cell())) {
            HandOvers around = reading == null ? null : reading.handOvers();
            json.beginArray().value(around == null ? Double.NaN : around.beforeNs())
                .value(around == null ? Double.NaN : around.afterNs()).endArray();
        }
        json.endArray();
    }

    private static void states(JsonWriter json, Map<RoundState, Spread> states, int decimals) {
        json.name("byState").beginArray();
        states.forEach((state, spread) -> json.beginObject()
            .member("state", state.text())
            .member("rounds", spread.rounds())
            .name("median").value(spread.median(), decimals)
            .name("min").value(spread.min(), decimals)
            .name("max").value(spread.max(), decimals)
            .endObject());
        json.endArray();
    }

    private static void write(JsonWriter json, Comparison.SideProfile side) {
        json.beginObject()
            .member("cell", side.cell().toString())
            .member("side", side.doing())
            .member("nsPerMessage", side.nsPerMessage())
            .member("samples", side.profile().total())
            .name("parts").beginArray();
        for (Profile.Part part : side.profile().parts()) {
            json.beginObject().member("part", part.name()).name("share").value(part.share(), RATIO_DECIMALS)
                .endObject();
        }
        json.endArray().endObject();
    }

    private static void write(JsonWriter json, Target.Verdict verdict, String reason) {
        Target target = verdict.target();
        json.beginObject()
            .member("what", target.what())
            .member("metric", target.metric().key())
            .member("verdict", verdict.outcome().key())
            .member("measured", verdict.measured())
            .name("ratio").value(verdict.ratio(), RATIO_DECIMALS)
            .member("own", verdict.own())
            .member("other", verdict.other())
            .member("otherSystem", verdict.against() == null ? null : verdict.against().cell().system())
            .name("least").value(target.least() > 0 ? target.least() : Double.NaN, RATIO_DECIMALS)
            .name("must").value(target.must() == Target.SHOWN ? Double.NaN : target.must(), RATIO_DECIMALS)
            .name("goal").value(target.goal(), RATIO_DECIMALS)
            .member("met", verdict.met())
            .member("goalMet", verdict.goalMet())
            .name("missedBy").value(verdict.missedBy(), RATIO_DECIMALS)
            .member("validRounds", verdict.validRounds())
            .member("neededRounds", target.neededRounds())
            .member("roundsWithin5Percent", verdict.near());
        states(json, verdict.states(), RATIO_DECIMALS);
        json.member("reason", reason).endObject();
    }

    private static void texts(JsonWriter json, String name, List<String> texts) {
        json.name(name).beginArray();
        texts.forEach(json::value);
        json.endArray();
    }
}
