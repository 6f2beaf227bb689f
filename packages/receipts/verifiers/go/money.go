package main

import (
	"fmt"
	"math/big"
	"regexp"
	"sort"
	"strings"
	"time"
)

func nano(text any) *big.Int { return bigOf(text.(string)) }

func ceil(amount, whole *big.Int) *big.Int {
	quotient, rest := new(big.Int).DivMod(amount, whole, new(big.Int))
	if rest.Sign() > 0 {
		quotient.Add(quotient, big.NewInt(1))
	}
	return quotient
}

func times(a, b *big.Int) *big.Int { return new(big.Int).Mul(a, b) }
func plus(a, b *big.Int) *big.Int  { return new(big.Int).Add(a, b) }
func minus(a, b *big.Int) *big.Int { return new(big.Int).Sub(a, b) }

// costOf: nano-USD, and whether something was used that has no price.
func costOf(usage, prices object, factor string) (*big.Int, bool) {
	use := func(name string) int64 { found, _ := usage[name].(int64); return found }
	image, cachedImage, imageOut, output := use("image_input_tokens"), use("cached_image_input_tokens"), use("image_output_tokens"), use("output_tokens")
	audioOut := use("audio_output_tokens")
	// Each is below 2^53, so five of them fit.
	audio, cachedAudio := use("audio_input_tokens"), use("cached_audio_input_tokens")
	fresh := use("input_tokens") - use("cached_input_tokens") - use("cache_write_tokens") - use("cache_write_1h_tokens") - audio - image
	if fresh < 0 || cachedImage > image || cachedAudio > audio || use("reasoning_tokens") > output || imageOut+audioOut > output {
		refuse("usage_inconsistent", "parts are more than their whole")
	}
	lines := []pricedLine{
		{fresh, "input_tokens"},
		{use("cached_input_tokens"), "cached_input_tokens input_tokens"},
		{use("cache_write_tokens"), "cache_write_tokens input_tokens"},
		{use("cache_write_1h_tokens"), "cache_write_1h_tokens cache_write_tokens input_tokens"},
		{audio - cachedAudio, "audio_input_tokens input_tokens"},
		{cachedAudio, "cached_audio_input_tokens audio_input_tokens input_tokens"},
		{image - cachedImage, "image_input_tokens input_tokens"},
		{cachedImage, "cached_image_input_tokens image_input_tokens input_tokens"},
		{output - imageOut - audioOut, "output_tokens image_output_tokens"},
		{imageOut, "image_output_tokens output_tokens"},
		{audioOut, "audio_output_tokens output_tokens"},
		{use("input_characters"), "input_characters"},
		{use("audio_seconds"), "audio_seconds"},
		{use("video_seconds"), "video_seconds"},
		{use("search_units"), "search_units"},
	}
	tools := []pricedLine{}
	for _, meter := range strings.Fields(toolMeters) {
		tools = append(tools, pricedLine{use(meter), meter})
	}
	pico, isUnpriced := picoOf(lines, prices)
	ofTools, areUnpriced := picoOf(tools, prices)
	whole, fraction, _ := strings.Cut(factor, ".")
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(len(fraction))), nil)
	sum := plus(times(pico, bigOf(whole+fraction)), times(ofTools, unit))
	return ceil(sum, times(big.NewInt(1000), unit)), isUnpriced || areUnpriced
}

// meters: the first of them that has a price is applied.
type pricedLine struct {
	units  int64
	meters string
}

func picoOf(lines []pricedLine, prices object) (*big.Int, bool) {
	pico, isUnpriced := new(big.Int), false
	for _, line := range lines {
		price := any(nil)
		for _, meter := range strings.Fields(line.meters) {
			if price == nil {
				price = prices[meter]
			}
		}
		if price != nil {
			pico.Add(pico, times(big.NewInt(line.units), nano(price)))
		} else if line.units > 0 {
			isUnpriced = true
		}
	}
	return pico, isUnpriced
}

// ranNoModel: without an answer, or with one that was kept, nothing was used.
func ranNoModel(p object) bool { return p["outcome"] == "failed" || p["outcome"] == "cached" }

