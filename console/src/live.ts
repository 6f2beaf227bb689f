import type { LiveFigures } from '@tallygate/sdk';
import { useEffect } from 'react';
import { tallygate } from './client.ts';
import { connection } from './connection.ts';
import { queryClient } from './query-client.ts';

const AGAIN_MS = 1_000;
/** Sums of many requests are asked for less often than they change. */
const SUMS_MS = 3_000;

let areSumsDue = false;

const renew = (...names: readonly string[]): void => {
  for (const name of names) void queryClient.invalidateQueries({ queryKey: [name] });
};

/** Puts what has changed before those who look at it. */
function show({ budgets, runs, requests }: LiveFigures): void {
  if (budgets) {
    queryClient.setQueryData(['budgets'], budgets);
    for (const budget of budgets.items) queryClient.setQueryData(['budget', budget.key_id], budget);
    renew('limit');
  }
  if (runs) renew('runs', 'run');
  if (!requests) return;
  renew('receipts', 'run');
  if (areSumsDue) return;
  areSumsDue = true;
  setTimeout(() => {
    areSumsDue = false;
    renew('usage');
  }, SUMS_MS);
}

/** Until aborted; begun again whenever it ends, but not while nobody looks at the page. */
async function follow(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    if (!document.hidden) {
      try {
        for await (const changed of await tallygate.live.follow({ signal })) {
          show(changed);
          if (document.hidden) break;
        }
      } catch (error) {
        // Refused: each page says so by its own requests.
        if (!signal.aborted) connection.failed(error);
      }
    }
    await new Promise((again) => setTimeout(again, AGAIN_MS));
  }
}

/** What is spent and held, runs and new requests come by themselves. */
export function useLive(): void {
  useEffect(() => {
    const stop = new AbortController();
    void follow(stop.signal);
    return () => stop.abort();
  }, []);
}
