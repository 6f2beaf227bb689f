package main

import (
	"crypto/ed25519"
	"encoding/binary"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
)

var (
	fieldPrime  = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 255), big.NewInt(19))
	groupOrder  = new(big.Int).Add(new(big.Int).Lsh(big.NewInt(1), 252), bigOf("27742317777372353535851937790883648493"))
	yOfOrder8   = bigOf("55188659117513257062467267217118295137698188065244968500265048394206261417927")
	smallOrderY = []*big.Int{big.NewInt(0), big.NewInt(1), minusOne(fieldPrime), yOfOrder8, new(big.Int).Sub(fieldPrime, yOfOrder8)}
)

func bigOf(text string) *big.Int {
	found, _ := new(big.Int).SetString(text, 10)
	return found
}

func minusOne(value *big.Int) *big.Int { return new(big.Int).Sub(value, big.NewInt(1)) }

func littleEndian(data []byte) *big.Int {
	reversed := make([]byte, len(data))
	for at, one := range data {
		reversed[len(data)-1-at] = one
	}
	return new(big.Int).SetBytes(reversed)
}

// isWeak: a key of small order, or one whose y is not reduced.
func isWeak(key []byte) bool {
	y := littleEndian(key)
	y.SetBit(y, 255, 0)
	for _, small := range smallOrderY {
		if y.Cmp(small) == 0 {
			return true
		}
	}
	return y.Cmp(fieldPrime) >= 0
}

func isMalleated(signature []byte) bool { return littleEndian(signature[32:]).Cmp(groupOrder) >= 0 }

func holds(key []byte, message string, signature []byte) bool {
	return !isWeak(key) && !isMalleated(signature) && ed25519.Verify(key, []byte(message), signature)
}

type publishedKey struct {
	at     string
	member object
}

func entriesOf(keys any, purpose string) (found []publishedKey) {
	set, _ := keys.(object)
	list, ok := set["keys"].([]any)
	demand(ok, "keys", `an object with an array "keys"`, "malformed_keys")
	for index, entry := range list {
		key, _ := entry.(object)
		if key["kty"] == "OKP" && key["crv"] == "Ed25519" && key["purpose"] == purpose {
			found = append(found, publishedKey{"keys[" + strconv.Itoa(index) + "]", key})
		}
	}
	return found
}

func (key publishedKey) check(more members) {
	form := members{"x": b64url(32), "kid": isText, "use": oneOf("sig"), "alg": oneOf("EdDSA"), "not_before": instant, "not_after": nullable(instant)}
	read(key.member, key.at, "malformed_keys", with(form, more), nil, false)
	thumbprint := toB64url(hash(canonical(object{"crv": "Ed25519", "kty": "OKP", "x": key.member["x"]})))
	if thumbprint != key.member["kid"] {
		refuse("kid_mismatch", "%s.kid is not the thumbprint of the key", key.at)
	}
	if isWeak(key.public()) {
		refuse("weak_key", "%s.x is not a key that only its owner can sign for", key.at)
	}
}

func (key publishedKey) public() []byte { return fromB64url(key.member["x"].(string), 32) }

func checkJWS(jws string, payload any, madeAt string, keys any, typ string) {
	parts := strings.Split(jws, ".")
	demand(len(parts) == 3 && parts[1] == "", "jws", "<header>..<signature>", "malformed")
	checkSigned([]string{parts[0], toB64url([]byte(canonical(payload))), parts[2]}, madeAt, keys, signedAs{typ, "receipt", "malformed"})
}

// signedAs says as what something is signed, for which purpose its key is published, and which code another form has.
type signedAs struct{ typ, purpose, code string }

func checkSigned(parts []string, madeAt string, keys any, as signedAs) {
	var header object
	attempt(func() { header, _ = readJSON(string(fromB64url(parts[0], -1))).(object) })
	demand(header != nil, "jws", "begun with a header", as.code)
	if header["alg"] != "EdDSA" {
		refuse("unknown_algorithm", "the header does not have the alg EdDSA")
	}
	kid, ok := header["kid"].(string)
	expected := toB64url([]byte(canonical(object{"alg": "EdDSA", "kid": kid, "typ": as.typ})))
	demand(ok && parts[0] == expected, "jws", "signed as "+as.typ+", with alg, kid and typ alone", as.code)
	signature := fromB64url(parts[2], 64)
	demand(signature != nil, "jws", "64 bytes of signature, base64url", as.code)
	var named []publishedKey
	for _, key := range entriesOf(keys, as.purpose) {
		if key.member["kid"] == kid {
			named = append(named, key)
		}
	}
	if len(named) == 0 {
		refuse("unknown_key", "no %s key has the kid %s", as.purpose, kid)
	}
	demand(len(named) == 1, "kid", "of one key", "malformed_keys")
	key := named[0]
	key.check(nil)
	if !holds(key.public(), parts[0]+"."+parts[1], signature) {
		if isMalleated(signature) {
			refuse("malleable_signature", "S is not below the group order")
		}
		refuse("bad_signature", "jws does not hold")
	}
	if until, retired := key.member["not_after"].(string); retired && madeAt > until {
		refuse("key_retired", "it is of %s, the key was retired at %s", madeAt, until)
	}
}

