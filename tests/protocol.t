# SPDX-License-Identifier: MIT
"""Every path and method of the Trace Server Protocol, as its specification has them (tests/tsp/protocol.json, made of it):
each answer has a status that the specification lists for it, and the shape that it says, with all members that are
required; what lacks a required parameter is refused with 400, what is not there with 404. A path that nothing here
asks for fails."""
import json
import re
import sys

import jsonschema

import whylate_test as t
from server import PATH_TYPE, THREAD, TRACE, Server, experiment, whole

tap = t.Tap()
with open(t.SOURCE + "/tests/tsp/protocol.json", encoding="utf-8") as spec:
    PROTOCOL = json.load(spec)
NOBODY = "00000000-0000-5000-8000-000000000000"
asked = {}  # (method, path): statuses


def member(server_path):
    """Which path of the specification that is."""
    words = server_path.split("?")[0].split("/")
    fits = [p for p in {p["path"] for p in PROTOCOL["paths"]}
            if len(p.split("/")) == len(words) and all(a == b or a[:1] == "{" for a, b in zip(p.split("/"), words))]
    return min(fits, key=lambda path: path.count("{"))


def ask(server, method, path, body=None):
    """Asks, and holds the answer against the specification. Returns the status and the answer."""
    status, answer, data = server.ask(method, "/tsp/api" + path, body)
    name = member(path)
    known = [p for p in PROTOCOL["paths"] if (p["method"], p["path"]) == (method, name)]
    assert known, (method, name)
    assert str(status) in known[0]["answers"], (method, path, status, data[:300])
    asked.setdefault((method, name), set()).add(status)
    if status == 204:
        assert not data
        return status, None
    assert answer.headers["Content-Type"].startswith("application/json"), answer.headers
    content = json.loads(data)
    shape = known[0]["answers"][str(status)]
    if shape:
        jsonschema.validate(content, {**shape, "schemas": PROTOCOL["schemas"]})
    if "GenericResponse" in json.dumps(PROTOCOL["schemas"].get(shape.get("$ref", "").rsplit("/", 1)[-1], "")):
        assert content["status"] == "COMPLETED" and "model" in content, content
    return status, content


def good(server, method, path, body=None):
    status, content = ask(server, method, path, body)
    assert status == 200, (method, path, status, content)
    return content


def required(shape, path=()):
    """Where in a body members are that must be there: [("parameters", "requested_timerange", "start"), …]"""
    while "$ref" in shape:
        shape = PROTOCOL["schemas"][shape["$ref"].rsplit("/", 1)[1]]
    found = [path + (name,) for name in shape.get("required", ())]
    for part in shape.get("allOf", ()):
        found += required(part, path)
    for name, inner in shape.get("properties", {}).items():
        found += required(inner, path + (name,)) if path + (name,) in found else []
    return found


def without(body, path):
    if len(path) == 1:
        return {key: value for key, value in body.items() if key != path[0]}
    return {**body, path[0]: without(body[path[0]], path[1:])}


def refuses(server, method, path, body):
    """400 for a body without each of the members that the specification requires; 404 for no such experiment."""
    known = next(p for p in PROTOCOL["paths"] if (p["method"], p["path"]) == (method, member(path)))
    for missing in required(known.get("body") or {}):
        status, _ = ask(server, method, path, without(body, missing))
        assert status == 400, (method, path, missing, status)
    if path.startswith("/experiments/"):
        other = re.sub(r"^/experiments/[^/]*", "/experiments/" + NOBODY, path)
        assert ask(server, method, other, body)[0] == 404, other


def both(server, method, path, body=None):
    content = good(server, method, path, body)
    refuses(server, method, path, body)
    return content


def traces(server):
    good(server, "GET", "/health")
    assert good(server, "GET", "/identifier")["tspVersion"] == PROTOCOL["version"]
    trace = good(server, "GET", "/traces")[0]
    assert good(server, "GET", "/traces/" + trace["UUID"]) == trace
    assert ask(server, "GET", "/traces/" + NOBODY)[0] == ask(server, "DELETE", "/traces/" + NOBODY)[0] == 404
    assert both(server, "POST", "/traces", {"parameters": {"uri": TRACE, "name": "x"}}) == trace
    assert ask(server, "POST", "/traces", {"parameters": {"uri": "/etc"}})[0] == 404
    first = good(server, "GET", "/experiments")[0]
    assert good(server, "GET", "/experiments/" + first["UUID"]) == first and first["traces"] == [trace]
    assert ask(server, "GET", "/experiments/" + NOBODY)[0] == ask(server, "DELETE", "/experiments/" + NOBODY)[0] == 404
    status, content = ask(server, "DELETE", "/traces/" + trace["UUID"])
    assert status == 409 and content["trace"] == trace
    assert good(server, "DELETE", "/experiments/" + first["UUID"]) == first
    assert good(server, "DELETE", "/traces/" + trace["UUID"]) == trace and good(server, "GET", "/traces") == []
    assert both(server, "POST", "/experiments", {"parameters": {"name": "x", "traces": [trace["UUID"]]}})["UUID"] == first["UUID"]
    assert ask(server, "POST", "/experiments", {"parameters": {"name": "x", "traces": [NOBODY]}})[0] == 204


