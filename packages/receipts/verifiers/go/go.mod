module tallygate.dev/receipts/verifier

go 1.22
