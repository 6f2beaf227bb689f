import { TallygateError } from '@tallygate/sdk';
import { QueryClient } from '@tanstack/react-query';

const STALE_MS = 5_000;

/** Refusals are answers: they are shown, not repeated. */
export const queryClient = new QueryClient({
  defaultOptions: { queries: { staleTime: STALE_MS, retry: (count, error) => !(error instanceof TallygateError) && count < 2 } },
});

/** What a failure says to the person: what is wrong and what to do, by the service's own words. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
