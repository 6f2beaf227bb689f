"""Runs all vectors: `python3 run_vectors.py ../../vectors`. Prints what does not come out as it has to, and exits with 1 then."""

import json
import sys
from pathlib import Path

import tallygate_receipts as t

folder = Path(sys.argv[1])
keys = json.loads((folder / "keys.json").read_text())
account = json.loads((folder / "owner.json").read_text())["account_id"]
counts, wrong = {}, []


def vectors(kind):
    for path in sorted((folder / kind).glob("*.json")):
        counts[kind] = counts.get(kind, 0) + 1
        yield f"{kind}/{path.stem}", json.loads(path.read_text())


def expect(name, found, expected):
    if found != expected:
        wrong.append(f"{name}: {found}, expected {expected}")


def code_of(vector):
    text = vector["text"] if "text" in vector else json.dumps(vector["receipt"])
    try:
        found = t.verify_receipt(t.read_json(text), vector.get("keys", keys), vector.get("prices"), vector.get("witnesses", ()))
        return found["payload"]["cost_nano_usd"]
    except t.Refused as refused:
        return refused.code


for name, vector in vectors("good"):
    expect(name, code_of(vector), vector["cost_nano_usd"])
    text = vector["text"] if "text" in vector else json.dumps(vector["receipt"])
    payload = t.read_json(text)["payload"]
    expect(name, t.canonical(payload), vector["canonical_payload"])
    if "names" in vector:
        expect(name, [t.is_for(payload, **vector["names"]), t.is_for(payload, end_user="somebody else")], [True, False])
for name, vector in vectors("broken"):
    expect(name, code_of(vector), vector["expected_code"])
for name, vector in vectors("exports"):
    found = t.verify_export(vector["lines"], keys)
    outcome = [found["valid"], str(found["billed"]), sorted(found["codes"])]
    expect(name, outcome, [vector["valid"], vector["billed_nano_usd"], vector["expected_codes"]])
for name, vector in vectors("invoices"):
    try:
        faults, unchecked = t.verify_bill(t.verify_invoice(vector["invoice"], keys), vector["exports"], keys, account_id=account)
    except t.Refused as refused:
        faults, unchecked = [refused.code], []
    expect(name, [sorted(set(faults)), unchecked], [vector["expected_codes"], vector.get("unchecked", [])])
for name, vector in vectors("promises"):
    for receipt, state in vector["states"].items():
        beside = json.loads((folder / "good" / f"{receipt}.json").read_text())["receipt"]
        expect(f"{name} {receipt}", t.verify_promise(vector["jws"], vector["keys"], vector["now"], beside), state)
for name, vector in vectors("declarations"):
    kept, found = vector["kept"], None
    try:
        t.verify_declarations(vector["kind"], vector["pages"], keys, kept and kept["declaration"])
    except t.Refused as refused:
        found = refused.code
    expect(name, found, vector["expected_code"])

print(*wrong, *(f"{count} {kind}" for kind, count in counts.items()), sep="\n")
sys.exit(1 if wrong or len(counts) < 6 else 0)
