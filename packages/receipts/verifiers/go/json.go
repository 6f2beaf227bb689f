package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Refused says why something is not valid: a code of the specification, and a sentence.
type Refused struct{ Code, Reason string }

func (r Refused) Error() string { return r.Code + ": " + r.Reason }

func refuse(code, reason string, args ...any) { panic(Refused{code, fmt.Sprintf(reason, args...)}) }

// attempt runs a check; what it refuses is its answer.
func attempt(check func()) (refused *Refused) {
	defer func() {
		if thrown := recover(); thrown != nil {
			known, ok := thrown.(Refused)
			if !ok {
				panic(thrown)
			}
			refused = &known
		}
	}()
	check()
	return nil
}

type object = map[string]any

const (
	most  = 1<<53 - 1
	depth = 32
)

// readJSON reads what two readers could not understand in two ways: objects, arrays, strings, int64, booleans and nil.
func readJSON(text string) any {
	if !utf8.ValidString(text) {
		refuse("malformed_json", "no UTF-8")
	}
	reader := &jsonReader{text: text}
	value := reader.value(0)
	reader.space()
	if reader.at < len(text) {
		refuse("malformed_json", "text after the end of the value")
	}
	return value
}

type jsonReader struct {
	text string
	at   int
}

var (
	number  = regexp.MustCompile(`^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?`)
	integer = regexp.MustCompile(`^(?:0|-?[1-9][0-9]*)$`)
)

func (r *jsonReader) space() {
	for r.at < len(r.text) && strings.IndexByte(" \t\n\r", r.text[r.at]) >= 0 {
		r.at++
	}
}

func (r *jsonReader) sees(mark byte) bool {
	r.space()
	if r.at < len(r.text) && r.text[r.at] == mark {
		r.at++
		return true
	}
	return false
}

func (r *jsonReader) expect(mark byte) {
	if !r.sees(mark) {
		refuse("malformed_json", "expected %c", mark)
	}
}

func (r *jsonReader) value(level int) any {
	if level > depth {
		refuse("malformed_json", "nested more than %d deep", depth)
	}
	r.space()
	rest := r.text[r.at:]
	switch {
	case strings.HasPrefix(rest, "{"):
		members := object{}
		r.items('{', '}', func() {
			name := r.string()
			if _, twice := members[name]; twice {
				refuse("duplicate_member", "a second member %q", name)
			}
			r.expect(':')
			members[name] = r.value(level + 1)
		})
		return members
	case strings.HasPrefix(rest, "["):
		items := []any{}
		r.items('[', ']', func() { items = append(items, r.value(level+1)) })
		return items
	case strings.HasPrefix(rest, `"`):
		return r.string()
	}
	for word, value := range map[string]any{"true": true, "false": false, "null": nil} {
		if strings.HasPrefix(rest, word) {
			r.at += len(word)
			return value
		}
	}
	digits := number.FindString(rest)
	if digits == "" {
		refuse("malformed_json", "expected a value")
	}
	r.at += len(digits)
	found, err := strconv.ParseInt(digits, 10, 64)
	if !integer.MatchString(digits) || err != nil || found > most || found < -most {
		refuse("bad_number", "%s is not an integer that every reader has", digits)
	}
	return found
}

func (r *jsonReader) items(open, end byte, read func()) {
	r.expect(open)
	if r.sees(end) {
		return
	}
	for more := true; more; more = r.sees(',') {
		r.space()
		read()
	}
	r.expect(end)
}

var surrogate = regexp.MustCompile(`^\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})`)

func (r *jsonReader) string() string {
	start := r.at
	if start >= len(r.text) || r.text[start] != '"' {
		refuse("malformed_json", "expected a string")
	}
	for r.at++; r.at < len(r.text) && r.text[r.at] != '"'; r.at++ {
		if r.text[r.at] == '\\' {
			if strings.HasPrefix(strings.ToLower(r.text[r.at:]), `\ud`) && r.at+4 < len(r.text) && strings.ContainsRune("89abcdefABCDEF", rune(r.text[r.at+3])) {
				if !surrogate.MatchString(r.text[r.at:]) {
					refuse("malformed_json", "a string with a lone surrogate")
				}
				r.at += 10
			}
			r.at++
		}
	}
	if r.at >= len(r.text) {
		refuse("malformed_json", "a string that does not end")
	}
	r.at++
	var text string
	if err := json.Unmarshal([]byte(r.text[start:r.at]), &text); err != nil {
		refuse("malformed_json", "%v", err)
	}
	return text
}

// canonical is RFC 8785, for what readJSON reads.
func canonical(value any) string {
	switch value := value.(type) {
	case object:
		names := make([]string, 0, len(value))
		for name := range value {
			names = append(names, name)
		}
		sort.Slice(names, func(a, b int) bool { return lessUTF16(names[a], names[b]) })
		members := make([]string, len(names))
		for at, name := range names {
			members[at] = canonical(name) + ":" + canonical(value[name])
		}
		return "{" + strings.Join(members, ",") + "}"
	case []any:
		items := make([]string, len(value))
		for at, item := range value {
			items[at] = canonical(item)
		}
		return "[" + strings.Join(items, ",") + "]"
	case string:
		return quoted(value)
	case nil:
		return "null"
	default:
		return fmt.Sprint(value)
	}
}

func quoted(text string) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, letter := range text {
		switch short, isShort := map[rune]string{'"': `\"`, '\\': `\\`, 8: `\b`, 9: `\t`, 10: `\n`, 12: `\f`, 13: `\r`}[letter]; {
		case isShort:
			out.WriteString(short)
		case letter < 0x20:
			fmt.Fprintf(&out, `\u%04x`, letter)
		default:
			out.WriteRune(letter)
		}
	}
	out.WriteByte('"')
	return out.String()
}

func lessUTF16(a, b string) bool {
	first, second := utf16.Encode([]rune(a)), utf16.Encode([]rune(b))
	for at := 0; at < len(first) && at < len(second); at++ {
		if first[at] != second[at] {
			return first[at] < second[at]
		}
	}
	return len(first) < len(second)
}

func hash(parts ...string) []byte {
	sum := sha256.Sum256([]byte(strings.Join(parts, "")))
	return sum[:]
}

func toHex(data []byte) string { return hex.EncodeToString(data) }

func toB64url(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }

// fromB64 is nil for anything but the one spelling of a byte string of that length (any, where it is below 0).
func fromB64(encoding *base64.Encoding, text string, length int) []byte {
	data, err := encoding.Strict().DecodeString(text)
	if err != nil || encoding.EncodeToString(data) != text || (length >= 0 && len(data) != length) {
		return nil
	}
	return append([]byte{}, data...)
}

func fromB64url(text string, length int) []byte { return fromB64(base64.RawURLEncoding, text, length) }
func fromStdB64(text string, length int) []byte { return fromB64(base64.StdEncoding, text, length) }

func equal(a, b []byte) bool { return bytes.Equal(a, b) }
