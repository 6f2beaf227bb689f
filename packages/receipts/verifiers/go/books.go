package main

import (
	"encoding/hex"
	"math/big"
	"sort"
	"strings"
)

func fromHex(text string) []byte { data, _ := hex.DecodeString(text); return data }

func receiptDigest(payload object) []byte { return hash("tallygate-receipt/v1\n", canonical(payload)) }
func invoiceDigest(payload object) []byte { return hash("tallygate-invoice/v1\n", canonical(payload)) }

func saltedHash(kind, nonce, name string) string {
	return toHex(hash("tallygate-"+kind+"/v1\n", nonce, "\n", name))
}

func accountHash(nonce, accountID string) string { return saltedHash("account", nonce, accountID) }

// isFor tells whether a receipt is of that project, for that end user, and has these tags.
func isFor(payload object, project, endUser string, tags []string) bool {
	nonce := payload["nonce"].(string)
	for _, tag := range tags {
		if !contains(texts(payload["tag_hashes"]), saltedHash("tag", nonce, tag)) {
			return false
		}
	}
	return saltedHash("project", nonce, project) == payload["project_hash"] && saltedHash("end-user", nonce, endUser) == payload["end_user_hash"]
}

// Options of a reader: published prices by model and version, verifier keys of witnesses, the account.
type Options struct {
	Prices    object
	Witnesses []string
	AccountID string
}

type verified struct {
	payload object
	logged  *place
}

// verifyReceipt refuses what is not valid. document: as readJSON reads it.
func verifyReceipt(document, keys any, options Options, proven map[string]object) verified {
	readForm(document, "receipt", "tallygate-receipt/v1", payloadForm, kinds)
	receipt := document.(object)
	p := receipt["payload"].(object)
	if receipt["id"] != p["receipt_id"] {
		refuse("id_mismatch", "id is not payload.receipt_id")
	}
	digest := receiptDigest(p)
	if receipt["digest"] != toHex(digest) {
		refuse("bad_digest", "digest is not that of the payload")
	}
	completed := p["completed_at"].(string)
	checkJWS(receipt["jws"].(string), p, completed, keys, "tallygate-receipt")
	if completed < p["started_at"].(string) {
		refuse("completed_before_started", "it ended before it began")
	}
	checkClientSignature(p, nil)
	checkCost(p)
	checkPayment(p)
	if options.Prices != nil {
		checkPrices(p, options.Prices)
	}
	logged := checkLog(digest, completed, receipt["log"], keys, options.Witnesses)
	checkPriceEntry(p, receipt["price"], receipt["log"], logged, proven)
	checkAnchor(p, receipt["anchor"], logged)
	return verified{p, logged}
}

type request struct{ settled, corrected, refunded object }

// books are the receipts of a month, put together by request.
type books struct {
	ids      map[string]bool
	numbers  map[int64]bool
	requests map[string]*request
}

func newBooks() *books {
	return &books{map[string]bool{}, map[int64]bool{}, map[string]*request{}}
}

// enter says why there must not be another like it: then it does not count.
func (b *books) enter(p object) string {
	id, number := p["receipt_id"].(string), p["account_sequence"].(int64)
	if b.ids[id] {
		return "repeated_receipt"
	}
	b.ids[id] = true
	if b.numbers[number] {
		return "repeated_number"
	}
	b.numbers[number] = true
	name := p["request_id"].(string)
	known := b.requests[name]
	if known == nil {
		known = &request{}
		b.requests[name] = known
	}
	part, twice := &known.settled, "billed_twice"
	switch {
	case p["kind"] == "correction":
		part, twice = &known.corrected, "corrected_twice"
	case p["kind"] == "refund":
		part, twice = &known.refunded, "refunded_twice"
	case p["outcome"] == "failed":
		return ""
	}
	if *part != nil {
		return twice
	}
	*part = p
	return ""
}

func costIn(p object) *big.Int    { return nano(p["cost_nano_usd"]) }
func chargedIn(p object) *big.Int { return nano(p["payment"].(object)["charged_nano_usd"]) }
func fundingIn(p object) any      { return p["payment"].(object)["funding"] }