func checkCost(p object) {
	kind, outcome, stated := p["kind"], p["outcome"], nano(p["cost_nano_usd"])
	usage := p["usage"].(object)
	if ranNoModel(p) {
		used := int64(0)
		for _, units := range usage {
			used |= units.(int64)
		}
		if stated.Sign() != 0 || used != 0 {
			code := map[any]string{"failed": "charged_failure", "cached": "charged_cached"}[outcome]
			refuse(code, "the outcome is %s, yet usage or cost is not zero", outcome)
		}
	}
	if tier, there := p["price_tier_above_input_tokens"].(int64); there && usage["input_tokens"].(int64) <= tier {
		refuse("tier_mismatch", "the tier was not reached")
	}
	if p["price_factor"] != "1" && (kind == "usage" || kind == "media_job") {
		refuse("factor_mismatch", "a factor, and the receipt is of no batch")
	}
	another := kind == "refund" || kind == "correction"
	if (outcome == "refunded") != (kind == "refund") || (p["refund_of"] != nil) != another || (p["refund_reason"] != nil) != another || p["refund_of"] == p["receipt_id"] {
		refuse("refund_inconsistent", "kind, outcome, refund_of and refund_reason do not go together")
	}
	cost, isUnpriced := costOf(usage, p["unit_prices_pico_usd"].(object), p["price_factor"].(string))
	if waived, there := p["waived_nano_usd"]; there {
		if another {
			refuse("cost_mismatch", "what is given back or corrected cannot be waived")
		}
		stated = new(big.Int).Add(stated, nano(waived))
	}
	switch order := stated.Cmp(cost); {
	case kind == "refund" && order > 0:
		refuse("refund_exceeds_cost", "gives back %s, usage and prices come to %s", stated, cost)
	case kind != "refund" && isUnpriced && order > 0:
		refuse("price_missing", "units were charged that have no price")
	case kind != "refund" && order != 0:
		refuse("cost_mismatch", "the cost is %s, usage and prices come to %s", stated, cost)
	}
}

func quotaUnits(usage object) map[string]*big.Int {
	use := func(name string) *big.Int { found, _ := usage[name].(int64); return big.NewInt(found) }
	units := map[string]*big.Int{"requests": big.NewInt(1), "images": use("images"), "tokens": new(big.Int), "audio_seconds": use("audio_seconds"), "video_seconds": use("video_seconds")}
	if units["images"].Sign() == 0 {
		units["tokens"] = plus(plus(use("input_tokens"), use("output_tokens")), use("input_characters"))
	}
	return units
}

func coveredOf(p object) map[string]*big.Int {
	covered := map[string]*big.Int{}
	for _, meter := range quotaMeters {
		found, _ := p["payment"].(object)["covered"].(object)[meter].(int64)
		covered[meter] = big.NewInt(found)
	}
	return covered
}

func checkPayment(p object) {
	pay, live := p["payment"].(object), p["livemode"].(bool)
	isUncovered := len(pay["covered"].(object)) == 0
	cost, charged := nano(p["cost_nano_usd"]), nano(pay["charged_nano_usd"])
	must := func(holds bool, what string) {
		if !holds {
			refuse("payment_mismatch", "%s", what)
		}
	}
	must((pay["funding"] == "test") == !live, "funding and mode do not go together")
	must(live || (pay["plan"] == nil && charged.Sign() == 0 && isUncovered), "nobody pays in test mode")
	must(charged.Cmp(cost) <= 0, "more was charged than it cost")
	must(!ranNoModel(p) || isUncovered, "a request that ran no model takes nothing of a quota")
	if !live || ranNoModel(p) {
		return
	}
	units, covered := quotaUnits(p["usage"].(object)), coveredOf(p)
	part, whole := big.NewInt(1), big.NewInt(1)
	for _, meter := range quotaMeters {
		must(covered[meter].Cmp(units[meter]) <= 0, "more "+meter+" were covered than used")
		if units[meter].Sign() > 0 && times(covered[meter], whole).Cmp(times(part, units[meter])) < 0 {
			part, whole = covered[meter], units[meter]
		}
	}
	for _, meter := range quotaMeters {
		must(covered[meter].Cmp(ceil(times(units[meter], part), whole)) == 0, "the share of "+meter+" is another")
	}
	if p["kind"] == "refund" || p["kind"] == "correction" {
		return
	}
	due := ceil(times(cost, minus(whole, part)), whole)
	order := charged.Cmp(due)
	_, isLate := p["waived_nano_usd"]
	// Of what was settled late, the charge is rounded up twice.
	isNearly := isLate && charged.Cmp(new(big.Int).Add(due, big.NewInt(1))) <= 0
	must(order == 0 || (order < 0 && p["kind"] == "batch_line") || isNearly, "what was charged is not the cost of what was not covered")
}