def some_of_traces():
    """An experiment of some of the traces is refused, with the one that there is."""
    chunk = t.trace("two-hosts-client"), t.trace("two-hosts-server")
    with Server(traces=chunk) as server:
        one = good(server, "GET", "/experiments")[0]
        status, content = ask(server, "POST", "/experiments", {"parameters": {"name": "x", "traces": [one["traces"][0]["UUID"]]}})
        assert status == 409 and content["experiment"] == one, (status, content)


def locks():
    with Server(traces=(t.trace("futex"),)) as server:
        one = experiment(server)
        time_graph(server, "/experiments/%s/outputs" % one["UUID"], "locks", whole(one))


def bookmarks(server, base):
    mark = both(server, "POST", base + "/bookmarks", {"parameters": {"name": "a", "start": 1, "end": 2}})
    path = "%s/bookmarks/%s" % (base, mark["uuid"])
    assert both(server, "GET", base + "/bookmarks") == [mark] and both(server, "GET", path) == mark
    assert both(server, "PUT", path, {"parameters": {"name": "b", "start": 1, "end": 2}})["name"] == "b"
    both(server, "DELETE", path)
    for method, body in (("GET", None), ("DELETE", None), ("PUT", {"parameters": {"name": "b", "start": 1, "end": 2}})):
        assert ask(server, method, path, body)[0] == 404


def configurations(server, outputs):
    assert good(server, "GET", "/config/types") == []
    body = {"name": "n", "parameters": {}}
    for method, path in (("GET", "/config/types/x"), ("GET", "/config/types/x/configs"), ("POST", "/config/types/x/configs"),
                         ("GET", "/config/types/x/configs/y"), ("PUT", "/config/types/x/configs/y"),
                         ("DELETE", "/config/types/x/configs/y")):
        assert ask(server, method, path, body if method in ("POST", "PUT") else None)[0] == 404, path
    for output in both(server, "GET", outputs):
        types = both(server, "GET", "%s/%s/configTypes" % (outputs, output["id"]))
        assert bool(types) == output.get("capabilities", {}).get("canCreate", False), output
        for one in types:
            assert both(server, "GET", "%s/%s/configTypes/%s" % (outputs, output["id"], one["id"])) == one
        assert ask(server, "GET", "%s/%s/configTypes/nothing" % (outputs, output["id"]))[0] == 404
    made = both(server, "POST", outputs + "/critical-path", {"name": "n", "description": "d", "sourceTypeId": PATH_TYPE,
                                                             "parameters": {"thread": THREAD}})
    assert made["parentId"] == "critical-path" and both(server, "GET", outputs + "/" + made["id"]) == made
    return made


