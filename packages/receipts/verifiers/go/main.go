// Verifies receipts, exports, invoices and promises of Tallygate as docs/concepts/receipt-format.md specifies them. `go run . ../../vectors` runs the
// vectors, prints what does not come out as it has to, and exits with 1 then. `go run . keys.json FILE...` verifies a receipt, an export, or
// an invoice with exports, and exits with 3 where something is not valid.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

var wrong []string

func expect(name string, found, expected any) {
	if fmt.Sprint(found) != fmt.Sprint(expected) {
		wrong = append(wrong, fmt.Sprintf("%s: %v, expected %v", name, found, expected))
	}
}

func readFile(path string) object {
	text, err := os.ReadFile(path)
	if err != nil {
		panic(err)
	}
	return readJSON(string(text)).(object)
}

func vectors(folder, kind string, run func(name string, vector object)) {
	paths, _ := filepath.Glob(filepath.Join(folder, kind, "*.json"))
	for _, path := range paths {
		run(kind+"/"+strings.TrimSuffix(filepath.Base(path), ".json"), readFile(path))
	}
	if fmt.Println(len(paths), kind); len(paths) == 0 {
		wrong = append(wrong, "no vectors of "+kind)
	}
}

func texts(list any) (found []string) {
	items, _ := list.([]any)
	for _, item := range items {
		found = append(found, item.(string))
	}
	return found
}

func textOf(vector object) string {
	if text, there := vector["text"].(string); there {
		return text
	}
	return canonical(vector["receipt"])
}

func main() {
	if len(os.Args) > 2 {
		os.Exit(verifyFiles(readFile(os.Args[1]), os.Args[2:]))
	}
	runVectors(os.Args[1])
}

func verifyFiles(keys any, files []string) int {
	var exports [][]string
	var invoice *verified
	var faults []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			panic(err)
		}
		refused := attempt(func() {
			lines := strings.Split(string(text), "\n")
			if strings.Contains(lines[0], `"receipt_export"`) {
				exports = append(exports, lines)
			} else if document, _ := readJSON(string(text)).(object); document["object"] == "invoice" {
				found := verifyInvoice(document, keys, Options{})
				invoice = &found
			} else {
				verifyReceipt(document, keys, Options{}, map[string]object{})
			}
		})
		if refused != nil {
			faults = append(faults, file+": "+refused.Error())
		}
	}
	if invoice != nil {
		found, unchecked := verifyBill(*invoice, exports, keys, Options{})
		faults = append(faults, found...)
		for _, month := range unchecked {
			faults = append(faults, "no export of "+month)
		}
	} else {
		for _, lines := range exports {
			found := verifyExport(lines, keys, Options{}, newBooks())
			fmt.Printf("%s: %d valid, %s nano-USD\n", found.month, found.valid, found.billed)
			faults = append(faults, found.codes...)
		}
	}
	if len(faults) == 0 {
		fmt.Println("valid")
		return 0
	}
	fmt.Println(strings.Join(faults, "\n"))
	return 3
}

func runVectors(folder string) {
	keys := any(readFile(filepath.Join(folder, "keys.json")))
	account := readFile(filepath.Join(folder, "owner.json"))["account_id"].(string)
	outcome := func(vector object) (found string) {
		keys := keys
		if own, there := vector["keys"]; there {
			keys = own
		}
		prices, _ := vector["prices"].(object)
		refused := attempt(func() {
			receipt := verifyReceipt(readJSON(textOf(vector)), keys, Options{Prices: prices, Witnesses: texts(vector["witnesses"])}, map[string]object{})
			found = receipt.payload["cost_nano_usd"].(string)
		})
		if refused != nil {
			return refused.Code
		}
		return found
	}
	vectors(folder, "good", func(name string, vector object) {
		expect(name, outcome(vector), vector["cost_nano_usd"])
		payload := readJSON(textOf(vector)).(object)["payload"].(object)
		expect(name, canonical(payload), vector["canonical_payload"])
		if names, there := vector["names"].(object); there {
			project, endUser, tags := names["project"].(string), names["end_user"].(string), texts(names["tags"])
			expect(name, []any{isFor(payload, project, endUser, tags), isFor(payload, project, "somebody else", tags)}, []any{true, false})
		}
	})
	vectors(folder, "broken", func(name string, vector object) { expect(name, outcome(vector), vector["expected_code"]) })
	vectors(folder, "exports", func(name string, vector object) {
		found := verifyExport(texts(vector["lines"]), keys, Options{}, newBooks())
		sort.Strings(found.codes)
		expect(name, []any{found.valid, found.billed, found.codes}, []any{vector["valid"], vector["billed_nano_usd"], texts(vector["expected_codes"])})
	})
	vectors(folder, "declarations", func(name string, vector object) {
		kept, _ := vector["kept"].(object)
		newest, _ := kept["declaration"].(object)
		var found any
		if refused := attempt(func() { verifyDeclarations(vector["kind"].(string), vector["pages"].([]any), keys, newest) }); refused != nil {
			found = refused.Code
		}
		expect(name, found, vector["expected_code"])
	})
	vectors(folder, "invoices", func(name string, vector object) {
		var faults, unchecked []string
		refused := attempt(func() {
			invoice := verifyInvoice(vector["invoice"], keys, Options{})
			var exports [][]string
			for _, lines := range vector["exports"].([]any) {
				exports = append(exports, texts(lines))
			}
			faults, unchecked = verifyBill(invoice, exports, keys, Options{AccountID: account})
		})
		if refused != nil {
			faults = []string{refused.Code}
		}
		once := map[string]bool{}
		for _, fault := range faults {
			once[fault] = true
		}
		expect(name, []any{sorted(once), unchecked}, []any{texts(vector["expected_codes"]), texts(vector["unchecked"])})
	})
	vectors(folder, "promises", func(name string, vector object) {
		for receipt, state := range vector["states"].(object) {
			beside := readJSON(textOf(readFile(filepath.Join(folder, "good", receipt+".json"))))
			found := ""
			refused := attempt(func() {
				found = verifyPromise(vector["jws"].(string), vector["keys"], vector["now"].(int64), answered{receipt: beside})
			})
			if refused != nil {
				found = refused.Code
			}
			expect(name+" "+receipt, found, state)
		}
	})
	if len(wrong) > 0 {
		fmt.Println(strings.Join(wrong, "\n"))
		os.Exit(1)
	}
}
