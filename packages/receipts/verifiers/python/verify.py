"""Verifies a receipt, an export, or an invoice with exports: `python3 verify.py keys.json FILE...`. Exits with 3 where something is not valid."""

import json
import sys
from pathlib import Path

import tallygate_receipts as t

keys_file, *files = sys.argv[1:]
keys = json.loads(Path(keys_file).read_text())
exports, invoice, faults = [], None, []

for file in files:
    text = Path(file).read_text()
    try:
        if '"receipt_export"' in text.split("\n", 1)[0]:
            exports.append(text.split("\n"))
        elif t.read_json(text).get("object") == "invoice":
            invoice = t.verify_invoice(t.read_json(text), keys)
        else:
            t.verify_receipt(t.read_json(text), keys)
    except t.Refused as refused:
        faults.append(f"{file}: {refused} ({refused.code})")

if invoice:
    found, unchecked = t.verify_bill(invoice, exports, keys)
    faults += found + [f"no export of {month}" for month in unchecked]
else:
    for lines in exports:
        found = t.verify_export(lines, keys)
        faults += found["codes"]
        print(f"{found['month']}: {found['receipts']} receipts, {found['valid']} valid, {found['billed']} nano-USD")

print(*(faults or ["valid"]), sep="\n")
sys.exit(3 if faults else 0)
