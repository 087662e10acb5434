"use strict";

/* Numbers and times in few characters. */
const Figures = (() => {
    const compact = new Intl.NumberFormat("en", {notation: "compact", maximumSignificantDigits: 3});
    const UNITS = ["ns", "\u00b5s", "ms", "s"];

    function known(value) {
        return value !== null && value !== undefined;
    }

    function number(value) {
        return known(value) ? compact.format(value < 10 ? Math.round(value * 10) / 10 : Math.round(value)) : "\u2013";
    }

    function time(ns) {
        if (!known(ns) || ns < 0) {
            return "\u2013";
        }
        if (ns > 1e15) {
            return "> 17 s";
        }
        const unit = Math.min(3, Math.max(0, Math.floor(Math.log10(Math.max(1, ns)) / 3)));
        return Number((ns / 10 ** (3 * unit)).toPrecision(3)) + " " + UNITS[unit];
    }

    function duration(seconds) {
        const whole = Math.max(0, Math.floor(seconds));
        const two = (large, small, a, b) => large + " " + a + (small ? " " + small + " " + b : "");
        return whole < 60 ? whole + " s"
            : whole < 3600 ? two(Math.floor(whole / 60), whole % 60, "min", "s")
            : whole < 86400 ? two(Math.floor(whole / 3600), Math.floor(whole / 60) % 60, "h", "min")
            : two(Math.floor(whole / 86400), Math.floor(whole / 3600) % 24, "d", "h");
    }

    function clock(ms) {
        return new Date(ms).toLocaleTimeString("en-GB");
    }

    return {number, time, duration, clock, known};
})();

