import { InvalidArgumentError } from 'commander';

export type Variables = Readonly<Record<string, string>>;

/** A repeatable option: `--var link=https://example.com`. */
export function variable(text: string, before: Variables = {}): Variables {
  const [, name, value] = /^([a-z][a-z0-9_]*)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new InvalidArgumentError('Expected name=value.');
  return { ...before, [name]: value };
}
