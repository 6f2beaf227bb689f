import { NotFoundError, TallygateError } from '@tallygate/sdk';
import { QueryClient } from '@tanstack/react-query';

const STALE_MS = 5_000;

/** Refusals are answers: they are shown, not repeated. */
export const queryClient = new QueryClient({
  defaultOptions: { queries: { staleTime: STALE_MS, retry: (count, error) => !(error instanceof TallygateError) && count < 2 } },
});

const SETTLED_AFTER_TRIES = 10;

/** For what is written a moment after an answer: a trace or a receipt that was followed at once is not there yet. */
export const untilSettled = {
  retry: (count: number, error: Error): boolean => error instanceof NotFoundError && count < SETTLED_AFTER_TRIES,
  retryDelay: 500,
};

/** What a failure says to the person: what is wrong and what to do, by the service's own words. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
