/** A variable of the process environment; `undefined` where there is no process (browsers, edge runtimes). */
export function environmentVariable(name: string): string | undefined {
  if (typeof process === 'undefined') return undefined;
  return process.env?.[name]?.trim() || undefined;
}
