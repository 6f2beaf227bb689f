import { expect, test } from 'vitest';
import { composeLimitAlert } from './limit-letter.ts';

const OF_TAG = {
  kind: 'tag',
  subject: 'feature=search',
  period: 'day',
  spent_usd: '41',
  cap_usd: '50',
  resets_at: '2026-11-27T00:00:00.000Z',
};
const URL = 'https://app.example/limits';

test('the mail of a limit names whose it is, what is spent, and when it starts again', () => {
  const letter = composeLimitAlert({ ...OF_TAG, threshold_percent: 80 }, URL);
  expect(letter).toMatchObject({
    subject: 'The tag feature=search has reached 80 % of its limit',
    preview: '$41 of $50.',
    paragraphs: ['The tag feature=search has spent $41 of the $50 of its limit.', expect.stringContaining('Nothing is refused')],
    action: { url: URL },
  });
  expect(letter.facts?.at(-1)?.[0]).toBe('Starts again');
});

test('at the whole cap it says that requests are refused, and of a lifetime that nothing starts again', () => {
  const all = { ...OF_TAG, kind: 'account', subject: null, period: 'lifetime', spent_usd: '50', resets_at: null, threshold_percent: 100 };
  const { subject, paragraphs, facts } = composeLimitAlert(all, URL);
  expect(subject).toBe('The account has reached 100 % of its limit');
  expect(paragraphs[1]).toContain('are refused');
  expect(facts?.map(([label]) => label)).toEqual(['Period', 'Spent', 'Cap']);
});
