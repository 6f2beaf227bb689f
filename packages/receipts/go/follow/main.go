// Follows a log with torchwood, a client of tlog-tiles that knows nothing of ours: its signed state, its tiles and its entries.
// Writes the name, the size and the number of entries that it has seen.
package main

import (
	"context"
	"fmt"
	"os"

	"filippo.io/torchwood"
	"golang.org/x/mod/sumdb/note"
)

func follow(url, key string) error {
	verifier, err := note.NewVerifier(key)
	if err != nil {
		return err
	}
	fetcher, err := torchwood.NewTileFetcher(url)
	if err != nil {
		return err
	}
	client, err := torchwood.NewClient(fetcher)
	if err != nil {
		return err
	}
	ctx := context.Background()
	signed, err := fetcher.ReadEndpoint(ctx, "checkpoint")
	if err != nil {
		return err
	}
	policy := torchwood.ThresholdPolicy(2, torchwood.OriginPolicy(verifier.Name()), torchwood.SingleVerifierPolicy(verifier))
	checkpoint, _, err := torchwood.VerifyCheckpoint(signed, policy)
	if err != nil {
		return err
	}
	entries := 0
	for _, entry := range client.AllEntries(ctx, checkpoint.Tree, 0) {
		if len(entry) == 0 {
			return fmt.Errorf("entry %d is empty", entries)
		}
		entries++
	}
	if client.Err() != nil {
		return client.Err()
	}
	fmt.Println(checkpoint.Origin, checkpoint.N, entries)
	return nil
}

func main() {
	if err := follow(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
