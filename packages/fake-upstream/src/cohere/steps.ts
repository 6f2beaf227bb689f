import type { Step } from '../step.ts';
import type { CohereSaying } from './saying.ts';

/** Cohere's error answer. */
export const refused = (status: number, message: string): Step => ({ status, body: { id: 'error-fake', message } });

export const rateLimited = (seconds: number): Step => ({
  ...refused(429, 'You are past the per minute request limit, please wait and try again later.'),
  headers: { 'retry-after': String(seconds) },
});

export const saying = (cohere: CohereSaying): Step => ({ cohere });
