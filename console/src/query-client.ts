import { NotFoundError, TallygateError } from '@tallygate/sdk';
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { connection } from './connection.ts';

const STALE_MS = 5_000;

const heard = { onSuccess: connection.answered, onError: connection.failed };

/** Refusals are answers: they are shown, not repeated. */
export const queryClient = new QueryClient({
  queryCache: new QueryCache(heard),
  mutationCache: new MutationCache(heard),
  defaultOptions: {
    queries: { staleTime: STALE_MS, networkMode: 'always', retry: (count, error) => !(error instanceof TallygateError) && count < 2 },
    mutations: { networkMode: 'always' },
  },
});

const SETTLED_AFTER_TRIES = 10;

/** For what is written a moment after an answer: a trace or a receipt that was followed at once is not there yet. */
export const untilSettled = {
  retry: (count: number, error: Error): boolean => error instanceof NotFoundError && count < SETTLED_AFTER_TRIES,
  retryDelay: 500,
};

/** What a failure says to the person: what is wrong and what to do, by the service's own words. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
