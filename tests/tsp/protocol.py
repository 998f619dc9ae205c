# SPDX-License-Identifier: MIT
"""What the Trace Server Protocol asks of a server, out of its specification (API.yaml): paths, methods, statuses, and
the shape of each answer. tests/protocol.t goes by what this prints:

    python3 tests/tsp/protocol.py API.yaml >tests/tsp/protocol.json        (needs python3-yaml; when the protocol changes)

Descriptions and examples are left out. References become JSON Schema's own."""
import json
import sys

import yaml

DROPPED = ("description", "example", "format", "title")


def shape(schema):
    """Without what only people read. A property may be called "description": it is an object then."""
    if isinstance(schema, list):
        return [shape(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return {"$ref": "#/schemas/" + schema["$ref"].rsplit("/", 1)[1]}
    if "oneOf" in schema: # of texts and numbers: "type: object" beside it is its generator's, and an integer is a number too
        return {"anyOf": shape(schema["oneOf"])}
    return {key: shape(value) for key, value in schema.items() if key not in DROPPED or isinstance(value, dict)}


def content(part):
    return shape(part["content"]["application/json"]["schema"]) if part.get("content") else None


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        given = yaml.safe_load(file)
    paths = [{"method": method.upper(), "path": path, **({"body": content(what["requestBody"])} if "requestBody" in what else {}),
              "answers": {status: content(answer) for status, answer in what["responses"].items()}}
             for path, methods in given["paths"].items() for method, what in methods.items()
             if method in ("get", "put", "post", "delete")]
    print('{"about": %s,' % json.dumps("Shapes of the Trace Server Protocol %s, made by protocol.py of its API.yaml: Copyright (c) "
                                       "2018, 2025 Ericsson, Apache License 2.0" % given["info"]["version"]))
    print('"version": %s,\n"paths": [' % json.dumps(given["info"]["version"]))
    print(",\n".join(json.dumps(path) for path in paths))
    print('],\n"schemas": {')
    print(",\n".join("%s: %s" % (json.dumps(name), json.dumps(shape(schema)))
                     for name, schema in given["components"]["schemas"].items()))
    print("}}")


main()
