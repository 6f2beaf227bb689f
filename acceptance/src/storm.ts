import type { Answered } from './chat.ts';

/** Also where a starved machine keeps the database from answering for seconds: nothing is spent then. */
const isRefusedForNow = ({ status }: Answered) => status === 429 || status === 503;

export interface Made<Call> {
  readonly call: Call;
  readonly answered: Answered;
}

/** All calls at once; those with a retryable error are repeated together, until none is left. @returns every answer, with its call */
export async function storm<Call>(calls: readonly Call[], make: (call: Call) => Promise<Answered>): Promise<Made<Call>[]> {
  const all: Made<Call>[] = [];
  let waiting = calls;
  while (waiting.length > 0) {
    const made = await Promise.all(waiting.map(async (call) => ({ call, answered: await make(call) })));
    all.push(...made);
    waiting = made.filter(({ answered }) => isRefusedForNow(answered)).map(({ call }) => call);
  }
  return all;
}
