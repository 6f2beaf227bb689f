package main

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// A shape refuses, with the code given, what has not its form.
type shape func(value any, at, code string)

func demand(holds bool, at, expected, code string) {
	if !holds {
		refuse(code, "%s must be %s", at, expected)
	}
}

func count(least int64) shape {
	return func(value any, at, code string) {
		found, ok := value.(int64)
		demand(ok && found >= least, at, fmt.Sprintf("an integer from %d", least), code)
	}
}

func pattern(expression string) shape {
	matcher := regexp.MustCompile(`^(?:` + expression + `)$`)
	return func(value any, at, code string) {
		found, ok := value.(string)
		demand(ok && !strings.HasSuffix(found, "\n") && matcher.MatchString(found), at, "like "+expression, code)
	}
}

func oneOf(allowed ...string) shape {
	return func(value any, at, code string) {
		for _, one := range allowed {
			if value == one {
				return
			}
		}
		demand(false, at, strings.Join(allowed, " or "), code)
	}
}

func nullable(inner shape) shape {
	return func(value any, at, code string) {
		if value != nil {
			inner(value, at, code)
		}
	}
}

func isText(value any, at, code string) {
	_, ok := value.(string)
	demand(ok, at, "a string", code)
}

func isBoolean(value any, at, code string) {
	_, ok := value.(bool)
	demand(ok, at, "true or false", code)
}

func isDifference(value any, at, code string) {
	found, ok := value.(int64)
	demand(ok && found != 0, at, "an integer, absent when zero", code)
}

func anything(any, string, string) {}

func b64url(length int) shape {
	return func(value any, at, code string) {
		found, ok := value.(string)
		demand(ok && fromB64url(found, length) != nil, at, fmt.Sprintf("%d bytes, base64url", length), code)
	}
}

const layout = "2006-01-02T15:04:05.000Z"

func instant(value any, at, code string) {
	found, ok := value.(string)
	parsed, err := time.Parse(layout, found)
	demand(ok && err == nil && parsed.Format(layout) == found, at, "a time in UTC with milliseconds", code)
}

func timeOf(text any) time.Time {
	found, _ := time.Parse(layout, text.(string))
	return found
}

func listOf(inner shape, longest int) shape {
	return func(value any, at, code string) {
		items, ok := value.([]any)
		demand(ok && len(items) <= longest, at, fmt.Sprintf("a list of at most %d", longest), code)
		for index, item := range items {
			inner(item, fmt.Sprintf("%s[%d]", at, index), code)
		}
	}
}

type members map[string]shape

// read takes an object with the required members; where it is strict, with no others but the optional ones.
func read(value any, at, code string, required, optional members, strict bool) {
	found, ok := value.(object)
	demand(ok, at, "an object", code)
	for name, inner := range required {
		member, there := found[name]
		demand(there, at+"."+name, "present", code)
		inner(member, at+"."+name, code)
	}
	for name, member := range found {
		if inner, known := optional[name]; known {
			inner(member, at+"."+name, code)
		} else if _, known := required[name]; !known && strict {
			refuse("unknown_field", "%s.%s is not a field of this version", at, name)
		}
	}
}

func exactly(required, optional members) shape {
	return func(value any, at, code string) { read(value, at, code, required, optional, true) }
}

func each(names []string, inner shape) members {
	found := members{}
	for _, name := range names {
		found[name] = inner
	}
	return found
}

func with(groups ...members) members {
	found := members{}
	for _, group := range groups {
		for name, inner := range group {
			found[name] = inner
		}
	}
	return found
}