// The log.

type place struct {
	origin      string
	index, size int64
	root        []byte
}

// isIncluded is RFC 9162, section 2.1.3.2.
func isIncluded(index, size int64, leaf, root []byte, path [][]byte) bool {
	if index >= size {
		return false
	}
	at, last, found := index, size-1, leaf
	for _, sibling := range path {
		if last == 0 {
			return false
		}
		if at%2 == 1 || at == last {
			found = hash("\x01", string(sibling), string(found))
			for at%2 == 0 && at != 0 {
				at, last = at/2, last/2
			}
		} else {
			found = hash("\x01", string(found), string(sibling))
		}
		at, last = at/2, last/2
	}
	return last == 0 && equal(found, root)
}

type noteKey struct {
	name, id, public string
	kind             byte
}

var verifierKey = regexp.MustCompile(`^([^+\s]+)\+([0-9a-f]{8})\+(.+)$`)

func readNoteKey(text string) (noteKey, bool) {
	parts := verifierKey.FindStringSubmatch(text)
	if parts == nil {
		return noteKey{}, false
	}
	data := fromStdB64(parts[3], 33)
	if data == nil || (data[0] != 1 && data[0] != 4) {
		return noteKey{}, false
	}
	id := hash(parts[1], "\n", string(data))[:4]
	return noteKey{parts[1], string(id), string(data[1:]), data[0]}, toHex(id) == parts[2]
}

type noteSignature struct{ name, id, bytes string }

var signatureLine = regexp.MustCompile(`^— ([^+\s]+) (\S+)$`)

func readNote(note string) (body string, signatures []noteSignature, ok bool) {
	at := strings.LastIndex(note, "\n\n")
	if at < 0 || len(note) > 1_000_000 {
		return "", nil, false
	}
	body = note[:at+1]
	lines := strings.Split(note[at+2:], "\n")
	isControl := func(letter rune) bool { return letter != '\n' && unicode.Is(unicode.Cc, letter) }
	if strings.ContainsFunc(body, isControl) || lines[len(lines)-1] != "" || len(lines) < 2 || len(lines) > 101 {
		return "", nil, false
	}
	for _, line := range lines[:len(lines)-1] {
		parts := signatureLine.FindStringSubmatch(line)
		if parts == nil {
			return "", nil, false
		}
		data := fromStdB64(parts[2], -1)
		if len(data) <= 4 {
			return "", nil, false
		}
		signatures = append(signatures, noteSignature{parts[1], string(data[:4]), string(data[4:])})
	}
	return body, signatures, true
}

type signer struct {
	key  noteKey
	time *uint64
}

func signersOf(body string, signatures []noteSignature, known []noteKey) (found []signer) {
next:
	for _, signature := range signatures {
		for _, key := range known {
			if key.name != signature.name || key.id != signature.id {
				continue
			}
			for _, before := range found {
				if before.key == key {
					continue next
				}
			}
			message, proof := body, signature.bytes
			var at *uint64
			if key.kind == 4 && len(proof) > 8 {
				seconds := binary.BigEndian.Uint64([]byte(proof[:8]))
				at, proof = &seconds, proof[8:]
				message = "cosignature/v1\ntime " + strconv.FormatUint(seconds, 10) + "\n" + body
			}
			if len(proof) != 64 || (key.kind == 4 && at == nil) || !holds([]byte(key.public), message, []byte(proof)) {
				refuse("bad_checkpoint_signature", "the signature of %s does not hold", key.name)
			}
			found = append(found, signer{key, at})
			continue next
		}
	}
	return found
}

var checkpoint = regexp.MustCompile(`^([^\n]+)\n(0|[1-9][0-9]{0,15})\n([^\n]*)\n((?:[^\n]+\n)*)$`)

func base64Hash(value any, at, code string) {
	found, ok := value.(string)
	demand(ok && fromStdB64(found, 32) != nil, at, "32 bytes, base64", code)
}

