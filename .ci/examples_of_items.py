"""Is every public module, type, trait and function shown by an example, and every public type `Send` and `Sync`?

    python3 .ci/examples_of_items.py target/doc/tensor_layout.json

reads the JSON of rustdoc, as `.ci/public_api` leaves it, and names the modules, types, traits and free functions without an example. Methods,
fields and variants belong to their type, and constants say what they are. One example may show several items: an item counts if its own
documentation has an example, or that of one of its methods, or if an example of its module or of another item there uses it by name.

Types of `interop` mirror C structures with pointers, and may be bound to a thread; all others go from thread to thread.
"""

import json
import re
import sys

FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```", re.M | re.S)


def examples(docs):
    """The Rust code of a documentation."""
    blocks = FENCE.findall(docs or "")
    return "\n".join(code for words, code in blocks if not re.search(r"text|toml|json|sh\b|console|ignore", words))


def main(path):
    with open(path) as file:
        data = json.load(file)
    index = data["index"]
    missing, bound, seen, total = [], [], set(), 0

    def shown(item, page):
        return bool(examples(item["docs"])) or bool(re.search(rf"\b{re.escape(item['name'])}\b", page))

    def note(item, path, page):
        nonlocal total
        total += 1
        if not shown(item, page):
            missing.append((item["span"]["filename"], item["span"]["begin"][0], path))

    def is_bound(inner):
        """Is a type not `Send`, or not `Sync`?"""
        blocks = [index[str(id)]["inner"]["impl"] for id in inner.get("impls", []) if str(id) in index]
        return any(block["is_negative"] and block["trait"]["path"].split("::")[-1] in ("Send", "Sync") for block in blocks)

    def methods(item, inner):
        """The public functions of a type or a trait."""
        if "trait" in item["inner"]:
            return [index[str(id)] for id in inner["items"] if "function" in index[str(id)]["inner"]]
        found = []
        for id in inner["impls"]:
            block = index.get(str(id), {}).get("inner", {}).get("impl")
            if block and block["trait"] is None:
                found += [index[str(id)] for id in block["items"] if str(id) in index]
        return [method for method in found if method["visibility"] == "public" and "function" in method["inner"]]

    def pages(ids):
        """The items of a module with their methods, also those that it takes from other modules."""
        for id in ids:
            item = index.get(str(id))
            if item is not None and "use" in item["inner"]:
                item = index.get(str(item["inner"]["use"]["id"]))
            if item is None or "module" in item["inner"]:
                continue
            yield item
            inner = next(iter(item["inner"].values()))
            if isinstance(inner, dict) and ("trait" in item["inner"] or "impls" in inner):
                yield from methods(item, inner)

    def visit(id, path, page):
        item = index.get(str(id))
        if item is None or id in seen:
            return
        kind, inner = next(iter(item["inner"].items()))
        if kind == "use":
            return visit(inner["id"], path, page) if inner["id"] is not None else None
        seen.add(id)
        name = f"{path}::{item['name']}" if path else item["name"]
        # What only authors of tools name is shown on the pages of these modules.
        if kind == "module" and item["name"] in ("plan", "checked", "cursor"):
            return note(item, name, page)
        if kind == "module":
            own = "\n".join(examples(shown["docs"]) for shown in [item, *pages(inner["items"])])
            note(item, name, own)
            for child in inner["items"]:
                visit(child, name, own)
        elif kind in ("struct", "enum", "union", "trait"):
            own = "\n".join([page, *(examples(method["docs"]) for method in methods(item, inner))])
            note(item, name, own)
            if is_bound(inner) and "::interop::" not in name:
                bound.append((item["span"]["filename"], item["span"]["begin"][0], name))
        elif kind in ("function", "static", "type_alias", "macro"):
            note(item, name, page)

    visit(data["root"], "", "")
    for file, line, name in sorted(missing):
        print(f"{file}:{line}: no example shows {name}")
    for file, line, name in sorted(bound):
        print(f"{file}:{line}: {name} is not Send, or not Sync")
    print(f"{total - len(missing)} of {total} public items are shown by an example")
    return bool(missing or bound)


sys.exit(main(sys.argv[1]))