// close says how much was billed, and what is wrong with refunds and corrections.
func (b *books) close() (*big.Int, []string) {
	billed, faults, highest := new(big.Int), []string{}, int64(0)
	for number := range b.numbers {
		highest = max(highest, number)
	}
	if highest > int64(len(b.numbers)) {
		faults = append(faults, "missing_receipts")
	}
	for _, one := range b.requests {
		found := []string{}
		replaces := one.corrected != nil && one.settled != nil && one.corrected["refund_of"] == one.settled["receipt_id"]
		stands := one.settled
		if replaces {
			stands = one.corrected
		}
		if one.corrected != nil && !replaces {
			found = append(found, "refund_of_nothing")
		} else if replaces && !isSharedAsCorrected(one.settled, one.corrected) {
			found = append(found, "share_mismatch")
		}
		if one.refunded != nil {
			of := one.refunded["refund_of"]
			isCharged := one.settled != nil && (of == one.settled["receipt_id"] || (one.corrected != nil && of == one.corrected["receipt_id"]))
			switch {
			case !isCharged:
				found = append(found, "refund_of_nothing")
			case costIn(one.refunded).Cmp(costIn(stands)) > 0:
				found = append(found, "refund_exceeds_receipt")
			case !isSharedAsRefunded(stands, one.refunded):
				found = append(found, "share_mismatch")
			}
		}
		if stands != nil {
			billed.Add(billed, costIn(stands))
		}
		if one.refunded != nil && len(found) == 0 {
			billed.Sub(billed, costIn(one.refunded))
		}
		faults = append(faults, found...)
	}
	return billed, faults
}

func isSharedAsCorrected(settled, corrected object) bool {
	funding, cost := fundingIn(settled), costIn(settled)
	switch {
	case fundingIn(corrected) != funding:
		return false
	case funding == "test" || funding == "none":
		return chargedIn(corrected).Sign() == 0
	case cost.Sign() > 0:
		return chargedIn(corrected).Cmp(new(big.Int).Div(times(costIn(corrected), chargedIn(settled)), cost)) == 0
	case len(settled["payment"].(object)["covered"].(object)) > 0:
		return chargedIn(corrected).Sign() == 0
	default:
		return chargedIn(corrected).Cmp(costIn(corrected)) == 0
	}
}

func isSharedAsRefunded(paid, refunded object) bool {
	isAll := costIn(refunded).Cmp(costIn(paid)) == 0
	isSame := canonical(refunded["payment"].(object)["covered"]) == canonical(paid["payment"].(object)["covered"])
	if fundingIn(refunded) != fundingIn(paid) || (isAll && !isSame) {
		return false
	}
	share := new(big.Int)
	if costIn(paid).Sign() > 0 {
		share = ceil(times(chargedIn(paid), costIn(refunded)), costIn(paid))
	}
	return chargedIn(refunded).Cmp(share) == 0
}

// month has the figures of a month on an invoice.
func (b *books) month(first, last int64, live bool) (int64, map[string]string, map[string]*big.Int) {
	within := func(p object) bool {
		return p != nil && p["account_sequence"].(int64) >= first && p["account_sequence"].(int64) <= last
	}
	sums, covered := map[string]*big.Int{}, map[string]*big.Int{}
	for _, name := range strings.Fields("corrections refunds used corrected refunded from_balance by_invoice") {
		sums[name] = new(big.Int)
	}
	for _, meter := range quotaMeters {
		covered[meter] = new(big.Int)
	}
	add := func(name string, value *big.Int) { sums[name].Add(sums[name], value) }
	pay := func(p object, sign int64) {
		payer := "from_balance"
		if fundingIn(p) == "invoice" {
			payer = "by_invoice"
		}
		add(payer, times(big.NewInt(sign), chargedIn(p)))
		for meter, units := range coveredOf(p) {
			covered[meter].Add(covered[meter], times(big.NewInt(sign), units))
		}
	}
	for _, one := range b.requests {
		if within(one.settled) {
			add("used", costIn(one.settled))
			pay(one.settled, 1)
		}
		if within(one.corrected) {
			add("corrections", big.NewInt(1))
			add("corrected", costIn(one.corrected))
			pay(one.corrected, 1)
			if one.settled != nil {
				add("corrected", new(big.Int).Neg(costIn(one.settled)))
				pay(one.settled, -1)
			}
		}
		if within(one.refunded) {
			add("refunds", big.NewInt(1))
			add("refunded", costIn(one.refunded))
			pay(one.refunded, -1)
		}
	}
	there := int64(0)
	for number := range b.numbers {
		if number >= first && number <= last {
			there++
		}
	}
	sums["cost"] = minus(plus(sums["used"], sums["corrected"]), sums["refunded"])
	sums["covered"] = new(big.Int)
	if live {
		sums["covered"] = minus(minus(sums["cost"], sums["from_balance"]), sums["by_invoice"])
	}
	figures := map[string]string{}
	for name, value := range sums {
		figures[name+"_nano_usd"] = value.String()
	}
	for _, name := range []string{"corrections", "refunds"} {
		delete(figures, name+"_nano_usd")
		figures[name] = sums[name].String()
	}
	figures["charges"] = minus(minus(big.NewInt(there), sums["corrections"]), sums["refunds"]).String()
	return there, figures, covered
}

