"""Verifies receipts, exports, invoices and promises of Tallygate as docs/concepts/receipt-format.md specifies them. Needs nothing but Python 3.9."""

import base64
import binascii
import hashlib
import json
import re
from datetime import datetime, timedelta, timezone

import ed25519


class Refused(Exception):
    """Why something is not valid: a code of the specification, and a sentence."""

    def __init__(self, code, reason):
        super().__init__(reason)
        self.code = code


# --- JSON: what two readers could understand in two ways is refused -----------------------------------------------------------------

MOST = 2**53 - 1
DEPTH = 32


def read_json(text):
    def members(pairs):
        found = {}
        for name, value in pairs:
            if name in found:
                raise Refused("duplicate_member", f"a second member {name!r}")
            found[name] = value
        return found

    def number(digits):
        value = int(digits)
        if digits == "-0" or abs(value) > MOST:
            raise Refused("bad_number", f"{digits} is not an integer that every reader has")
        return value

    def no_number(digits):
        raise Refused("bad_number", f"{digits} is not written as an integer")

    def no_constant(word):
        raise Refused("malformed_json", f"{word} is no JSON")

    try:
        value = json.loads(text, object_pairs_hook=members, parse_int=number, parse_float=no_number, parse_constant=no_constant)
    except (json.JSONDecodeError, RecursionError) as error:
        raise Refused("malformed_json", str(error)) from error
    _check_strings(value, 0)
    return value


def _check_strings(value, depth):
    if depth > DEPTH:
        raise Refused("malformed_json", f"nested more than {DEPTH} deep")
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise Refused("malformed_json", "a string with a lone surrogate") from error
    elif isinstance(value, list):
        for item in value:
            _check_strings(item, depth + 1)
    elif isinstance(value, dict):
        for name, member in value.items():
            _check_strings(name, depth)
            _check_strings(member, depth + 1)


def canonical(value):
    """RFC 8785, for objects, arrays, strings, integers, booleans and null."""
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return "{" + ",".join(f"{canonical(name)}:{canonical(value[name])}" for name in names) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def sha256(data):
    return hashlib.sha256(data).digest()


