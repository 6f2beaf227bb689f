import type { SandboxFault } from './faults.ts';

/** The usage as it is stated: not at all, or with more than was held, where that fault was asked for. */
export function billed<U>(usage: U, fault: SandboxFault | undefined, overrun: (usage: U) => U): U | undefined {
  if (fault?.name === 'no-usage') return undefined;
  return fault?.name === 'overrun' ? overrun(usage) : usage;
}