type exported struct {
	month    string
	livemode bool
	valid    int
	billed   *big.Int
	codes    []string
	held     []verified
}

func verifyExport(lines []string, keys any, options Options, b *books) exported {
	var full []string
	for _, line := range lines {
		if line != "" {
			full = append(full, line)
		}
	}
	parsed := func(line string) (value any) { attempt(func() { value = readJSON(line) }); return value }
	var header object
	refused := attempt(func() {
		demand(len(full) > 0, "the file", "an export", "malformed_export")
		value := parsed(full[0])
		read(value, "header", "malformed_export", members{"object": oneOf("receipt_export"), "version": oneOf("tallygate-export/v1"), "month": monthName, "livemode": isBoolean, "checkpoint": nullable(isText)}, nil, false)
		header = value.(object)
	})
	if refused != nil {
		return exported{billed: new(big.Int), codes: []string{refused.Code}}
	}
	found := exported{month: header["month"].(string), livemode: header["livemode"].(bool)}
	var end object
	total, withProof, proven := int64(0), int64(0), map[string]object{}
	for _, line := range full[1:] {
		if end != nil {
			found.codes = append(found.codes, "incomplete_export")
			continue
		}
		value, _ := parsed(line).(object)
		_, counts := value["receipts"]
		_, proofs := value["logged"]
		if value["object"] == "receipt_export.end" && counts && proofs {
			end = value
			continue
		}
		total++
		log, _ := value["log"].(object)
		hasProof := log["state"] == "logged"
		if hasProof {
			withProof++
		}
		refused := attempt(func() {
			receipt := verifyReceipt(readJSON(line), keys, options, proven)
			p := receipt.payload
			isOurs := options.AccountID == "" || accountHash(p["nonce"].(string), options.AccountID) == p["account_hash"]
			if !strings.HasPrefix(p["started_at"].(string), found.month+"-") || p["livemode"] != found.livemode || !isOurs {
				refuse("foreign_receipt", "of another month, mode or account")
			}
			if hasProof && log["checkpoint"] != header["checkpoint"] {
				refuse("other_checkpoint", "proven against another state of the log")
			}
			if fault := b.enter(p); fault != "" {
				refuse(fault, "%s", p["receipt_id"])
			}
			found.held = append(found.held, receipt)
		})
		if refused != nil {
			found.codes = append(found.codes, refused.Code)
		}
	}
	if end == nil || end["receipts"] != total || end["logged"] != withProof {
		found.codes = append(found.codes, "incomplete_export")
	}
	billed, faults := b.close()
	found.billed, found.codes, found.valid = billed, append(found.codes, faults...), len(found.held)
	return found
}

func verifyInvoice(document, keys any, options Options) verified {
	readForm(document, "invoice", "tallygate-invoice/v1", invoiceForm, nil)
	invoice := document.(object)
	p := invoice["payload"].(object)
	if invoice["id"] != p["invoice_id"] {
		refuse("id_mismatch", "id is not payload.invoice_id")
	}
	digest := invoiceDigest(p)
	if invoice["digest"] != toHex(digest) {
		refuse("bad_digest", "digest is not that of the payload")
	}
	issued := p["issued_at"].(string)
	checkJWS(invoice["jws"].(string), p, issued, keys, "tallygate-invoice")
	checkInvoiceSums(p)
	if options.AccountID != "" && accountHash(p["nonce"].(string), options.AccountID) != p["account_hash"] {
		refuse("foreign_invoice", "the invoice is of another account")
	}
	return verified{p, checkLog(digest, issued, invoice["log"], keys, options.Witnesses)}
}