// checkLog says where the entry stands in the log; nil where nothing is shown.
func checkLog(digest []byte, madeAt string, log, keys any, witnesses []string) *place {
	said, isObject := log.(object)
	if log == nil || (isObject && said["state"] == "pending") {
		return nil
	}
	read(log, "log", "malformed_log", members{"state": oneOf("logged"), "index": count(0), "tree_size": count(0), "inclusion_path": listOf(base64Hash, 53), "checkpoint": isText}, nil, false)
	var known []noteKey
	until := map[noteKey]any{}
	for _, key := range entriesOf(keys, "checkpoint") {
		key.check(members{"verifier_key": isText})
		own, ok := readNoteKey(key.member["verifier_key"].(string))
		demand(ok && own.kind == 1 && own.public == string(key.public()), key.at+".verifier_key", "of this key", "malformed_keys")
		known = append(known, own)
		until[own] = key.member["not_after"]
	}
	if len(known) == 0 {
		return nil
	}
	body, signatures, ok := readNote(said["checkpoint"].(string))
	parts := checkpoint.FindStringSubmatch(body)
	demand(ok && parts != nil, "log.checkpoint", "a checkpoint in a signed note", "malformed_log")
	size, _ := strconv.ParseInt(parts[2], 10, 64)
	root := fromStdB64(parts[3], 32)
	demand(root != nil && size <= most, "log.checkpoint", "a checkpoint in a signed note", "malformed_log")
	for _, witness := range witnesses {
		key, ok := readNoteKey(witness)
		demand(ok && key.kind == 4, "witness", "the verifier key of a witness", "malformed_keys")
		known = append(known, key)
	}
	signers := signersOf(body, signatures, known)
	if size != said["tree_size"] {
		refuse("log_size_mismatch", "log.tree_size is %v, the checkpoint is of %d", said["tree_size"], size)
	}
	isSigned, isInTime := false, false
	for _, one := range signers {
		if notAfter, own := until[one.key]; own && one.key.name == parts[1] {
			isSigned = true
			retired, isRetired := notAfter.(string)
			isInTime = isInTime || !isRetired || madeAt <= retired
		}
	}
	if !isSigned {
		refuse("unknown_log_key", "no known key of %s has signed the checkpoint", parts[1])
	}
	if !isInTime {
		refuse("log_key_retired", "every key that signed the checkpoint was retired before the entry was made")
	}
	var path [][]byte
	for _, sibling := range said["inclusion_path"].([]any) {
		path = append(path, fromStdB64(sibling.(string), 32))
	}
	index := said["index"].(int64)
	if !isIncluded(index, size, hash("\x00", string(digest)), root, path) {
		refuse("not_in_log", "log.inclusion_path does not lead to the root of the checkpoint")
	}
	for _, one := range signers {
		if one.time != nil {
			checkSeenAfter(madeAt, time.Unix(int64(min(*one.time, 253402300799)), 0), one.key.name)
		}
	}
	return &place{parts[1], index, size, root}
}

func checkSeenAfter(madeAt string, seen time.Time, by string) {
	if seen.Before(timeOf(madeAt).Add(-5 * time.Minute)) {
		refuse("seen_before_completed", "it is of %s, %s had it at %s", madeAt, by, seen)
	}
}

func checkAnchor(payload object, anchor any, logged *place) {
	said, ok := anchor.(object)
	if !ok || (said["state"] != "submitted" && said["state"] != "included" && said["state"] != "finalized") {
		return
	}
	bytes32 := pattern("0x[0-9a-f]{64}")
	read(anchor, "anchor", "malformed_anchor", members{
		"id": isText, "chain_id": count(0), "contract": pattern("0x[0-9a-fA-F]{40}"), "tree_size": count(0), "root": bytes32,
		"transaction_hash": nullable(bytes32), "block_number": nullable(count(0)), "block_time": nullable(instant), "index": count(0), "path": listOf(bytes32, 53),
	}, nil, false)
	var path [][]byte
	for _, sibling := range said["path"].([]any) {
		path = append(path, fromHex(sibling.(string)[2:]))
	}
	index, size, root := said["index"].(int64), said["tree_size"].(int64), fromHex(said["root"].(string)[2:])
	if !isIncluded(index, size, hash("\x00", string(receiptDigest(payload))), root, path) {
		refuse("not_in_anchor", "anchor.path does not lead to the root that the anchor names")
	}
	if logged != nil && (logged.index != index || (logged.size == size && !equal(logged.root, root))) {
		refuse("anchor_of_another_log", "anchor and log place the receipt differently")
	}
	if at, there := said["block_time"].(string); there {
		checkSeenAfter(payload["completed_at"].(string), timeOf(at), "the block")
	}
}