func moment(text string) time.Time {
	if !strings.Contains(text, "T") {
		text += "T00:00:00.000Z"
	}
	return timeOf(text)
}

// checkPriceEntry: the price is an entry of the log before the receipt. proven: entries that other receipts of a file have shown.
func checkPriceEntry(p object, price, log any, logged *place, proven map[string]object) {
	named, there := p["price_entry"].(object)
	if !there {
		if nano(p["cost_nano_usd"]).Sign() != 0 {
			refuse("price_undeclared", "no entry of the log has its price")
		}
		return
	}
	index := named["index"].(int64)
	if said, isObject := log.(object); isObject && said["state"] == "logged" && index >= said["index"].(int64) {
		refuse("price_logged_after", "the price came into the log after the receipt")
	}
	name := fmt.Sprint(index, named["digest"])
	if logged != nil {
		name += toHex(logged.root)
	}
	declared := proven[name]
	shown, isShown := price.(object)
	if isShown {
		form := members{"declaration": declaredPrice, "inclusion_path": listOf(base64Hash, 53)}
		read(price, "price", "malformed_declaration", form, nil, false)
		declared = shown["declaration"].(object)
	}
	if declared == nil {
		return
	}
	digest := digestOf(declared)
	if toHex(digest) != named["digest"] || declared["model"] != p["model_served"] || declared["price_version"] != p["price_version"] {
		refuse("price_entry_mismatch", "price is not what price_entry names, or is of another model or version")
	}
	latest := timeOf(p["started_at"]).Add(5 * time.Minute)
	if timeOf(declared["declared_at"]).After(latest) || timeOf(declared["effective_from"]).After(latest) {
		refuse("price_not_in_force", "the price was declared, or in force, later")
	}
	checkTerms(p, declared)
	if logged == nil {
		return
	}
	if _, known := proven[name]; isShown && !known {
		var path [][]byte
		for _, sibling := range shown["inclusion_path"].([]any) {
			path = append(path, fromStdB64(sibling.(string), 32))
		}
		if !isIncluded(index, logged.size, hash("\x00", string(digest)), logged.root, path) {
			refuse("price_not_in_log", "price.inclusion_path does not lead to the root of the checkpoint")
		}
	}
	proven[name] = declared
}

func checkPrices(p, published object) {
	versions, _ := published[p["model_served"].(string)].(object)
	price, there := versions[p["price_version"].(string)].(object)
	if !there {
		isFree := nano(p["cost_nano_usd"]).Sign() == 0
		for _, one := range p["unit_prices_pico_usd"].(object) {
			isFree = isFree && nano(one).Sign() == 0
		}
		if !isFree {
			refuse("price_unpublished", "no published price of this model in this version")
		}
		return
	}
	if from, dated := price["effective_from"].(string); dated {
		var begun []time.Time
		for _, version := range versions {
			if text, dated := version.(object)["effective_from"].(string); dated {
				begun = append(begun, moment(text))
			}
		}
		sort.Slice(begun, func(a, b int) bool { return begun[a].Before(begun[b]) })
		inForce := begun[0]
		for _, one := range begun {
			if !one.After(timeOf(p["started_at"])) {
				inForce = one
			}
		}
		if !moment(from).Equal(inForce) {
			refuse("price_not_in_force", "another version was in force when the request began")
		}
	}
	if entry, there := price["entry"].(object); there {
		if named, _ := p["price_entry"].(object); named["digest"] != entry["digest"] {
			refuse("price_entry_mismatch", "the published price is another entry of the log")
		}
	}
	checkTerms(p, price)
}

// checkTerms: tier, factor and unit prices are those of a price.
func checkTerms(p, price object) {
	input := p["usage"].(object)["input_tokens"].(int64)
	tier, threshold := object(nil), any(nil)
	tiers, _ := price["tiers"].([]any)
	for _, one := range tiers {
		above := one.(object)["above_input_tokens"].(int64)
		if input > above && (threshold == nil || above > threshold.(int64)) {
			tier, threshold = one.(object), above
		}
	}
	if p["price_tier_above_input_tokens"] != threshold {
		refuse("tier_mismatch", "another tier is published")
	}
	batch, batched := price["batch_factor"]
	if !batched {
		batch = "1"
	}
	factor, kind := p["price_factor"], p["kind"]
	isBatch, isPlain := factor == batch, factor == "1"
	if !(kind == "batch_line" && isBatch) && !(kind != "batch_line" && isPlain) && !((kind == "refund" || kind == "correction") && isBatch) {
		refuse("factor_mismatch", "another factor is published")
	}
	if tier == nil {
		tier = price
	}
	for _, meter := range priceMeters {
		if p["unit_prices_pico_usd"].(object)[meter] != tier["unit_prices_pico_usd"].(object)[meter] {
			refuse("price_mismatch", "the price of %s is not the published one", meter)
		}
	}
}

