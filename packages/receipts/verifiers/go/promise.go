package main

import (
	"strings"
	"time"
)

var promiseForm = exactly(members{
	"head_sha256": hexHash, "iat": count(0), "logged_by": count(0), "model": isText, "receipt_id": uuid, "request_sha256": hexHash,
	"worst_cost_nano_usd": amount,
}, nil)

// lastSecond is that of the year 9999, the last one that has a form.
const lastSecond = 253402300799

// answered is what the reader has of the answer and the request; nil where they have it not.
type answered struct {
	receipt     any
	headers     map[string]string
	requestBody []byte
}

// verifyPromise says whether it is kept, pending or broken; now is seconds since 1970.
func verifyPromise(jws string, keys any, now int64, given answered) string {
	const code = "malformed_promise"
	parts := strings.Split(jws, ".")
	demand(len(parts) == 3, "promise", "<header>.<payload>.<signature>", code)
	text := string(fromB64url(parts[1], -1))
	var promise object
	attempt(func() { promise, _ = readJSON(text).(object) })
	demand(promise != nil, "promise", "JSON in base64url", code)
	promiseForm(promise, "promise", code)
	demand(canonical(promise) == text, "promise", "canonical JSON", code)
	madeAt := time.Unix(min(promise["iat"].(int64), lastSecond), 0).UTC().Format("2006-01-02T15:04:05.000Z")
	checkSigned(parts, madeAt, keys, signedAs{"tallygate-promise", "promise", code})
	if given.headers != nil {
		head := ""
		for _, name := range []string{"x-request-id", "x-receipt-id", "x-model-served", "x-provider", "x-fallback"} {
			if value, there := given.headers[name]; there {
				head += name + ": " + value + "\n"
			}
		}
		demand(toHex(hash(head)) == promise["head_sha256"], "head_sha256", "that of the answer", "promise_mismatch")
	}
	if given.requestBody != nil {
		demand(toHex(hash(string(given.requestBody))) == promise["request_sha256"], "request_sha256", "that of the request", "promise_mismatch")
	}
	if given.receipt != nil {
		found := verifyReceipt(given.receipt, keys, Options{}, map[string]object{})
		demand(found.payload["receipt_id"] == promise["receipt_id"], "receipt_id", "that of the promise", "promise_mismatch")
		if found.payload["request_sha256"] != promise["request_sha256"] || costIn(found.payload).Cmp(nano(promise["worst_cost_nano_usd"])) > 0 {
			return "broken"
		}
		if found.logged != nil {
			return "kept"
		}
	}
	if now <= promise["logged_by"].(int64) {
		return "pending"
	}
	return "broken"
}