def time_graph(server, outputs, name, times, has_states=True):
    base = "%s/timeGraph/%s/" % (outputs, name)
    entries = both(server, "POST", base + "tree", {"parameters": {"requested_timerange": times}})["model"]["entries"]
    assert good(server, "POST", base + "tree", {"parameters": {}})["model"]["entries"] == entries
    ids = {entry["id"] for entry in entries}
    assert len(ids) == len(entries) and all(entry.get("parentId", -1) in ids | {-1} for entry in entries)
    asking = {"parameters": {"requested_timerange": {**times, "nbTimes": 50}, "requested_items": sorted(ids)}}
    rows = both(server, "POST", base + "states", asking)["model"]["rows"]
    styles = both(server, "POST", "%s/%s/style" % (outputs, name), {"parameters": {}})["model"]["styles"]
    states = [(row["entryId"], state) for row in rows for state in row["states"]]
    assert bool(states) == has_states, name
    assert {state["style"]["parentKey"] for _, state in states} <= set(styles), name
    assert {style["parentKey"] for style in styles.values() if "parentKey" in style} <= set(styles)
    for arrow in both(server, "POST", base + "arrows", {"parameters": {"requested_timerange": times}})["model"]:
        assert arrow["sourceId"] in ids and arrow["targetId"] in ids and arrow["start"] <= arrow["end"]
    for entry, state in states[len(states) // 2:][:1]:
        element = {"elementType": "STATE", "time": state["start"], "duration": state["end"] - state["start"]}
        asking = {"requested_times": [state["start"]], "requested_items": [entry], "requested_element": element}
        assert both(server, "POST", base + "tooltip", {"parameters": asking})["model"]
        for kind in ("ARROW", "ANNOTATION"):
            asking["requested_element"] = {**element, "elementType": kind}
            assert set(good(server, "POST", base + "tooltip", {"parameters": asking})["model"]) == {"Begin", "End", "Duration"}
        asking["requested_element"] = {**element, "elementType": "NONE"}
        assert ask(server, "POST", base + "tooltip", {"parameters": asking})[0] == 400
    categories = both(server, "GET", "%s/%s/annotations" % (outputs, name))["model"]["annotationCategories"]
    found = both(server, "POST", "%s/%s/annotations" % (outputs, name), {"parameters": {"requested_timerange": times}})["model"]
    assert set(found["annotations"]) == set(categories)


def chart(server, outputs, kind, name, times):
    base = "%s/%s/%s/" % (outputs, kind, name)
    ids = [entry["id"] for entry in both(server, "POST", base + "tree", {"parameters": {}})["model"]["entries"]]
    assert ids and len(set(ids)) == len(ids)
    steps = {**times, "nbTimes": 20} if kind == "XY" else {"start": 0, "end": 10 ** 12, "nbSamples": 20}  # x is a latency
    series = both(server, "POST", base + "xy", {"parameters": {"requested_timerange": steps,
                                                              "requested_items": ids}})["model"]["series"]
    assert {one["seriesId"] for one in series} <= set(ids) and series
    for one in series:
        axes = [one[axis] for axis in ("xValues", "xRanges", "xCategories") if axis in one]
        assert len(axes) == 1 and len(axes[0]) == len(one["yValues"]) > 0, one


def table(server, outputs, name):
    base = "%s/table/%s/" % (outputs, name)
    ids = [column["id"] for column in both(server, "POST", base + "columns", {"parameters": {}})["model"]]
    lines = both(server, "POST", base + "lines", {"parameters": {"requested_table_index": 3, "requested_table_count": 5}})["model"]
    assert lines["columnIds"] == ids and lines["lowIndex"] == 3 and [line["index"] for line in lines["lines"]] == [3, 4, 5, 6, 7]
    assert all(len(line["cells"]) == len(ids) for line in lines["lines"])


def every_output(server, outputs, times):
    for output in good(server, "GET", outputs):
        kind, name = output["type"], output["id"]
        good(server, "GET", "%s/%s" % (outputs, name))
        if kind == "TIME_GRAPH":
            time_graph(server, outputs, name, times, name != "locks")  # of this trace there are none
        elif kind == "TREE_TIME_XY":
            chart(server, outputs, "XY", name, times)
        elif kind == "TREE_GENERIC_XY":
            chart(server, outputs, "genericXY", name, times)
        elif kind == "TABLE":
            table(server, outputs, name)
        elif kind == "DATA_TREE":
            found = both(server, "POST", "%s/data/%s/tree" % (outputs, name), {"parameters": {"requested_timerange": times}})["model"]
            assert all(len(entry["labels"]) == len(found["headers"]) for entry in found["entries"])
        else:
            assert kind == "NONE", kind
            for what in ("tree", "states", "arrows", "tooltip"):
                body = {"parameters": {"requested_timerange": times, "requested_items": [1], "requested_times": [times["start"]],
                                       "requested_element": {"elementType": "state", "time": 0, "duration": 0}}}
                assert ask(server, "POST", "%s/timeGraph/%s/%s" % (outputs, name, what), body)[0] == 405, what
        # of another kind it is not
        asking = {"parameters": {"requested_timerange": times, "requested_items": [1], "requested_table_count": 1}}
        for path, is_it in (("timeGraph/%s/tree", ("TIME_GRAPH", "NONE")), ("XY/%s/tree", ("TREE_TIME_XY",)),
                            ("genericXY/%s/xy", ("TREE_GENERIC_XY",)), ("data/%s/tree", ("DATA_TREE",)), ("table/%s/lines", ("TABLE",))):
            if kind not in is_it:
                assert ask(server, "POST", "%s/%s" % (outputs, path % name), asking)[0] == 404, (path, name)


def every_path():
    with Server() as server:
        traces(server)
        one = experiment(server)
        base = "/experiments/" + one["UUID"]
        outputs = base + "/outputs"
        bookmarks(server, base)
        both(server, "GET", outputs + "/markerSets")
        made = configurations(server, outputs)
        every_output(server, outputs, whole(one))
        both(server, "DELETE", "%s/critical-path/%s" % (outputs, made["id"]))
        assert ask(server, "DELETE", "%s/critical-path/%s" % (outputs, made["id"]))[0] == 404
        assert ask(server, "GET", outputs + "/nothing")[0] == 404
        for path in PROTOCOL["paths"]:
            assert (path["method"], path["path"]) in asked, "nothing here asks for %(method)s %(path)s" % path


def other_methods():
    """What the specification has not is refused; which methods there are is said."""
    with Server() as server:
        one = experiment(server)
        for method, path in (("PUT", "/traces"), ("POST", "/health"), ("DELETE", "/experiments"), ("PUT", "/experiments/" + one["UUID"])):
            status, answer, data = server.ask(method, "/tsp/api" + path, {"parameters": {}} if method != "DELETE" else None)
            assert status == 405 and answer.headers["Allow"], (method, path, status)
            jsonschema.validate(json.loads(data), {"$ref": "#/schemas/ErrorResponse", "schemas": PROTOCOL["schemas"]})


tap.case("each path and method of the specification: statuses, shapes, what must be given", every_path)
tap.case("the time graph of locks", locks)
tap.case("an experiment of some of the traces", some_of_traces)
tap.case("methods that the specification has not", other_methods)
sys.exit(tap.done())