// The caller's signature (RFC 9421, RFC 9530).

const (
	bare       = `(?:"(?:[\x20-\x21\x23-\x5b\x5d-\x7e]|\\["\\])*"|-?[0-9]{1,15}|:[A-Za-z0-9+/]*={0,2}:|\?[01]|[A-Za-z*][A-Za-z0-9!#$%&'*+.^_` + "`" + `|~:/-]*)`
	parameters = `(?:; *[a-z*][a-z0-9_.*-]*(?:=` + bare + `)?)*`
)

var (
	innerList    = regexp.MustCompile(`^ *\(( *(?:` + bare + parameters + `(?: +` + bare + parameters + `)*)? *)\)(` + parameters + `) *$`)
	oneItem      = regexp.MustCompile(`(` + bare + `)(` + parameters + `)`)
	oneParameter = regexp.MustCompile(`; *([a-z*][a-z0-9_.*-]*)(?:=(` + bare + `))?`)
	plainName    = regexp.MustCompile("^\"@?[a-z0-9!#$%&'*+.^_`|~-]+\"$")
	sha256Member = regexp.MustCompile(`(?:^|, *)sha-256=:([A-Za-z0-9+/=]*):`)
	integerText  = regexp.MustCompile(`^-?[0-9]+$`)
)

func checkClientSignature(p object, given map[string]string) {
	claimed, there := p["client_signature"].(object)
	if !there {
		return
	}
	bad := func(holds bool, what string) {
		if !holds {
			refuse("bad_client_signature", "%s", what)
		}
	}
	list := innerList.FindStringSubmatch(claimed["signature_input"].(string))
	bad(list != nil, "signature_input is no list of components with parameters")
	var names []string
	for _, item := range oneItem.FindAllStringSubmatch(list[1], -1) {
		bad(plainName.MatchString(item[1]) && item[2] == "" && !contains(names, strings.Trim(item[1], `"`)), "a covered component is no plain name, or there twice")
		names = append(names, strings.Trim(item[1], `"`))
	}
	written, known := "", map[string]bool{}
	for _, one := range oneParameter.FindAllStringSubmatch(list[2], -1) {
		name, value := one[1], one[2]
		bad(!known[name], "a parameter is there twice")
		known[name] = true
		switch name {
		case "alg":
			bad(value == `"ed25519"`, "alg is not ed25519")
		case "nonce", "keyid":
			bad(strings.HasPrefix(value, `"`), name+" is no string")
		case "created", "expires":
			bad(integerText.MatchString(value), name+" is no integer")
		}
		if written += ";" + name; value != "" && value != "?1" {
			written += "=" + value
		}
	}
	bad(contains(names, "content-digest"), "the body is not covered")
	digests := sha256Member.FindAllStringSubmatch(strings.Trim(claimed["content_digest"].(string), " "), -1)
	bad(len(digests) == 1, "content_digest has no sha-256")
	digest := fromStdB64(digests[0][1], 32)
	bad(digest != nil, "content_digest has no sha-256 of 32 bytes")
	if toHex(digest) != p["request_sha256"] {
		refuse("client_signature_mismatch", "content_digest is not request_sha256")
	}
	key := fromB64url(claimed["public_key"].(string), 32)
	bad(!isWeak(key), "a key that not only its owner can sign for")
	values := map[string]string{"@method": "POST", "@path": p["endpoint"].(string), "content-digest": claimed["content_digest"].(string)}
	base := ""
	for _, name := range names {
		value, stated := values[name]
		if !stated {
			if value, stated = given[name]; !stated {
				return
			}
		}
		base += `"` + name + `": ` + value + "\n"
	}
	quotedNames := make([]string, len(names))
	for at, name := range names {
		quotedNames[at] = `"` + name + `"`
	}
	base += `"@signature-params": (` + strings.Join(quotedNames, " ") + ")" + written
	bad(holds(key, base, fromB64url(claimed["signature"].(string), 64)), "signature is not one of this request")
}
