package main

import "strconv"

func declarationWith(kind string, more members) shape {
	declared := members{"version": oneOf("tallygate-declaration/v1"), "kind": oneOf(kind), "number": count(1), "previous": nullable(hexHash), "declared_at": instant}
	return exactly(with(declared, more), nil)
}

var keyPurpose = oneOf("receipt", "checkpoint", "promise")

var declarations = map[string]shape{
	"price": declaredPrice,
	"key": declarationWith("key", members{
		"purpose": keyPurpose, "kid": isText, "x": b64url(32), "not_before": instant,
		"signed_by": nullable(exactly(members{"kid": isText, "jws": isText}, nil)),
	}),
	"key_retired": declarationWith("key_retired", members{"purpose": keyPurpose, "kid": isText, "not_after": instant}),
	"policy": declarationWith("policy", members{
		"log": isText, "receipt_version": isText, "logged_within_s": count(0), "witness_policy": nullable(isText),
		"anchors": listOf(exactly(members{"chain_id": count(0), "contract": pattern(`0x[0-9a-f]{40}`)}, nil), most),
	}),
}

func aDeclaration(value any, at, code string) {
	declared, _ := value.(object)
	kind, _ := declared["kind"].(string)
	form, known := declarations[kind]
	demand(known, at, "a declaration", code)
	form(value, at, code)
}

func digestOf(declared object) []byte { return hash("tallygate-declaration/v1\n", canonical(declared)) }

// verifyDeclarations: a list of the declarations of one kind, all pages of it, leaves none out. kept: the newest that was seen before, or nil.
func verifyDeclarations(kind string, pages []any, keys any, kept object) {
	var found []object
	var state string
	var total int64
	for _, page := range pages {
		entry := func(value any, at, code string) {
			read(value, at, code, members{"index": count(0), "declaration": aDeclaration, "inclusion_path": listOf(base64Hash, 53)}, nil, false)
		}
		counts := func(value any, at, code string) {
			read(value, at, code, members{"price": count(0), "key": count(0), "key_retired": count(0), "policy": count(0)}, nil, false)
		}
		read(page, "declarations", "malformed_declaration", members{"checkpoint": isText, "declared": counts, "data": listOf(entry, most)}, nil, false)
		for _, one := range page.(object)["data"].([]any) {
			if one.(object)["declaration"].(object)["kind"] == kind {
				found, state = append(found, one.(object)), page.(object)["checkpoint"].(string)
			}
		}
		total = page.(object)["declared"].(object)[kind].(int64)
	}
	for at, one := range found {
		declared := one["declaration"].(object)
		if declared["number"] != int64(at+1) {
			refuse("declaration_missing", "declaration %d is left out", at+1)
		}
		isNext := at == 0 && declared["previous"] == nil
		if at > 0 {
			before := found[at-1]
			isNext = declared["previous"] == toHex(digestOf(before["declaration"].(object))) && one["index"].(int64) > before["index"].(int64)
		}
		if !isNext {
			refuse("declaration_forked", "declaration %d does not follow the one before it", at+1)
		}
	}
	if int64(len(found)) != total {
		refuse("declaration_missing", "there are %d, %d are listed", total, len(found))
	}
	if len(found) > 0 && !isLogged(found[len(found)-1], state, keys) {
		refuse("declaration_not_in_log", "the newest is not in the log")
	}
	if kept == nil {
		return
	}
	if kept["number"].(int64) > int64(len(found)) {
		refuse("declaration_missing", "the list ends before one that was shown before")
	}
	if now := found[kept["number"].(int64)-1]["declaration"].(object); !equal(digestOf(now), digestOf(kept)) {
		refuse("declaration_forked", "another one was shown before")
	}
}

// isLogged: the declaration is in a state of the log that a key of the set has signed, of no time: the key may have been retired since.
func isLogged(one object, state string, keys any) (holds bool) {
	refused := attempt(func() {
		body, _, _ := readNote(state)
		parts := checkpoint.FindStringSubmatch(body)
		demand(parts != nil, "checkpoint", "a checkpoint", "malformed_log")
		size, _ := strconv.ParseInt(parts[2], 10, 64)
		place := object{"state": "logged", "index": one["index"], "tree_size": size, "inclusion_path": one["inclusion_path"], "checkpoint": state}
		holds = checkLog(digestOf(one["declaration"].(object)), "", place, keys, nil) != nil
	})
	return refused == nil && holds
}