var (
	hexHash      = pattern("[0-9a-f]{64}")
	uuid         = pattern("[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
	amount       = pattern("0|[1-9][0-9]{0,29}")
	signedAmount = pattern("0|-?[1-9][0-9]{0,29}")
	nonce        = pattern("[0-9a-f]{32}")
	factor       = pattern(`(?:0|[1-9][0-9]{0,3})(?:\.[0-9]{0,17}[1-9])?`)
	monthName    = pattern("[0-9]{4}-(?:0[1-9]|1[0-2])")
	planVersion  = pattern("[a-z][a-z0-9_-]{0,39}@[1-9][0-9]{0,8}")
	meterName    = regexp.MustCompile("^[a-z][a-z0-9_]{0,63}$")
	printable    = regexp.MustCompile(`^[\x20-\x7e]+$`)
	kinds        = []string{"usage", "batch_line", "media_job", "refund", "correction"}
	quotaMeters  = []string{"requests", "tokens", "images", "audio_seconds", "video_seconds"}
	basicMeters  = strings.Fields("input_tokens cached_input_tokens cache_write_tokens output_tokens reasoning_tokens")
	moreMeters   = strings.Fields("cache_write_1h_tokens audio_input_tokens cached_audio_input_tokens image_input_tokens cached_image_input_tokens image_output_tokens input_characters audio_seconds video_seconds images audio_output_tokens search_units " + toolMeters)
	priceMeters  = strings.Fields("input_tokens cached_input_tokens cache_write_tokens cache_write_1h_tokens output_tokens audio_input_tokens cached_audio_input_tokens image_input_tokens cached_image_input_tokens image_output_tokens input_characters audio_seconds video_seconds audio_output_tokens search_units " + toolMeters)
)

// What tools of the provider used: the factor is not on their prices.
const toolMeters = "web_searches web_search_previews file_searches container_gigabytes image_tool_text_input_tokens image_tool_image_input_tokens image_tool_text_output_tokens image_tool_image_output_tokens"

// Go's expressions repeat at most 1,000 times.
func fieldText(value any, at, code string) {
	found, ok := value.(string)
	demand(ok && printable.MatchString(found) && len(found) <= 2048, at, "printable ASCII, at most 2,048 characters", code)
}

func unitPrices(value any, at, code string) {
	prices, ok := value.(object)
	demand(ok, at, "an object", code)
	for name, price := range prices {
		demand(meterName.MatchString(name), at, "prices by meter", code)
		amount(price, at+"."+name, code)
	}
	for name := range prices {
		if !contains(priceMeters, name) {
			refuse("unknown_field", "%s.%s is not a meter of this version", at, name)
		}
	}
}

func contains(all []string, one string) bool {
	for _, candidate := range all {
		if candidate == one {
			return true
		}
	}
	return false
}

func tagHashes(value any, at, code string) {
	listOf(hexHash, 100)(value, at, code)
	hashes := texts(value)
	demand(len(hashes) > 0, at, "absent when there are none", code)
	for index := 1; index < len(hashes); index++ {
		demand(hashes[index-1] < hashes[index], at, "sorted hashes, each once", code)
	}
}

var payloadForm = exactly(members{
	"version": oneOf("tallygate-receipt/v1"), "kind": oneOf(kinds...), "receipt_id": uuid, "nonce": nonce, "request_id": isText,
	"account_hash": hexHash, "key_hash": nullable(hexHash), "livemode": isBoolean, "account_sequence": count(1), "endpoint": isText,
	"run_id": nullable(isText), "model_requested": isText, "model_served": isText, "provider": isText,
	"fallback":       oneOf("none", "deployment", "model"),
	"outcome":        oneOf("completed", "cancelled", "abandoned", "cut", "failed", "cached", "refunded"),
	"request_sha256": hexHash, "response_sha256": hexHash,
	"usage": exactly(each(basicMeters, count(0)), each(moreMeters, count(1))), "estimated": isBoolean, "price_version": isText,
	"price_entry":                   nullable(exactly(members{"index": count(0), "digest": hexHash}, nil)),
	"price_tier_above_input_tokens": nullable(count(0)), "unit_prices_pico_usd": unitPrices,
	"price_factor": factor, "cost_nano_usd": amount,
	"payment": exactly(members{
		"plan": nullable(planVersion), "funding": oneOf("balance", "invoice", "none", "test"),
		"covered": exactly(nil, each(quotaMeters, count(1))), "charged_nano_usd": amount,
	}, nil),
	"refund_of": nullable(uuid), "refund_reason": nullable(isText), "started_at": instant, "completed_at": instant,
	"client_signature": nullable(exactly(members{
		"alg": oneOf("ed25519"), "public_key": b64url(32), "signature_input": fieldText, "signature": b64url(64), "content_digest": fieldText,
	}, nil)),
}, members{"waived_nano_usd": pattern(`[1-9][0-9]{0,29}`), "project_hash": hexHash, "end_user_hash": hexHash, "tag_hashes": tagHashes})

var declaredPrice = exactly(members{
	"version": oneOf("tallygate-declaration/v1"), "kind": oneOf("price"), "number": count(1), "previous": nullable(hexHash), "declared_at": instant, "model": isText, "price_version": isText,
	"effective_from": instant, "unit_prices_pico_usd": unitPrices, "batch_factor": factor,
	"tiers": listOf(exactly(members{"above_input_tokens": count(0), "unit_prices_pico_usd": unitPrices}, nil), most),
}, nil)

var invoiceForm = exactly(with(members{
	"version": oneOf("tallygate-invoice/v1"), "invoice_id": uuid, "nonce": nonce, "account_hash": hexHash, "livemode": isBoolean,
	"month": monthName, "sequence": count(1), "previous": nullable(hexHash), "due_nano_usd": amount, "issued_at": instant,
	"plans": listOf(exactly(members{"plan": planVersion, "quota": exactly(each(quotaMeters, nullable(count(0))), nil)}, nil), 1000),
	"months": listOf(exactly(with(members{
		"month": monthName, "first_number": count(1), "used_nano_usd": amount, "refunded_nano_usd": amount,
		"covered": exactly(nil, each(quotaMeters, isDifference)),
	}, each([]string{"last_number", "charges", "corrections", "refunds"}, count(0)),
		each(strings.Fields("corrected_nano_usd cost_nano_usd covered_nano_usd from_balance_nano_usd by_invoice_nano_usd"), signedAmount)), nil), 1200),
}, each(strings.Fields("total_nano_usd from_balance_nano_usd by_invoice_nano_usd carried_before_nano_usd carried_nano_usd"), signedAmount)), nil)

// readForm looks at the parts of a receipt or an invoice: members beside the payload that are not known here are left unread.
func readForm(document any, at, version string, form shape, known []string) {
	payload := func(value any, _, code string) {
		if found, ok := value.(object); ok {
			if text, ok := found["version"].(string); ok && text != version {
				refuse("unknown_version", "payload.version is not %s", version)
			}
			if kind, ok := found["kind"].(string); ok && known != nil && !contains(known, kind) {
				refuse("unknown_kind", "payload.kind is not known")
			}
		}
		form(value, "payload", code)
	}
	required := members{"object": oneOf(at), "id": uuid, "payload": payload, "digest": hexHash, "jws": isText, "log": anything}
	if at == "receipt" {
		required["price"], required["anchor"] = anything, anything
	}
	read(document, at, "malformed", required, nil, false)
}
