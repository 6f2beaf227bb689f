// Checks notes, inclusion proofs and consistency proofs with Go's own transparency log, which knows nothing of ours.
// Reads a JSON array of cases from standard input, and writes true or false for each.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type testCase struct {
	Kind    string   // root, inclusion, consistency, note
	Entries []string // root: the log's entries
	Size    int64
	Root    []byte
	Index   int64
	Leaf    []byte
	OldSize int64
	OldRoot []byte
	Path    [][]byte
	Note    string
	Key     string
}

func hashOf(bytes []byte) (hash tlog.Hash) {
	copy(hash[:], bytes)
	return hash
}

func pathOf(path [][]byte) (hashes []tlog.Hash) {
	for _, bytes := range path {
		hashes = append(hashes, hashOf(bytes))
	}
	return hashes
}

func holds(c testCase) bool {
	switch c.Kind {
	case "root":
		var stored []tlog.Hash
		reader := tlog.HashReaderFunc(func(indexes []int64) (hashes []tlog.Hash, err error) {
			for _, index := range indexes {
				hashes = append(hashes, stored[index])
			}
			return hashes, nil
		})
		for index, entry := range c.Entries {
			hashes, err := tlog.StoredHashes(int64(index), []byte(entry), reader)
			if err != nil {
				return false
			}
			stored = append(stored, hashes...)
		}
		root, err := tlog.TreeHash(int64(len(c.Entries)), reader)
		return err == nil && root == hashOf(c.Root)
	case "inclusion":
		return tlog.CheckRecord(pathOf(c.Path), c.Size, hashOf(c.Root), c.Index, hashOf(c.Leaf)) == nil
	case "consistency":
		return tlog.CheckTree(pathOf(c.Path), c.Size, hashOf(c.Root), c.OldSize, hashOf(c.OldRoot)) == nil
	case "note":
		verifier, err := note.NewVerifier(c.Key)
		if err != nil {
			return false
		}
		_, err = note.Open([]byte(c.Note), note.VerifierList(verifier))
		return err == nil
	}
	return false
}

func main() {
	var cases []testCase
	if err := json.NewDecoder(os.Stdin).Decode(&cases); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	answers := make([]bool, len(cases))
	for at, c := range cases {
		answers[at] = holds(c)
	}
	json.NewEncoder(os.Stdout).Encode(answers)
}
