interface Refusable {
  readonly status: number;
}

/** Also where a starved machine keeps the database from answering for seconds: nothing is spent then. */
const isRefusedForNow = ({ status }: Refusable) => status === 429 || status === 503;

export interface Made<Call, Answer> {
  readonly call: Call;
  readonly answered: Answer;
}

/** All calls at once; those with a retryable error are repeated together, until none is left. @returns every answer, with its call */
export async function storm<Call, Answer extends Refusable>(
  calls: readonly Call[],
  make: (call: Call) => Promise<Answer>,
): Promise<Made<Call, Answer>[]> {
  const all: Made<Call, Answer>[] = [];
  let waiting = calls;
  while (waiting.length > 0) {
    const made = await Promise.all(waiting.map(async (call) => ({ call, answered: await make(call) })));
    all.push(...made);
    waiting = made.filter(({ answered }) => isRefusedForNow(answered)).map(({ call }) => call);
  }
  return all;
}
