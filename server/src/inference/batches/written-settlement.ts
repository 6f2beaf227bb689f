/** What settles a line, as JSON. */
export interface WrittenSettlement {
  readonly cost: string;
  readonly units: Readonly<Record<string, string>>;
  readonly record: string;
}