/* Asks the server for data; the key came with the address and is kept for this tab. */
const Server = (() => {
    const STORE = "jfabric-key-" + location.port;
    const given = location.hash.match(/^#([0-9a-f]{32})$/);
    if (given) {
        sessionStorage.setItem(STORE, given[1]);
        history.replaceState(null, "", location.pathname);
    }

    async function get(path) {
        const answer = await fetch("api/" + path, {
            headers: {Authorization: "Bearer " + sessionStorage.getItem(STORE)}, signal: AbortSignal.timeout(5000),
        });
        if (answer.status === 401) {
            throw new Error("the key is missing or wrong: open the address that \u2018fabric web\u2019 has printed");
        }
        if (!answer.ok) {
            throw new Error("the server answers " + answer.status);
        }
        return answer.json();
    }

    return {get};
})();

/* Tables whose rows are cards where there is little room. */
const Tables = (() => {
    function element(name, className, text) {
        const created = document.createElement(name);
        if (className) {
            created.className = className;
        }
        if (text !== undefined) {
            created.textContent = text;
        }
        return created;
    }

    function state(word) {
        return element("span", "state " + word, (Graph.MARKS[word] ? Graph.MARKS[word] + " " : "") + word);
    }

    /* A header of texts, or of buttons where onSort is given. A column: {title, kind: "head", "number" or "text"}. */
    function create(caption, columns, onSort) {
        const table = element("table", onSort ? "sortable" : "");
        table.setAttribute("role", "table");
        table.setAttribute("aria-label", caption);
        const head = element("thead");
        const row = element("tr");
        head.setAttribute("role", "rowgroup");
        row.setAttribute("role", "row");
        columns.forEach((column, index) => {
            const cell = element("th", column.kind === "number" ? "number" : "");
            cell.setAttribute("role", "columnheader");
            cell.scope = "col";
            if (onSort) {
                const button = element("button", "", column.title);
                button.type = "button";
                button.addEventListener("click", () => onSort(index));
                cell.append(button);
            } else {
                cell.textContent = column.title;
            }
            row.append(cell);
        });
        head.append(row);
        const body = element("tbody");
        body.setAttribute("role", "rowgroup");
        table.append(head, body);
        return table;
    }

    /* Replaces the rows. A row: {className, cells}; a cell is a text or an element. */
    function fill(table, columns, rows) {
        table.tBodies[0].replaceChildren(...rows.map(({className, cells}) => {
            const row = element("tr", className);
            row.setAttribute("role", "row");
            cells.forEach((content, index) => {
                const kind = columns[index].kind;
                const cell = element(kind === "head" ? "th" : "td", kind === "head" ? "" : kind);
                cell.setAttribute("role", kind === "head" ? "rowheader" : "cell");
                if (kind === "head") {
                    cell.scope = "row";
                } else {
                    cell.dataset.label = columns[index].title;
                }
                cell.append(content);
                row.append(cell);
            });
            return row;
        }));
    }

    return {element, state, create, fill};
})();

/* The lines of the last minutes, one for each driver. */
const Lines = (() => {
    const FONT = "12px system-ui, sans-serif";
    const KEPT_MS = 600000;
    const COLORS = 6;
    const PLOTS = [
        {title: "Messages sent and received per second", value: (point) => point.messages, text: Figures.number},
        {title: "Bytes sent and received per second", value: (point) => point.bytes, text: Figures.number},
        {
            title: "99 % of duty cycles took at most", logarithmic: true, text: Figures.time,
            value: (point) => time(point.cycles && point.cycles.p99Ns),
        },
        {
            title: "Longest duty cycle of each second", logarithmic: true, text: Figures.time,
            value: (point) => time(point.cycles && point.cycles.maxNs),
        },
    ];
    const place = document.getElementById("plots");
    let moments = [];
    let plots = [];
    let drawn = "";

    function time(ns) {
        return Figures.known(ns) && ns > 0 && ns < 1e15 ? ns : null;
    }

    function color(name) {
        return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
    }

    function last() {
        return moments.length === 0 ? 0 : moments[moments.length - 1].timeMs;
    }

    function add(more) {
        moments = moments.concat(more.filter((moment) => moment.timeMs > last()));
        moments = moments.filter((moment) => moment.timeMs > last() - KEPT_MS);
    }

    function directories() {
        return [...new Set(moments.flatMap((moment) => moment.drivers.map((each) => each.directory)))].sort();
    }

    function dataOf(plot, all) {
        return [moments.map((moment) => moment.timeMs / 1000), ...all.map((directory) => moments.map((moment) => {
            const point = moment.drivers.find((each) => each.directory === directory);
            return point ? plot.value(point) ?? null : null;
        }))];
    }

    function axis(options) {
        return Object.assign({
            font: FONT, stroke: color("text"), grid: {stroke: color("line"), width: 1},
            ticks: {stroke: color("line"), width: 1, size: 4},
        }, options);
    }

    function range(plot) {
        if (!plot.logarithmic) {
            return (self, min, max) => [0, max > 0 ? 1.08 * max : 1];
        }
        return (self, min, max) => !Figures.known(min) || min <= 0 ? [100, 100000]
            : [10 ** Math.floor(Math.log10(min)), 10 ** Math.ceil(Math.log10(max + 1))];
    }

    /* Of a logarithmic axis only the powers of ten have a line. */
    function powers(plot) {
        return (self, splits) => splits.map((value) =>
            plot.logarithmic && Math.log10(value) % 1 !== 0 ? null : value);
    }

    function create(plot, all) {
        const figure = Tables.element("figure");
        figure.append(Tables.element("figcaption", "", plot.title));
        place.append(figure);
        const dashes = [[], [7, 4], [2, 3]];
        const short = (directory) => directory.replace(/^.*\//, "");
        return new uPlot({
            width: figure.clientWidth, height: 200,
            scales: {x: {time: true}, y: {distr: plot.logarithmic ? 3 : 1, range: range(plot)}},
            axes: [
                axis({
                    size: 28, space: 76, values: (self, splits) => splits.map((value) => Figures.clock(value * 1000)),
                }),
                axis({
                    size: 62, grid: {stroke: color("line"), width: 1, filter: powers(plot)},
                    ticks: {stroke: color("line"), width: 1, size: 4, filter: powers(plot)},
                    values: (self, splits) => splits.map((value) =>
                        value === null || plot.logarithmic && Math.log10(value) % 1 !== 0 ? "" : plot.text(value)),
                }),
            ],
            series: [
                {label: "at", value: (self, value) => value === null ? "" : Figures.clock(value * 1000)},
                ...all.map((directory, index) => ({
                    label: short(directory), stroke: color("series-" + index % COLORS), width: 1.8,
                    dash: dashes[Math.floor(index / COLORS) % dashes.length], points: {show: plot.logarithmic === true, size: 3},
                    value: (self, value) => plot.text(value),
                })),
            ],
            cursor: {y: false, drag: {x: false, y: false}},
        }, dataOf(plot, all), figure);
    }

    /* Draws anew when drivers, width or colors have changed. */
    function draw() {
        const all = directories();
        if (place.clientWidth === 0) {
            return;
        }
        const state = JSON.stringify([all, place.clientWidth, color("page")]);
        if (state !== drawn) {
            drawn = state;
            plots.forEach((plot) => plot.destroy());
            place.replaceChildren();
            plots = PLOTS.map((plot) => create(plot, all));
            plots.forEach((plot) => plot.setSize({width: plot.root.parentElement.clientWidth, height: 200}));
        } else {
            plots.forEach((plot, index) => plot.setData(dataOf(PLOTS[index], all)));
        }
    }

    return {add, draw, last};
})();

const Page = (() => {
    const {element} = Tables;
    const byId = (id) => document.getElementById(id);
    const HEAD = "head";
    const NUMBER = "number";
    const DRIVER_COLUMNS = [
        ["Driver", HEAD], ["State", "state-cell"], ["Process", NUMBER], ["Up", NUMBER], ["Clients", NUMBER],
        ["Endpoints", NUMBER], ["Sent/s", NUMBER], ["Received/s", NUMBER], ["Errors", NUMBER],
        ["Cycle, median", NUMBER], ["99 %", NUMBER], ["Max", NUMBER], ["Longest ever", NUMBER],
        ["Slow cycles", NUMBER],
    ].map(([title, kind]) => ({title, kind}));
    const WAIT_COLUMNS = [
        {title: "Who", kind: HEAD}, {title: "For whom", kind: "text"}, {title: "Why", kind: "text"},
        {title: "Since", kind: NUMBER},
    ];
    const GROUP_COLUMNS = [
        ["Group, reader", HEAD], ["Writer, log", "text"], ["Position", NUMBER], ["Behind", NUMBER], ["Has not moved", NUMBER],
        ["Lost", NUMBER], ["Readers", NUMBER], ["Oldest in the ring", NUMBER], ["Waits", NUMBER],
    ].map(([title, kind]) => ({title, kind}));
    const ENDPOINT_COLUMNS = [
        {title: "Endpoint, peer", kind: HEAD, value: (node) => node.address},
        {title: "Client, link", kind: "client-cell", value: (node) => node.owner},
        {title: "State", kind: "state-cell", value: (node) => Graph.ORDER.indexOf(node.state)},
        {title: "Sent/s", kind: NUMBER, value: (node) => node.rates.sent_messages},
        {title: "Sent B/s", kind: NUMBER, value: (node) => node.rates.sent_bytes},
        {title: "Received/s", kind: NUMBER, value: (node) => node.rates.received_messages},
        {title: "Received B/s", kind: NUMBER, value: (node) => node.rates.received_bytes},
        {title: "RMA/s", kind: NUMBER, value: (node) => node.rates.remote_accesses},
        {title: "Sends", kind: NUMBER, value: (node) => node.values.outstanding_sends},
        {title: "Receives", kind: NUMBER, value: (node) => node.values.posted_receives},
        {title: "Sends wait", kind: NUMBER, value: (node) => node.values.waiting_sends},
        {title: "Unread", kind: NUMBER, value: (node) => node.values.waiting_messages},
        {title: "Errors", kind: NUMBER, value: (node) => node.values.errors},
    ];
    const OPTION_COLUMNS = [
        {title: "Option", kind: HEAD}, {title: "Value", kind: "text"}, {title: "Set by", kind: "text"},
        {title: "Default", kind: "text"},
    ];
    const driverTable = Tables.create("Drivers", DRIVER_COLUMNS);
    const waitTable = Tables.create("Who waits for whom", WAIT_COLUMNS);
    const groupTable = Tables.create("Groups and their readers", GROUP_COLUMNS);
    const endpointTable = Tables.create("Endpoints and peers", ENDPOINT_COLUMNS, sortBy);
    let sort = {column: 0, factor: 1};
    let paused = false;
    let state = null;
    let errorsSeen = "";
    let optionsSeen = "";
    let options = null;

    function none(text) {
        return element("p", "none", text);
    }

    function drivers() {
        Tables.fill(driverTable, DRIVER_COLUMNS, state.drivers.map((driver) => {
            const alive = driver.state === "running" || driver.state === "parked";
            const rate = (name) => driver.cycles === null ? null
                : driver.links.reduce((sum, link) => sum + (link.rates[name] ?? 0), 0);
            const cycles = driver.cycles ?? {};
            return {cells: [
                driver.name, Tables.state(driver.state), String(driver.pid || "\u2013"),
                alive ? Figures.duration((state.timeMs - driver.startMs) / 1000) : "\u2013",
                String(driver.clients.length), String(driver.endpoints.length), Figures.number(rate("sent_messages")),
                Figures.number(rate("received_messages")), Figures.number(driver.totals.errors),
                Figures.time(cycles.medianNs), Figures.time(cycles.p99Ns), Figures.time(cycles.maxNs),
                Figures.time(driver.totals.cycle_max_seconds), Figures.number(driver.totals.slow_cycles),
            ]};
        }));
        const problems = state.drivers.filter((driver) => driver.problem !== null);
        byId("driver-table").replaceChildren(
            ...(state.drivers.length === 0 ? [none("No driver runs, and none was killed.")] : [driverTable]),
            ...problems.map((driver) => element("p", "unreadable", driver.problem)));
    }

    function graphs() {
        const place = byId("graphs");
        if (place.clientWidth === 0) {
            /* The page is not shown now. */
            return;
        }
        place.replaceChildren(...state.drivers.filter((each) => each.problem === null).map((driver) => {
            const figure = element("figure");
            figure.append(element("figcaption", "", "Driver " + driver.name + ", " + driver.state));
            const more = driver.endpoints.length - Graph.MOST_ENDPOINTS;
            figure.append(Graph.draw(driver, place.clientWidth) ?? none("It has no endpoint."));
            if (more > 0) {
                figure.append(none("The table below has " + more + " endpoints more."));
            }
            return figure;
        }));
    }

    function waits() {
        Tables.fill(waitTable, WAIT_COLUMNS, state.waits.map((wait) => ({
            cells: [wait.who, wait.forWhom, wait.why, Figures.duration(wait.seconds)],
        })));
        byId("wait-table").replaceChildren(
            state.waits.length === 0 ? none("Nothing waits for another endpoint.") : waitTable);
    }

    function readerRow(group, reader) {
        return {className: "peer", cells: [
            reader.address, reader.address === group.heldBackBy ? "holds it back" : "", String(reader.position),
            Figures.number(reader.lag), reader.stillMs > 0 ? Figures.duration(reader.stillMs / 1000) : "",
            Figures.number(reader.lost), "", "", "",
        ]};
    }

    function logRow(log) {
        return {className: "peer", cells: [
            "log " + log.folder, log.text, String(log.written), Figures.number(log.lag),
            log.stillMs > 0 ? Figures.duration(log.stillMs / 1000) : "", Figures.number(log.dropped), "", "", "",
        ]};
    }

    function hostRow(group, host) {
        const holds = host.address === group.heldBackBy ? "holds it back; " : "";
        const rate = host.rate === null ? "" : Figures.number(host.rate) + "B/s, ";
        return {className: "peer", cells: [
            "host " + host.driver + " at " + host.address, holds + rate + host.text, String(host.position),
            Figures.number(host.lag), "", "", "", "", "",
        ]};
    }

    function streamRow(group) {
        return {className: "peer", cells: [
            "from the other host", group.stream, "", "", "", Figures.number(group.values.lost_messages), "", "", "",
        ]};
    }

    function groups() {
        Tables.fill(groupTable, GROUP_COLUMNS, state.groups.flatMap((group) => {
            const values = group.values;
            const near = group.readers.length > 0 ? group.readers[0].lag : values.lag_messages;
            const slowest = group.hosts.length > 0 ? Math.max(group.hosts[0].lag, near ?? 0) : near;
            return [{className: "endpoint", cells: [
                group.address, group.writer ?? "not seen", String(values.position ?? "\u2013"), Figures.number(slowest),
                "", "", String(values.readers ?? "\u2013"), String(values.oldest_position ?? "\u2013"),
                Figures.number(values.reader_waits),
            ]}, ...(group.recording === null ? [] : [logRow(group.recording)]),
            ...(group.stream === null ? [] : [streamRow(group)]),
            ...group.hosts.map((host) => hostRow(group, host)), ...group.readers.map((reader) => readerRow(group, reader))];
        }));
        byId("group-table").replaceChildren(state.groups.length === 0 ? none("There is no group.") : groupTable);
    }

    function sortBy(column) {
        const first = ENDPOINT_COLUMNS[column].kind === NUMBER ? -1 : 1;
        sort = {column, factor: sort.column === column ? -sort.factor : first};
        endpoints();
    }

    function compare(a, b) {
        const [x, y] = [a, b].map(ENDPOINT_COLUMNS[sort.column].value);
        if (typeof x === "string") {
            return sort.factor * (x < y ? -1 : x > y ? 1 : 0);
        }
        return sort.factor * ((x ?? -1) - (y ?? -1));
    }

    function endpointRow(node, className) {
        return {className, cells: ENDPOINT_COLUMNS.map((column, index) => {
            const value = column.value(node);
            return column.kind === "state-cell" ? Tables.state(node.state)
                : index < 2 ? value : Figures.number(value);
        })};
    }

    function endpoints() {
        if (state === null) {
            return;
        }
        const wanted = byId("filter").value.trim().toLowerCase();
        const text = (node) => (node.address + " " + node.owner + " " + node.state).toLowerCase();
        const all = state.drivers.flatMap((driver) => driver.endpoints.map((endpoint) => {
            const client = driver.clients.find((each) => each.id === endpoint.client);
            const peers = endpoint.peers.map((peer) => Object.assign({owner: peer.link}, peer));
            return Object.assign({}, endpoint, {
                peers, owner: client && client.name ? client.name : "client " + endpoint.client,
            });
        })).filter((node) => text(node).includes(wanted) || node.peers.some((peer) => text(peer).includes(wanted)));
        all.sort((a, b) => compare(a, b) || (a.address < b.address ? -1 : 1));
        Tables.fill(endpointTable, ENDPOINT_COLUMNS, all.flatMap((node) =>
            [endpointRow(node, "endpoint"), ...node.peers.map((peer) => endpointRow(peer, "peer"))]));
        [...endpointTable.tHead.rows[0].cells].forEach((cell, index) => {
            cell.setAttribute("aria-sort", index !== sort.column ? "none"
                : sort.factor < 0 ? "descending" : "ascending");
        });
        byId("endpoint-table").replaceChildren(
            all.length === 0 ? none(wanted ? "No endpoint contains that." : "There is no endpoint.") : endpointTable);
    }

    function detail(key, summary, text, open) {
        const details = element("details");
        details.dataset.key = key;
        details.open = open.has(key);
        details.append(element("summary", "", summary), element("pre", "", text.trimEnd()));
        return details;
    }

    function errorsOf(driver, open) {
        const section = element("div");
        const name = driver.directory.replace(/^.*\//, "");
        section.append(element("h3", "", "Driver " + name));
        if (driver.problem) {
            section.append(element("p", "unreadable", driver.problem));
        } else if (driver.errors.length === 0 && driver.kept.length === 0) {
            section.append(none("No errors."));
        }
        [...driver.errors].sort((a, b) => b.lastMs - a.lastMs).forEach((error) => section.append(detail(
            driver.directory + error.firstMs + error.text.slice(0, 200), error.count + " \u00d7, last "
            + new Date(error.lastMs).toLocaleString() + ": " + error.text.split("\n")[0], error.text, open)));
        driver.kept.forEach((log) => section.append(detail(
            log.file, "Kept of an earlier driver: " + log.file.replace(/^.*\//, ""), log.text, open)));
        return section;
    }

    async function errors() {
        const seen = JSON.stringify(state.drivers.map((each) => [each.directory, each.startMs, each.totals.errors]));
        if (seen === errorsSeen) {
            return;
        }
        const answer = await Server.get("errors");
        errorsSeen = seen;
        const list = byId("error-list");
        const open = new Set([...list.querySelectorAll("details[open]")].map((each) => each.dataset.key));
        list.replaceChildren(...(answer.drivers.length === 0 ? [none("There is no driver.")]
            : answer.drivers.map((driver) => errorsOf(driver, open))));
        const count = answer.drivers.reduce((sum, driver) => sum + driver.errors.length, 0);
        byId("error-count").textContent = count === 0 ? "" : String(count);
    }

    function showOptions() {
        if (options === null) {
            return;
        }
        const withDefaults = byId("defaults").checked;
        byId("option-tables").replaceChildren(...options.drivers.map((driver) => {
            const set = new Map(driver.set.map((each) => [each.name, each]));
            const section = element("div");
            section.append(element("h3", "", "Driver " + driver.directory.replace(/^.*\//, "")));
            const table = Tables.create("Options of " + driver.directory, OPTION_COLUMNS);
            const known = options.groups.flatMap((group) => group.options);
            const rows = known.filter((option) => withDefaults || set.has(option.name)).map((option) => {
                const own = set.get(option.name);
                return {cells: [
                    option.name, own ? own.value : option.default, own ? own.origin : "not set", option.default,
                ]};
            });
            Tables.fill(table, OPTION_COLUMNS, rows);
            section.append(rows.length === 0 ? none("All options have their defaults.") : table);
            return section;
        }));
    }

    async function loadOptions() {
        const seen = JSON.stringify(state.drivers.map((each) => [each.directory, each.startMs]));
        if (seen !== optionsSeen) {
            options = await Server.get("options");
            optionsSeen = seen;
            showOptions();
        }
    }

    function status(text, lost) {
        const place = byId("status");
        if (place.textContent !== text) {
            place.textContent = text;
        }
        place.className = lost ? "lost" : "";
    }

    async function tick() {
        if (!paused) {
            try {
                state = await Server.get("state");
                Lines.add((await Server.get("history?since=" + Lines.last())).moments);
                drivers();
                graphs();
                waits();
                groups();
                Lines.draw();
                endpoints();
                await errors();
                await loadOptions();
                status("live", false);
            } catch (failure) {
                status(failure instanceof TypeError || failure.name === "TimeoutError"
                    ? "no answer: \u2018fabric web\u2019 has ended; below is what it showed last" : failure.message, true);
            }
        }
        setTimeout(tick, state === null ? 1000 : state.periodMs);
    }

    function redraw() {
        if (state !== null) {
            graphs();
            Lines.draw();
        }
    }

    function start() {
        Graph.ORDER.forEach((word) => {
            const item = element("li");
            item.append(Tables.state(word), element("span", "", {
                idle: ": nothing moves", flowing: ": messages move", waiting: ": something waits, messages move",
                stuck: ": something waits, nothing moves", down: ": no channel, or the driver is dead",
            }[word]));
            byId("key").append(item);
        });
        byId("filter").addEventListener("input", endpoints);
        byId("defaults").addEventListener("change", showOptions);
        byId("pause").addEventListener("click", (event) => {
            paused = !paused;
            event.target.setAttribute("aria-pressed", String(paused));
            event.target.textContent = paused ? "Resume" : "Pause";
            status(paused ? "paused" : "live", false);
        });
        new ResizeObserver(redraw).observe(document.querySelector("main"));
        matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
        tick();
    }

    return {start};
})();

Page.start();