def to_b64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def from_b64(text, length=None):
    """Canonical base64 (RFC 4648, section 4): one spelling for every byte string. None for any other."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return data if base64.b64encode(data).decode() == text and length in (None, len(data)) else None


def from_b64url(text, length=None):
    if not re.fullmatch(r"[A-Za-z0-9_-]*", text):
        return None
    padded = text.replace("-", "+").replace("_", "/") + "=" * (-len(text) % 4)
    return from_b64(padded, length)


# --- Forms ---------------------------------------------------------------------------------------------------------------------------


def check(holds, at, expected, code="malformed"):
    if not holds:
        raise Refused(code, f"{at} must be {expected}")


def is_count(value, least=0):
    return type(value) is int and least <= value <= MOST


def count(least=0):
    return lambda v, at, code: check(is_count(v, least), at, f"an integer from {least}", code)


def pattern(expression):
    return lambda v, at, code: check(type(v) is str and re.fullmatch(expression, v), at, f"a string like {expression}", code)


def one_of(*allowed):
    return lambda v, at, code: check(type(v) is str and v in allowed, at, " or ".join(allowed), code)


def nullable(shape):
    return lambda v, at, code: None if v is None else shape(v, at, code)


def text(v, at, code):
    check(type(v) is str, at, "a string", code)


def boolean(v, at, code):
    check(type(v) is bool, at, "true or false", code)


def anything(_value, _at, _code):
    pass


def signed(v, at, code):
    check(type(v) is int and v != 0 and abs(v) <= MOST, at, "an integer, absent when zero", code)


def b64url(length):
    return lambda v, at, code: check(type(v) is str and from_b64url(v, length) is not None, at, f"{length} bytes, base64url", code)


def instant(v, at, code):
    pattern(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z")(v, at, code)
    try:
        time_of(v)
    except ValueError:
        check(False, at, "a time that there is", code)


def time_of(value):
    return datetime.strptime(value.replace("Z", "+0000"), "%Y-%m-%dT%H:%M:%S.%f%z")


def list_of(shape, most):
    def read(v, at, code):
        check(type(v) is list and len(v) <= most, at, f"a list of at most {most}", code)
        for index, item in enumerate(v):
            shape(item, f"{at}[{index}]", code)

    return read


def fields(required, optional=None, strict=True):
    """An object with these members; where it is strict, with no other."""
    optional = optional or {}

    def read(v, at, code):
        check(type(v) is dict, at, "an object", code)
        for name, shape in required.items():
            check(name in v, f"{at}.{name}", "present", code)
            shape(v[name], f"{at}.{name}", code)
        for name, shape in optional.items():
            if name in v:
                shape(v[name], f"{at}.{name}", code)
        for name in v:
            if strict and name not in required and name not in optional:
                raise Refused("unknown_field", f"{at}.{name} is not a field of this version")

    return read


HASH = pattern("[0-9a-f]{64}")
UUID = pattern("[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
AMOUNT = pattern("0|[1-9][0-9]{0,29}")
SIGNED_AMOUNT = pattern("0|-?[1-9][0-9]{0,29}")
NONCE = pattern("[0-9a-f]{32}")
MONTH = pattern(r"[0-9]{4}-(0[1-9]|1[0-2])")
PLAN = pattern("[a-z][a-z0-9_-]{0,39}@[1-9][0-9]{0,8}")
PRINTABLE = pattern(r"[\x20-\x7e]{1,2048}")
FACTOR = pattern(r"(0|[1-9][0-9]{0,3})(\.[0-9]{0,17}[1-9])?")
KINDS = ("usage", "batch_line", "media_job", "refund", "correction")
TOOL_METERS = (
    "web_searches web_search_previews file_searches container_gigabytes image_tool_text_input_tokens image_tool_image_input_tokens "
    "image_tool_text_output_tokens image_tool_image_output_tokens"
).split()
PRICE_METERS = (
    "input_tokens cached_input_tokens cache_write_tokens cache_write_1h_tokens output_tokens audio_input_tokens image_input_tokens "
    "cached_audio_input_tokens cached_image_input_tokens image_output_tokens input_characters audio_seconds video_seconds "
    "audio_output_tokens search_units"
).split() + TOOL_METERS
QUOTA_METERS = ("requests", "tokens", "images", "audio_seconds", "video_seconds")
BASIC = ("input_tokens", "cached_input_tokens", "cache_write_tokens", "output_tokens", "reasoning_tokens")
MORE = (
    "cache_write_1h_tokens audio_input_tokens cached_audio_input_tokens image_input_tokens cached_image_input_tokens "
    "image_output_tokens input_characters audio_seconds video_seconds images audio_output_tokens search_units"
).split() + TOOL_METERS


def unit_prices(v, at, code):
    check(type(v) is dict, at, "an object", code)
    for name, price in v.items():
        check(re.fullmatch("[a-z][a-z0-9_]{0,63}", name), at, "prices by meter", code)
        AMOUNT(price, f"{at}.{name}", code)
    for name in v:
        if name not in PRICE_METERS:
            raise Refused("unknown_field", f"{at}.{name} is not a meter of this version")


def tag_hashes(v, at, code):
    list_of(HASH, 100)(v, at, code)
    check(len(v) > 0 and all(a < b for a, b in zip(v, v[1:])), at, "sorted, each once, and not empty", code)


PAYLOAD = fields(
    {
        "version": one_of("tallygate-receipt/v1"),
        "kind": one_of(*KINDS),
        "receipt_id": UUID,
        "nonce": NONCE,
        "request_id": text,
        "account_hash": HASH,
        "key_hash": nullable(HASH),
        "livemode": boolean,
        "account_sequence": count(1),
        "endpoint": text,
        "run_id": nullable(text),
        "model_requested": text,
        "model_served": text,
        "provider": text,
        "fallback": one_of("none", "deployment", "model"),
        "outcome": one_of("completed", "cancelled", "abandoned", "cut", "failed", "cached", "refunded"),
        "request_sha256": HASH,
        "response_sha256": HASH,
        "usage": fields({name: count() for name in BASIC}, {name: count(1) for name in MORE}),
        "estimated": boolean,
        "price_version": text,
        "price_entry": nullable(fields({"index": count(), "digest": HASH})),
        "price_tier_above_input_tokens": nullable(count()),
        "unit_prices_pico_usd": unit_prices,
        "price_factor": FACTOR,
        "cost_nano_usd": AMOUNT,
        "payment": fields(
            {
                "plan": nullable(PLAN),
                "funding": one_of("balance", "invoice", "none", "test"),
                "covered": fields({}, {name: count(1) for name in QUOTA_METERS}),
                "charged_nano_usd": AMOUNT,
            }
        ),
        "refund_of": nullable(UUID),
        "refund_reason": nullable(text),
        "started_at": instant,
        "completed_at": instant,
        "client_signature": nullable(
            fields(
                {
                    "alg": one_of("ed25519"),
                    "public_key": b64url(32),
                    "signature_input": PRINTABLE,
                    "signature": b64url(64),
                    "content_digest": PRINTABLE,
                }
            )
        ),
    },
    {"waived_nano_usd": pattern(r"[1-9][0-9]{0,29}"), "project_hash": HASH, "end_user_hash": HASH, "tag_hashes": tag_hashes},
)
DECLARED = {"version": one_of("tallygate-declaration/v1"), "number": count(1), "previous": nullable(HASH), "declared_at": instant}
DECLARED_PRICE = fields(
    {
        **DECLARED,
        "kind": one_of("price"),
        "model": text,
        "price_version": text,
        "effective_from": instant,
        "unit_prices_pico_usd": unit_prices,
        "tiers": list_of(fields({"above_input_tokens": count(), "unit_prices_pico_usd": unit_prices}), MOST),
        "batch_factor": FACTOR,
    }
)
OF_KEY = {**DECLARED, "purpose": one_of("receipt", "checkpoint", "promise"), "kid": text}
SIGNED_BY = nullable(fields({"kid": text, "jws": text}))
CHAIN = fields({"chain_id": count(), "contract": pattern("0x[0-9a-f]{40}")})
DECLARATIONS = {
    "price": DECLARED_PRICE,
    "key": fields({**OF_KEY, "kind": one_of("key"), "x": b64url(32), "not_before": instant, "signed_by": SIGNED_BY}),
    "key_retired": fields({**OF_KEY, "kind": one_of("key_retired"), "not_after": instant}),
    "policy": fields(
        {
            **DECLARED,
            "kind": one_of("policy"),
            "log": text,
            "receipt_version": text,
            "logged_within_s": count(),
            "witness_policy": nullable(text),
            "anchors": list_of(CHAIN, MOST),
        }
    ),
}
# Of the year 9999, the last one that has a form.
LAST_SECOND = 253402300799
PROMISED_HEAD = ("x-request-id", "x-receipt-id", "x-model-served", "x-provider", "x-fallback")
PROMISE = fields(
    {
        "head_sha256": HASH,
        "iat": count(),
        "logged_by": count(),
        "model": text,
        "receipt_id": UUID,
        "request_sha256": HASH,
        "worst_cost_nano_usd": AMOUNT,
    }
)
INVOICE_MONTH = fields(
    {
        "month": MONTH,
        "first_number": count(1),
        **{name: count() for name in ("last_number", "charges", "corrections", "refunds")},
        **{name: AMOUNT for name in ("used_nano_usd", "refunded_nano_usd")},
        **{f"{name}_nano_usd": SIGNED_AMOUNT for name in ("corrected", "cost", "covered", "from_balance", "by_invoice")},
        "covered": fields({}, {name: signed for name in QUOTA_METERS}),
    }
)
INVOICE_PAYLOAD = fields(
    {
        "version": one_of("tallygate-invoice/v1"),
        "invoice_id": UUID,
        "nonce": NONCE,
        "account_hash": HASH,
        "livemode": boolean,
        "month": MONTH,
        "sequence": count(1),
        "previous": nullable(HASH),
        "plans": list_of(fields({"plan": PLAN, "quota": fields({name: nullable(count()) for name in QUOTA_METERS})}), 1000),
        "months": list_of(INVOICE_MONTH, 1200),
        **{f"{name}_nano_usd": SIGNED_AMOUNT for name in ("total", "from_balance", "by_invoice", "carried_before", "carried")},
        "due_nano_usd": AMOUNT,
        "issued_at": instant,
    }
)
KEY = {
    "kty": one_of("OKP"),
    "crv": one_of("Ed25519"),
    "x": b64url(32),
    "kid": text,
    "use": one_of("sig"),
    "alg": one_of("EdDSA"),
    "not_before": instant,
    "not_after": nullable(instant),
}


def read_form(document, at, payload_shape, version, kinds=None):
    """The parts of a receipt or an invoice: members beside the payload that are not known here are left unread."""

    def payload(v, where, code):
        if type(v) is dict:
            if type(v.get("version")) is str and v["version"] != version:
                raise Refused("unknown_version", f"payload.version is not {version}")
            if kinds and type(v.get("kind")) is str and v["kind"] not in kinds:
                raise Refused("unknown_kind", "payload.kind is not known")
        payload_shape(v, "payload", code)

    members = {"object": one_of(at), "id": UUID, "payload": payload, "digest": HASH, "jws": text, "log": anything}
    if at == "receipt":
        members.update(price=anything, anchor=anything)
    fields(members, strict=False)(document, at, "malformed")


# --- Keys and signatures -------------------------------------------------------------------------------------------------------------


def entries_of(keys, purpose):
    check(type(keys) is dict and type(keys.get("keys")) is list, "keys", 'an object with an array "keys"', "malformed_keys")
    for index, key in enumerate(keys["keys"]):
        if type(key) is dict and (key.get("kty"), key.get("crv"), key.get("purpose")) == ("OKP", "Ed25519", purpose):
            yield f"keys[{index}]", key


def check_key(key, at, more=None):
    fields({**KEY, **(more or {})}, strict=False)(key, at, "malformed_keys")
    thumbprint = to_b64url(sha256(canonical({"crv": "Ed25519", "kty": "OKP", "x": key["x"]}).encode()))
    if thumbprint != key["kid"]:
        raise Refused("kid_mismatch", f"{at}.kid is not the thumbprint of the key")
    if ed25519.is_weak(from_b64url(key["x"])):
        raise Refused("weak_key", f"{at}.x is not a key that only its owner can sign for")


def check_jws(jws, payload, made_at, keys, typ):
    parts = jws.split(".")
    check(len(parts) == 3 and parts[1] == "", "jws", "<header>..<signature>")
    check_signed([parts[0], to_b64url(canonical(payload).encode()), parts[2]], made_at, keys, typ)


def check_signed(parts, made_at, keys, typ, purpose="receipt", code="malformed"):
    try:
        header = read_json((from_b64url(parts[0]) or b"").decode())
    except (Refused, UnicodeDecodeError) as error:
        raise Refused(code, "jws must begin with a header") from error
    check(type(header) is dict, "jws", "a header that is an object", code)
    if header.get("alg") != "EdDSA":
        raise Refused("unknown_algorithm", "the header does not have the alg EdDSA")
    expected = to_b64url(canonical({"alg": "EdDSA", "kid": header.get("kid"), "typ": typ}).encode())
    check(type(header.get("kid")) is str and parts[0] == expected, "jws", f"signed as {typ}, with alg, kid and typ alone", code)
    signature = from_b64url(parts[2], 64)
    check(signature is not None, "jws", "64 bytes of signature, base64url", code)
    named = [(at, key) for at, key in entries_of(keys, purpose) if key.get("kid") == header["kid"]]
    if not named:
        raise Refused("unknown_key", f"no {purpose} key has the kid {header['kid']}")
    if len(named) > 1:
        raise Refused("malformed_keys", "two keys have the same kid")
    [(at, key)] = named
    check_key(key, at)
    message = f"{parts[0]}.{parts[1]}".encode()
    if not ed25519.verify(from_b64url(key["x"]), message, signature):
        raise Refused("malleable_signature" if ed25519.is_malleated(signature) else "bad_signature", "jws does not hold")
    if key["not_after"] is not None and made_at > key["not_after"]:
        raise Refused("key_retired", f"it is of {made_at}, the key was retired at {key['not_after']}")


# --- The log -------------------------------------------------------------------------------------------------------------------------


def is_included(index, size, leaf, root, path):
    """RFC 9162, section 2.1.3.2."""
    if index >= size:
        return False
    at, last, found = index, size - 1, leaf
    for sibling in path:
        if last == 0:
            return False
        if at % 2 == 1 or at == last:
            found = sha256(b"\x01" + sibling + found)
            while at % 2 == 0 and at != 0:
                at, last = at // 2, last // 2
        else:
            found = sha256(b"\x01" + found + sibling)
        at, last = at // 2, last // 2
    return last == 0 and found == root


def note_key(verifier_key):
    """Name, id, kind (1: of a log, 4: of a witness) and public key; None for text that is no verifier key."""
    match = re.fullmatch(r"([^+]+)\+([0-9a-f]{8})\+(.+)", verifier_key, re.S)
    data = from_b64(match[3], 33) if match else None
    if data is None or re.search(r"\s", match[1]) or data[0] not in (1, 4):
        return None
    key_id = sha256(f"{match[1]}\n".encode() + data)[:4]
    return (match[1], key_id, data[0], data[1:]) if key_id.hex() == match[2] else None


def read_note(note):
    """The text of a signed note (c2sp.org/signed-note), and its signatures: name, key id, bytes."""
    text_part, separator, lines = note.rpartition("\n\n")
    body, signatures = text_part + "\n", lines.split("\n")
    ok = separator and len(note) <= 1_000_000 and re.fullmatch(r"[^\x00-\x09\x0b-\x1f\x7f-\x9f]*\n", body)
    if not ok or signatures.pop() != "" or not 0 < len(signatures) <= 100:
        return None
    read = []
    for line in signatures:
        match = re.fullmatch(r"— ([^\s+]+) (\S+)", line)
        data = from_b64(match[2]) if match else None
        if data is None or len(data) <= 4:
            return None
        read.append((match[1], data[:4], data[4:]))
    return body, read


PATH = list_of(lambda v, at, code: check(type(v) is str and from_b64(v, 32) is not None, at, "32 bytes, base64", code), 53)


def check_log(digest, made_at, log, keys, witnesses=()):
    """Where the entry stands in the log; None where nothing is shown. A key of the log has to be among the keys."""
    if log is None or (type(log) is dict and log.get("state") == "pending"):
        return None
    shape = {"state": one_of("logged"), "index": count(), "tree_size": count(), "inclusion_path": PATH, "checkpoint": text}
    fields(shape, strict=False)(log, "log", "malformed_log")
    own = []
    for at, key in entries_of(keys, "checkpoint"):
        check_key(key, at, {"verifier_key": text})
        known = note_key(key["verifier_key"])
        check(known and known[2] == 1 and to_b64url(known[3]) == key["x"], f"{at}.verifier_key", "of this key", "malformed_keys")
        own.append((known, key["not_after"]))
    if not own:
        return None
    note = read_note(log["checkpoint"])
    origin, size, root = read_checkpoint(note)
    signers = signers_of(note, [known for known, _ in own] + [note_key(witness) for witness in witnesses])
    if size != log["tree_size"]:
        raise Refused("log_size_mismatch", f"log.tree_size is {log['tree_size']}, the checkpoint is of {size}")
    periods = [not_after for known, not_after in own if known[0] == origin and any(key == known for key, _ in signers)]
    if not periods:
        raise Refused("unknown_log_key", f"no known key of {origin} has signed the checkpoint")
    if all(not_after is not None and made_at > not_after for not_after in periods):
        raise Refused("log_key_retired", "every key that signed the checkpoint was retired before the entry was made")
    path = [from_b64(sibling) for sibling in log["inclusion_path"]]
    if not is_included(log["index"], size, sha256(b"\x00" + digest), root, path):
        raise Refused("not_in_log", "log.inclusion_path does not lead to the root of the checkpoint")
    for key, time in signers:
        if time is not None:
            check_seen_after(made_at, datetime.fromtimestamp(min(time, 253402300799), timezone.utc), key[0])
    return {"origin": origin, "index": log["index"], "tree_size": size, "root": root}


def read_checkpoint(note):
    match = note and re.fullmatch(r"([^\n]+)\n(0|[1-9][0-9]{0,15})\n([^\n]*)\n((?:[^\n]+\n)*)", note[0])
    root = from_b64(match[3], 32) if match else None
    if root is None or int(match[2]) > MOST:
        raise Refused("malformed_log", "the checkpoint is none in a signed note")
    return match[1], int(match[2]), root


def signers_of(note, known):
    """Who of the known keys has signed, and witnesses when. A signature of a known key that does not hold makes the note worthless."""
    body, signatures = note
    signers = []
    for name, key_id, signature in signatures:
        key = next((one for one in known if one[0] == name and one[1] == key_id), None)
        if key is None or any(signer == key for signer, _ in signers):
            continue
        time = int.from_bytes(signature[:8], "big") if key[2] == 4 else None
        proof = signature if key[2] == 1 else signature[8:]
        message = body if time is None else f"cosignature/v1\ntime {time}\n{body}"
        if len(proof) != 64 or not ed25519.verify(key[3], message.encode(), proof):
            raise Refused("bad_checkpoint_signature", f"the signature of {name} does not hold")
        signers.append((key, time))
    return signers


def check_seen_after(made_at, seen, by):
    if seen < time_of(made_at) - timedelta(minutes=5):
        raise Refused("seen_before_completed", f"it is of {made_at}, {by} had it at {seen}")


def check_anchor(payload, anchor, logged):
    if type(anchor) is not dict or anchor.get("state") not in ("submitted", "included", "finalized"):
        return
    bytes32 = pattern("0x[0-9a-f]{64}")
    shape = {
        "id": text,
        "chain_id": count(),
        "contract": pattern("0x[0-9a-fA-F]{40}"),
        "tree_size": count(),
        "root": bytes32,
        "transaction_hash": nullable(bytes32),
        "block_number": nullable(count()),
        "block_time": nullable(instant),
        "index": count(),
        "path": list_of(bytes32, 53),
    }
    fields(shape, strict=False)(anchor, "anchor", "malformed_anchor")
    root, path = bytes.fromhex(anchor["root"][2:]), [bytes.fromhex(one[2:]) for one in anchor["path"]]
    if not is_included(anchor["index"], anchor["tree_size"], sha256(b"\x00" + receipt_digest(payload)), root, path):
        raise Refused("not_in_anchor", "anchor.path does not lead to the root that the anchor names")
    if logged and (logged["index"] != anchor["index"] or (logged["tree_size"] == anchor["tree_size"] and logged["root"] != root)):
        raise Refused("anchor_of_another_log", "anchor and log place the receipt differently")
    if anchor["block_time"] is not None:
        check_seen_after(payload["completed_at"], time_of(anchor["block_time"]), "the block")


# --- Money ---------------------------------------------------------------------------------------------------------------------------


def cost_of(usage, prices, factor):
    """Nano-USD, and the first meter that was used and has no price."""
    use = {name: usage.get(name, 0) for name in (*BASIC, *MORE)}
    parts = ("cached_input_tokens", "cache_write_tokens", "cache_write_1h_tokens", "audio_input_tokens", "image_input_tokens")
    fresh = use["input_tokens"] - sum(use[name] for name in parts)
    image, cached_image, image_out = use["image_input_tokens"], use["cached_image_input_tokens"], use["image_output_tokens"]
    audio, cached_audio, audio_out = use["audio_input_tokens"], use["cached_audio_input_tokens"], use["audio_output_tokens"]
    if fresh < 0 or cached_image > image or cached_audio > audio or max(use["reasoning_tokens"], image_out + audio_out) > use["output_tokens"]:
        raise Refused("usage_inconsistent", "parts are more than their whole")
    lines = [
        (fresh, "input_tokens"),
        (use["cached_input_tokens"], "cached_input_tokens", "input_tokens"),
        (use["cache_write_tokens"], "cache_write_tokens", "input_tokens"),
        (use["cache_write_1h_tokens"], "cache_write_1h_tokens", "cache_write_tokens", "input_tokens"),
        (audio - cached_audio, "audio_input_tokens", "input_tokens"),
        (cached_audio, "cached_audio_input_tokens", "audio_input_tokens", "input_tokens"),
        (image - cached_image, "image_input_tokens", "input_tokens"),
        (cached_image, "cached_image_input_tokens", "image_input_tokens", "input_tokens"),
        (use["output_tokens"] - image_out - audio_out, "output_tokens", "image_output_tokens"),
        (image_out, "image_output_tokens", "output_tokens"),
        (audio_out, "audio_output_tokens", "output_tokens"),
        *((use[name], name) for name in ("input_characters", "audio_seconds", "video_seconds", "search_units")),
    ]
    whole, _, fraction = factor.partition(".")
    unit = 10 ** len(fraction)
    pico, unpriced = pico_of(lines, prices)
    # The factor is not on what tools of the provider used.
    of_tools, unpriced_tools = pico_of([(use[name], name) for name in TOOL_METERS], prices)
    return ceil(pico * int(whole + fraction) + of_tools * unit, 1000 * unit), unpriced or unpriced_tools


def pico_of(lines, prices):
    pico, unpriced = 0, False
    for units, *meters in lines:
        price = next((prices[name] for name in meters if name in prices), None)
        unpriced = unpriced or (units > 0 and price is None)
        pico += units * int(price or 0)
    return pico, unpriced


def ceil(amount, whole):
    return -(-amount // whole)


# Without an answer, or with one that was kept, no model was run.
UNCHARGED = {"failed": "charged_failure", "cached": "charged_cached"}


def check_cost(p):
    kind, outcome, stated = p["kind"], p["outcome"], int(p["cost_nano_usd"])
    if outcome in UNCHARGED and (stated != 0 or any(p["usage"].values())):
        raise Refused(UNCHARGED[outcome], f"the outcome is {outcome}, yet usage or cost is not zero")
    tier = p["price_tier_above_input_tokens"]
    if tier is not None and p["usage"]["input_tokens"] <= tier:
        raise Refused("tier_mismatch", "the tier was not reached")
    if p["price_factor"] != "1" and kind in ("usage", "media_job"):
        raise Refused("factor_mismatch", "a factor, and the receipt is of no batch")
    names_another = kind in ("refund", "correction")
    stands_for = (p["refund_of"] is not None, p["refund_reason"] is not None)
    if (outcome == "refunded") != (kind == "refund") or stands_for != (names_another, names_another) or p["refund_of"] == p["receipt_id"]:
        raise Refused("refund_inconsistent", "kind, outcome, refund_of and refund_reason do not go together")
    cost, unpriced = cost_of(p["usage"], p["unit_prices_pico_usd"], p["price_factor"])
    waived = int(p.get("waived_nano_usd", "0"))
    if waived and names_another:
        raise Refused("cost_mismatch", "what is given back or corrected cannot be waived")
    stated += waived
    if kind == "refund":
        if stated > cost:
            raise Refused("refund_exceeds_cost", f"gives back {stated}, usage and prices come to {cost}")
    elif stated != cost:
        raise Refused("price_missing" if unpriced and stated > cost else "cost_mismatch", f"cost is {stated}, usage and prices come to {cost}")


def quota_units(usage):
    images = usage.get("images", 0)
    tokens = usage["input_tokens"] + usage["output_tokens"] + usage.get("input_characters", 0)
    units = {"requests": 1, "images": images, "tokens": 0 if images else tokens}
    return {**units, "audio_seconds": usage.get("audio_seconds", 0), "video_seconds": usage.get("video_seconds", 0)}


def check_payment(p):
    pay, live = p["payment"], p["livemode"]
    covered, cost, charged = pay["covered"], int(p["cost_nano_usd"]), int(pay["charged_nano_usd"])

    def demand(holds, what):
        if not holds:
            raise Refused("payment_mismatch", what)

    demand((pay["funding"] == "test") == (not live), "funding and mode do not go together")
    demand(live or (pay["plan"] is None and charged == 0 and not covered), "nobody pays in test mode")
    demand(charged <= cost, "more was charged than it cost")
    demand(p["outcome"] not in UNCHARGED or not covered, "a request that ran no model takes nothing of a quota")
    if not live or p["outcome"] in UNCHARGED:
        return
    units = quota_units(p["usage"])
    part, whole = 1, 1
    for meter in QUOTA_METERS:
        demand(covered.get(meter, 0) <= units[meter], f"more {meter} were covered than used")
        if units[meter] > 0 and covered.get(meter, 0) * whole < part * units[meter]:
            part, whole = covered.get(meter, 0), units[meter]
    for meter in QUOTA_METERS:
        demand(covered.get(meter, 0) == ceil(units[meter] * part, whole), f"the share of {meter} is another")
    if p["kind"] in ("refund", "correction"):
        return
    due = ceil(cost * (whole - part), whole)
    may_be_less = p["kind"] == "batch_line" and charged < due
    # Of what was settled late, the charge is rounded up twice.
    is_late = "waived_nano_usd" in p and charged <= due + 1
    demand(charged == due or may_be_less or is_late, f"{charged} were charged, {due} is what was not covered")


def check_price_entry(p, price, log, logged, proven):
    """Whether the price is an entry of the log before the receipt. @param proven entries that were shown by other receipts"""
    named = p["price_entry"]
    if named is None:
        if int(p["cost_nano_usd"]) != 0:
            raise Refused("price_undeclared", "no entry of the log has its price")
        return
    if type(log) is dict and log.get("state") == "logged" and named["index"] >= log["index"]:
        raise Refused("price_logged_after", "the price came into the log after the receipt")
    name = (logged["root"] if logged else None, named["index"], named["digest"])
    declared = proven.get(name)
    if type(price) is dict:
        fields({"declaration": DECLARED_PRICE, "inclusion_path": PATH}, strict=False)(price, "price", "malformed_declaration")
        declared = price["declaration"]
    if declared is None:
        return
    digest = digest_of(declared)
    if digest.hex() != named["digest"] or (declared["model"], declared["price_version"]) != (p["model_served"], p["price_version"]):
        raise Refused("price_entry_mismatch", "price is not what price_entry names, or is of another model or version")
    if max(declared["declared_at"], declared["effective_from"]) > shifted(p["started_at"], minutes=5):
        raise Refused("price_not_in_force", "the price was declared, or in force, later")
    check_terms(p, declared)
    if logged and type(price) is dict and name not in proven:
        path = [from_b64(sibling) for sibling in price["inclusion_path"]]
        if not is_included(named["index"], logged["tree_size"], sha256(b"\x00" + digest), logged["root"], path):
            raise Refused("price_not_in_log", "price.inclusion_path does not lead to the root of the checkpoint")
    if logged:
        proven[name] = declared


def declaration(value, at, code):
    kind = value.get("kind") if type(value) is dict else None
    check(type(kind) is str and kind in DECLARATIONS, at, "a declaration", code)
    DECLARATIONS[kind](value, at, code)


def digest_of(declared):
    return sha256(b"tallygate-declaration/v1\n" + canonical(declared).encode())


def verify_declarations(kind, pages, keys, kept=None):
    """Whether a list of the declarations of one kind, all pages of it, leaves none out. @param kept the newest declaration that was seen before"""
    entry = fields({"index": count(), "declaration": declaration, "inclusion_path": PATH}, strict=False)
    counts = fields({kind: count() for kind in DECLARATIONS}, strict=False)
    form = fields({"checkpoint": text, "declared": counts, "data": list_of(entry, MOST)}, strict=False)
    found, total = [], 0
    for page in pages:
        form(page, "declarations", "malformed_declaration")
        found += [(one, page["checkpoint"]) for one in page["data"] if one["declaration"]["kind"] == kind]
        total = page["declared"][kind]
    before = None
    for number, (one, _) in enumerate(found, 1):
        if one["declaration"]["number"] != number:
            raise Refused("declaration_missing", f"declaration {number} is left out")
        previous = digest_of(before["declaration"]).hex() if before else None
        if one["declaration"]["previous"] != previous or (before and one["index"] <= before["index"]):
            raise Refused("declaration_forked", f"declaration {number} does not follow the one before it")
        before = one
    if len(found) != total:
        raise Refused("declaration_missing", f"there are {total}, {len(found)} are listed")
    if found and not is_logged(*found[-1], keys):
        raise Refused("declaration_not_in_log", "the newest is not in the log")
    if kept and kept["number"] > len(found):
        raise Refused("declaration_missing", "the list ends before one that was shown before")
    if kept and digest_of(found[kept["number"] - 1][0]["declaration"]) != digest_of(kept):
        raise Refused("declaration_forked", "another one was shown before")


def is_logged(one, checkpoint, keys):
    """Whether a declaration is in a state of the log that a key of the set has signed."""
    try:
        _, size, _ = read_checkpoint(read_note(checkpoint))
        place = {"state": "logged", "index": one["index"], "tree_size": size, "inclusion_path": one["inclusion_path"], "checkpoint": checkpoint}
        # Of no time: a key that was retired since may have signed the state.
        return check_log(digest_of(one["declaration"]), "", place, keys) is not None
    except Refused:
        return False


def shifted(value, **by):
    return (time_of(value) + timedelta(**by)).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def check_prices(p, published):
    versions = published.get(p["model_served"], {})
    price = versions.get(p["price_version"])
    if price is None:
        if int(p["cost_nano_usd"]) == 0 and all(int(one) == 0 for one in p["unit_prices_pico_usd"].values()):
            return
        raise Refused("price_unpublished", "no published price of this model in this version")
    began = sorted((moment(one["effective_from"]), name) for name, one in versions.items() if "effective_from" in one)
    if any(name == p["price_version"] for _, name in began):
        begun = [start for start, _ in began if start <= time_of(p["started_at"])] or [began[0][0]]
        if (begun[-1], p["price_version"]) not in began:
            raise Refused("price_not_in_force", "another version was in force when the request began")
    if "entry" in price and price["entry"]["digest"] != (p["price_entry"] or {}).get("digest"):
        raise Refused("price_entry_mismatch", "the published price is another entry of the log")
    check_terms(p, price)


def check_terms(p, price):
    """Tier, factor and unit prices are those of a price."""
    reached = [tier for tier in price.get("tiers", []) if p["usage"]["input_tokens"] > tier["above_input_tokens"]]
    tier = max(reached, key=lambda one: one["above_input_tokens"], default=None)
    if p["price_tier_above_input_tokens"] != (tier["above_input_tokens"] if tier else None):
        raise Refused("tier_mismatch", "another tier is published")
    batch = price.get("batch_factor", "1")
    allowed = {"batch_line": [batch], "refund": ["1", batch], "correction": ["1", batch]}.get(p["kind"], ["1"])
    if p["price_factor"] not in allowed:
        raise Refused("factor_mismatch", "another factor is published")
    for meter in PRICE_METERS:
        if p["unit_prices_pico_usd"].get(meter) != (tier or price)["unit_prices_pico_usd"].get(meter):
            raise Refused("price_mismatch", f"the price of {meter} is not the published one")


def moment(value):
    return time_of(value if "T" in value else f"{value}T00:00:00.000Z")


# --- The caller's signature (RFC 9421, RFC 9530) -------------------------------------------------------------------------------------

BARE = r'(?:"(?:[\x20-\x21\x23-\x5b\x5d-\x7e]|\\["\\])*"|-?[0-9]{1,15}(?![0-9.])|:[A-Za-z0-9+/]*={0,2}:|\?[01]|[A-Za-z*][A-Za-z0-9!#$%&\'*+.^_`|~:/-]*)'
PARAMETERS = rf"(?:; *[a-z*][a-z0-9_.*-]*(?:={BARE})?)*"


def check_client_signature(p, components):
    claimed = p["client_signature"]
    if claimed is None:
        return None

    def bad(what, code="bad_client_signature"):
        raise Refused(code, what)

    match = re.fullmatch(rf" *\(( *(?:{BARE}{PARAMETERS}(?: +{BARE}{PARAMETERS})*)? *)\)({PARAMETERS}) *", claimed["signature_input"])
    if not match:
        bad("signature_input is no list of components with parameters")
    covered = re.findall(rf"({BARE})({PARAMETERS})", match[1])
    names = [name[1:-1] for name, _ in covered]
    given = re.findall(rf"; *([a-z*][a-z0-9_.*-]*)(?:=({BARE}))?", match[2])
    if any(not re.fullmatch(r'"@?[a-z0-9!#$%&\'*+.^_`|~-]+"', name) or parameters for name, parameters in covered):
        bad("a covered component is no plain name")
    if len(set(names)) < len(names) or len({name for name, _ in given}) < len(given):
        bad("a component or a parameter is there twice")
    for name, value in given:
        kinds = {"alg": '"ed25519"', "nonce": r'".*"', "keyid": r'".*"', "created": "-?[0-9]+", "expires": "-?[0-9]+"}
        if name in kinds and not re.fullmatch(kinds[name], value):
            bad(f"the parameter {name} is not as it has to be")
    if "content-digest" not in names:
        bad("the body is not covered")
    digests = re.findall(r"(?:^|, *)sha-256=:([A-Za-z0-9+/=]*):", claimed["content_digest"].strip(" "))
    digest = from_b64(digests[0], 32) if len(digests) == 1 else None
    if digest is None:
        bad("content_digest has no sha-256 of 32 bytes")
    if digest.hex() != p["request_sha256"]:
        bad("content_digest is not request_sha256", "client_signature_mismatch")
    key = from_b64url(claimed["public_key"])
    if ed25519.is_weak(key):
        bad("a key that not only its owner can sign for")
    values = {**components, "@method": "POST", "@path": p["endpoint"], "content-digest": claimed["content_digest"]}
    if any(name not in values for name in names):
        return "unchecked"
    written = "".join(f";{name}" if value in ("", "?1") else f";{name}={value}" for name, value in given)
    parameters = "(" + " ".join(name for name, _ in covered) + ")" + written
    base = "".join(f'"{name}": {values[name]}\n' for name in names) + f'"@signature-params": {parameters}'
    if not ed25519.verify(key, base.encode(), from_b64url(claimed["signature"])):
        bad("signature is not one of this request")
    return "ok"


# --- Receipts, exports, invoices -----------------------------------------------------------------------------------------------------


def receipt_digest(payload):
    return sha256(b"tallygate-receipt/v1\n" + canonical(payload).encode())


def invoice_digest(payload):
    return sha256(b"tallygate-invoice/v1\n" + canonical(payload).encode())


def salted_hash(kind, nonce, name):
    return sha256(f"tallygate-{kind}/v1\n{nonce}\n{name}".encode()).hex()


def account_hash(nonce, account_id):
    return salted_hash("account", nonce, account_id)


def is_for(payload, project=None, end_user=None, tags=()):
    """Whether a receipt is of that project, for that end user, and has these tags."""
    nonce = payload["nonce"]
    return (
        (project is None or salted_hash("project", nonce, project) == payload.get("project_hash"))
        and (end_user is None or salted_hash("end-user", nonce, end_user) == payload.get("end_user_hash"))
        and all(salted_hash("tag", nonce, tag) in payload.get("tag_hashes", []) for tag in tags)
    )


def verify_receipt(receipt, keys, prices=None, witnesses=(), components=None, proven=None):
    """What the receipt shows, or Refused. @param receipt as read_json reads it"""
    read_form(receipt, "receipt", PAYLOAD, "tallygate-receipt/v1", KINDS)
    payload = receipt["payload"]
    if receipt["id"] != payload["receipt_id"]:
        raise Refused("id_mismatch", "id is not payload.receipt_id")
    digest = receipt_digest(payload)
    if receipt["digest"] != digest.hex():
        raise Refused("bad_digest", "digest is not that of the payload")
    check_jws(receipt["jws"], payload, payload["completed_at"], keys, "tallygate-receipt")
    if payload["completed_at"] < payload["started_at"]:
        raise Refused("completed_before_started", "it ended before it began")
    client = check_client_signature(payload, components or {})
    check_cost(payload)
    check_payment(payload)
    if prices is not None:
        check_prices(payload, prices)
    logged = check_log(digest, payload["completed_at"], receipt["log"], keys, witnesses)
    check_price_entry(payload, receipt["price"], receipt["log"], logged, {} if proven is None else proven)
    check_anchor(payload, receipt["anchor"], logged)
    return {"payload": payload, "logged": logged, "client_signature": client}


def verify_promise(jws, keys, now, receipt=None, headers=None, request_body=None):
    """What became of it: "kept", "pending" or "broken", or Refused. @param now seconds since 1970 @param receipt as read_json reads it"""
    parts = jws.split(".")
    check(len(parts) == 3, "promise", "<header>.<payload>.<signature>", "malformed_promise")
    try:
        text = (from_b64url(parts[1]) or b"").decode()
        promise = read_json(text)
    except (Refused, UnicodeDecodeError) as error:
        raise Refused("malformed_promise", "the payload is not JSON in base64url") from error
    PROMISE(promise, "promise", "malformed_promise")
    check(canonical(promise) == text, "promise", "canonical JSON", "malformed_promise")
    made_at = datetime.fromtimestamp(min(promise["iat"], LAST_SECOND), timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    check_signed(parts, made_at, keys, "tallygate-promise", "promise", "malformed_promise")
    if headers is not None:
        head = "".join(f"{name}: {headers[name]}\n" for name in PROMISED_HEAD if name in headers)
        check(sha256(head.encode()).hex() == promise["head_sha256"], "head_sha256", "that of the answer", "promise_mismatch")
    if request_body is not None:
        check(sha256(request_body).hex() == promise["request_sha256"], "request_sha256", "that of the request", "promise_mismatch")
    found = verify_receipt(receipt, keys) if receipt is not None else None
    if found:
        payload = found["payload"]
        check(payload["receipt_id"] == promise["receipt_id"], "receipt_id", "that of the promise", "promise_mismatch")
        if payload["request_sha256"] != promise["request_sha256"] or int(payload["cost_nano_usd"]) > int(promise["worst_cost_nano_usd"]):
            return "broken"
        if found["logged"] is not None:
            return "kept"
    return "pending" if now <= promise["logged_by"] else "broken"


class Books:
    """The receipts of a month, put together by request."""

    PARTS = {"correction": ("corrected", "corrected_twice"), "refund": ("refunded", "refunded_twice")}

    def __init__(self):
        self.ids, self.numbers, self.requests = set(), set(), {}

    def enter(self, p):
        """Why there must not be another like it: then it does not count."""
        if p["receipt_id"] in self.ids:
            return "repeated_receipt"
        self.ids.add(p["receipt_id"])
        if p["account_sequence"] in self.numbers:
            return "repeated_number"
        self.numbers.add(p["account_sequence"])
        part, twice = self.PARTS.get(p["kind"], ("settled", "billed_twice"))
        if part == "settled" and p["outcome"] == "failed":
            return None
        request = self.requests.setdefault(p["request_id"], {})
        if part in request:
            return twice
        request[part] = p
        return None

    def close(self):
        """Nano-USD that were billed, and what is wrong with refunds and corrections."""
        faults = ["missing_receipts"] if self.numbers and max(self.numbers) > len(self.numbers) else []
        billed = 0
        for request in self.requests.values():
            settled, corrected, refunded = (request.get(part) for part in ("settled", "corrected", "refunded"))
            found = []
            replaces = corrected and settled and corrected["refund_of"] == settled["receipt_id"]
            stands = corrected if replaces else settled
            if corrected and not replaces:
                found.append("refund_of_nothing")
            elif corrected and not shared_as_corrected(settled, corrected):
                found.append("share_mismatch")
            if refunded:
                charging = [one["receipt_id"] for one in (settled, corrected) if one]
                if not settled or refunded["refund_of"] not in charging:
                    found.append("refund_of_nothing")
                elif cost(refunded) > cost(stands):
                    found.append("refund_exceeds_receipt")
                elif not shared_as_refunded(stands, refunded):
                    found.append("share_mismatch")
            billed += (cost(stands) if stands else 0) - (cost(refunded) if refunded and not found else 0)
            faults += found
        return billed, faults

    def month(self, first, last, live):
        """The figures of a month on an invoice."""
        within = lambda p: p is not None and first <= p["account_sequence"] <= last
        sums = {name: 0 for name in ("corrections", "refunds", "used", "corrected", "refunded", "from_balance", "by_invoice")}
        covered = dict.fromkeys(QUOTA_METERS, 0)

        def pay(p, sign):
            sums["by_invoice" if p["payment"]["funding"] == "invoice" else "from_balance"] += sign * charged(p)
            for meter, units in p["payment"]["covered"].items():
                covered[meter] += sign * units

        for request in self.requests.values():
            settled, corrected, refunded = (request.get(part) for part in ("settled", "corrected", "refunded"))
            if within(settled):
                sums["used"] += cost(settled)
                pay(settled, 1)
            if within(corrected):
                sums["corrections"] += 1
                sums["corrected"] += cost(corrected) - (cost(settled) if settled else 0)
                pay(corrected, 1)
                if settled:
                    pay(settled, -1)
            if within(refunded):
                sums["refunds"] += 1
                sums["refunded"] += cost(refunded)
                pay(refunded, -1)
        there = sum(first <= number <= last for number in self.numbers)
        total = sums["used"] + sums["corrected"] - sums["refunded"]
        paid = sums["from_balance"] + sums["by_invoice"]
        figures = {"charges": there - sums["corrections"] - sums["refunds"], "corrections": sums["corrections"], "refunds": sums["refunds"]}
        amounts = {name: sums[name] for name in ("used", "corrected", "refunded", "from_balance", "by_invoice")}
        amounts.update(cost=total, covered=total - paid if live else 0)
        figures.update({f"{name}_nano_usd": str(amount) for name, amount in amounts.items()})
        return there, figures, {meter: units for meter, units in covered.items() if units}


def cost(p):
    return int(p["cost_nano_usd"])


def charged(p):
    return int(p["payment"]["charged_nano_usd"])


def shared_as_corrected(settled, corrected):
    funding = settled["payment"]["funding"]
    if corrected["payment"]["funding"] != funding:
        return False
    if funding in ("test", "none"):
        return charged(corrected) == 0
    if cost(settled) == 0:
        return charged(corrected) == (0 if settled["payment"]["covered"] else cost(corrected))
    return charged(corrected) == cost(corrected) * charged(settled) // cost(settled)


def shared_as_refunded(paid, refunded):
    same = refunded["payment"]["covered"] == paid["payment"]["covered"]
    if refunded["payment"]["funding"] != paid["payment"]["funding"] or (cost(refunded) == cost(paid) and not same):
        return False
    return charged(refunded) == (ceil(charged(paid) * cost(refunded), cost(paid)) if cost(paid) else 0)


def verify_export(lines, keys, prices=None, account_id=None, books=None):
    """What an export comes to: month, livemode, receipts, valid, billed, codes of lines and of the file, and each receipt that holds."""
    books = books or Books()
    lines = [line for line in lines if line != ""]
    header = _parsed(lines[0]) if lines else None
    shape = {"object": one_of("receipt_export"), "version": one_of("tallygate-export/v1"), "month": MONTH, "livemode": boolean}
    try:
        fields({**shape, "checkpoint": nullable(text)}, strict=False)(header, "header", "malformed_export")
    except Refused:
        return {"month": "", "livemode": False, "receipts": 0, "valid": 0, "billed": 0, "codes": ["malformed_export"], "held": []}
    held, codes, with_proof, end, total, proven = [], [], 0, None, 0, {}
    for line in lines[1:]:
        if end is not None:
            codes.append("incomplete_export")
        value = _parsed(line)
        if end is None and type(value) is dict and value.get("object") == "receipt_export.end" and {"receipts", "logged"} <= value.keys():
            end = value
            continue
        if end is not None:
            continue
        total += 1
        log = value.get("log") if type(value) is dict else None
        has_proof = type(log) is dict and log.get("state") == "logged"
        with_proof += has_proof
        try:
            found = verify_receipt(read_json(line), keys, prices, proven=proven)
            p = found["payload"]
            ours = account_id is None or account_hash(p["nonce"], account_id) == p["account_hash"]
            if not p["started_at"].startswith(f"{header['month']}-") or p["livemode"] != header["livemode"] or not ours:
                raise Refused("foreign_receipt", "of another month, mode or account")
            if has_proof and log["checkpoint"] != header["checkpoint"]:
                raise Refused("other_checkpoint", "proven against another state of the log")
            fault = books.enter(p)
            if fault:
                raise Refused(fault, p["receipt_id"])
            held.append(found)
        except Refused as refused:
            codes.append(refused.code)
    if end is None or (end["receipts"], end["logged"]) != (total, with_proof):
        codes.append("incomplete_export")
    billed, faults = books.close()
    summary = {"month": header["month"], "livemode": header["livemode"], "receipts": total, "valid": len(held), "billed": billed}
    return {**summary, "codes": codes + faults, "held": held}


def _parsed(line):
    try:
        return read_json(line)
    except Refused:
        return None


def verify_invoice(invoice, keys, account_id=None, witnesses=()):
    """An invoice by itself, or Refused."""
    read_form(invoice, "invoice", INVOICE_PAYLOAD, "tallygate-invoice/v1")
    p = invoice["payload"]
    if invoice["id"] != p["invoice_id"]:
        raise Refused("id_mismatch", "id is not payload.invoice_id")
    if invoice["digest"] != invoice_digest(p).hex():
        raise Refused("bad_digest", "digest is not that of the payload")
    check_jws(invoice["jws"], p, p["issued_at"], keys, "tallygate-invoice")
    check_invoice_sums(p)
    if account_id is not None and account_hash(p["nonce"], account_id) != p["account_hash"]:
        raise Refused("foreign_invoice", "the invoice is of another account")
    return {"payload": p, "logged": check_log(invoice_digest(p), p["issued_at"], invoice["log"], keys, witnesses)}


def check_invoice_sums(p):
    def demand(holds, what):
        if not holds:
            raise Refused("invoice_inconsistent", what)

    months = p["months"]
    names = [one["month"] for one in months]
    demand(months and names[0] == p["month"] and months[0]["first_number"] == 1, "its own month comes first, from number 1 on")
    demand(names[1:] == sorted(set(names[1:])) and all(name < p["month"] for name in names[1:]), "then earlier months, oldest first")
    for one in months:
        amount = lambda name: int(one[f"{name}_nano_usd"])
        numbers = one["last_number"] - one["first_number"] + 1
        demand(numbers == one["charges"] + one["corrections"] + one["refunds"], "numbers and counts differ")
        demand(amount("cost") == amount("used") + amount("corrected") - amount("refunded"), "the cost is another")
        paid = amount("covered") + amount("from_balance") + amount("by_invoice")
        demand(paid == (amount("cost") if p["livemode"] else 0), "what was covered and paid is not the cost")
    plans = [one["plan"] for one in p["plans"]]
    demand(plans == sorted(set(plans)), "plans are not sorted, each once")
    demand((p["sequence"] == 1) == (p["previous"] is None), "the first invoice has none before it, every other has one")
    balance = sum(int(one["from_balance_nano_usd"]) for one in months)
    owed = sum(int(one["by_invoice_nano_usd"]) for one in months)
    payable = owed + int(p["carried_before_nano_usd"])
    due = payable - payable % 10_000_000 if payable > 0 else 0
    sums = {"from_balance": balance, "by_invoice": owed, "total": balance + owed, "due": due, "carried": payable - due}
    for name, value in sums.items():
        demand(int(p[f"{name}_nano_usd"]) == value, f"{name}_nano_usd is not {value}")


def verify_bill(invoice, exports, keys, prices=None, account_id=None):
    """What contradicts between an invoice (see verify_invoice) and exports of its months: codes, and months without an export."""
    p, logged = invoice["payload"], invoice["logged"]
    counted, faults, seen, plans = {one["month"]: one for one in p["months"]}, [], set(), set()
    for lines in exports:
        books = Books()
        found = verify_export(lines, keys, prices, account_id, books)
        month = counted.get(found["month"]) if found["livemode"] == p["livemode"] and found["month"] not in seen else None
        if month is None:
            faults.append("foreign_export")
            continue
        seen.add(found["month"])
        first, last = month["first_number"], month["last_number"]
        if found["codes"]:
            faults.append("export_not_in_order")
        there, figures, covered = books.month(first, last, p["livemode"])
        if there < last - first + 1:
            faults.append("missing_receipts")
        faults += ["invoice_mismatch" for name, value in figures.items() if month[name] != value]
        faults += ["quota_mismatch" for meter in QUOTA_METERS if month["covered"].get(meter, 0) != covered.get(meter, 0)]
        for receipt in found["held"]:
            if not first <= receipt["payload"]["account_sequence"] <= last:
                continue
            plan = receipt["payload"]["payment"]["plan"]
            if found["month"] == p["month"] and plan is not None:
                plans.add(plan)
            if logged and receipt["logged"] and receipt["logged"]["index"] >= logged["index"]:
                faults.append("receipt_after_invoice")
    if p["month"] in seen and sorted(plans) != [one["plan"] for one in p["plans"]]:
        faults.append("plan_mismatch")
    unchecked = [one["month"] for one in p["months"] if one["last_number"] >= one["first_number"] and one["month"] not in seen]
    return faults, unchecked
