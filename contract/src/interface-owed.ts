/** Rows of the interface that the contract does not declare yet. A row leaves this list in the change that declares its route. */
export const OWED: readonly string[] = [];
