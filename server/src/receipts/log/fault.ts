/** What is wrong, and the record that says that somebody has seen it. */
export interface Fault {
  readonly fault: string;
  readonly seen: string;
}