func checkInvoiceSums(p object) {
	must := func(holds bool, what string) {
		if !holds {
			refuse("invoice_inconsistent", "%s", what)
		}
	}
	months, live := p["months"].([]any), p["livemode"].(bool)
	must(len(months) > 0 && months[0].(object)["month"] == p["month"] && months[0].(object)["first_number"] == int64(1), "its own month comes first, from number 1 on")
	before, balance, owed := "", new(big.Int), new(big.Int)
	for at, item := range months {
		one := item.(object)
		name := one["month"].(string)
		must(at == 0 || (name < p["month"].(string) && name > before), "then earlier months, oldest first")
		if at > 0 {
			before = name
		}
		number := func(name string) int64 { return one[name].(int64) }
		value := func(name string) *big.Int { return nano(one[name+"_nano_usd"]) }
		must(number("last_number")-number("first_number")+1 == number("charges")+number("corrections")+number("refunds"), "numbers and counts differ")
		cost := minus(plus(value("used"), value("corrected")), value("refunded"))
		must(value("cost").Cmp(cost) == 0, "the cost is another")
		if !live {
			cost = new(big.Int)
		}
		must(plus(plus(value("covered"), value("from_balance")), value("by_invoice")).Cmp(cost) == 0, "what was covered and paid is not the cost")
		balance.Add(balance, value("from_balance"))
		owed.Add(owed, value("by_invoice"))
	}
	plan := ""
	for _, item := range p["plans"].([]any) {
		must(item.(object)["plan"].(string) > plan, "plans are not sorted, each once")
		plan = item.(object)["plan"].(string)
	}
	must((p["sequence"] == int64(1)) == (p["previous"] == nil), "the first invoice has none before it, every other has one")
	payable, due := plus(owed, nano(p["carried_before_nano_usd"])), new(big.Int)
	if payable.Sign() > 0 {
		due = minus(payable, new(big.Int).Mod(payable, big.NewInt(10_000_000)))
	}
	for name, value := range map[string]*big.Int{"from_balance": balance, "by_invoice": owed, "total": plus(balance, owed), "due": due, "carried": minus(payable, due)} {
		must(nano(p[name+"_nano_usd"]).Cmp(value) == 0, name+"_nano_usd is not "+value.String())
	}
}

// verifyBill says what contradicts between an invoice and exports of its months, and of which months there is none.
func verifyBill(invoice verified, exports [][]string, keys any, options Options) (faults, unchecked []string) {
	p := invoice.payload
	seen, plans := map[string]bool{}, map[string]bool{}
	for _, lines := range exports {
		b := newBooks()
		found := verifyExport(lines, keys, options, b)
		var month object
		for _, one := range p["months"].([]any) {
			if one.(object)["month"] == found.month && found.livemode == p["livemode"] && !seen[found.month] {
				month = one.(object)
			}
		}
		if month == nil {
			faults = append(faults, "foreign_export")
			continue
		}
		seen[found.month] = true
		if len(found.codes) > 0 {
			faults = append(faults, "export_not_in_order")
		}
		first, last := month["first_number"].(int64), month["last_number"].(int64)
		there, figures, covered := b.month(first, last, found.livemode)
		if there < last-first+1 {
			faults = append(faults, "missing_receipts")
		}
		for name, value := range figures {
			stated, isText := month[name].(string)
			if count, isCount := month[name].(int64); isCount {
				stated, isText = big.NewInt(count).String(), true
			}
			if !isText || stated != value {
				faults = append(faults, "invoice_mismatch")
			}
		}
		for meter, units := range covered {
			stated, _ := month["covered"].(object)[meter].(int64)
			if units.Cmp(big.NewInt(stated)) != 0 {
				faults = append(faults, "quota_mismatch")
			}
		}
		for _, receipt := range found.held {
			number := receipt.payload["account_sequence"].(int64)
			if number < first || number > last {
				continue
			}
			if plan, named := receipt.payload["payment"].(object)["plan"].(string); named && found.month == p["month"] {
				plans[plan] = true
			}
			if invoice.logged != nil && receipt.logged != nil && receipt.logged.index >= invoice.logged.index {
				faults = append(faults, "receipt_after_invoice")
			}
		}
	}
	stated := map[string]bool{}
	for _, item := range p["plans"].([]any) {
		stated[item.(object)["plan"].(string)] = true
	}
	if seen[p["month"].(string)] && strings.Join(sorted(stated), " ") != strings.Join(sorted(plans), " ") {
		faults = append(faults, "plan_mismatch")
	}
	for _, item := range p["months"].([]any) {
		one := item.(object)
		if name := one["month"].(string); one["last_number"].(int64) >= one["first_number"].(int64) && !seen[name] {
			unchecked = append(unchecked, name)
		}
	}
	return faults, unchecked
}

func sorted(set map[string]bool) []string {
	found := []string{}
	for name := range set {
		found = append(found, name)
	}
	sort.Strings(found)
	return found
}
