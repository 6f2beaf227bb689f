import { expect, test } from 'vitest';
import { BudgetAlert, composeBudgetAlert } from './budget-alert.ts';

const letterOf = (over: Partial<BudgetAlert>) =>
  composeBudgetAlert(
    {
      key_id: null,
      key_name: 'nightly',
      threshold_percent: 80,
      kind: 'warning',
      cause: 'spend',
      spent_usd: '4.2',
      cap_usd: '5',
      required_usd: null,
      period: '2026-11',
      resets_at: '2026-12-01T00:00:00.000Z',
      ...over,
    },
    'https://app.example/keys',
  );

const REFUSED = { cause: 'refusal', threshold_percent: null } as const;
const USED_UP = 'Every request with a cost is refused until the cap is raised or the month ends.';
const left = (usd: string) => `What fits into the $${usd} that is left, less what running requests hold, is not refused for this cap.`;

test.each<[string, Partial<BudgetAlert>, string, string[]]>([
  [
    'of a threshold names the real share and what is left',
    {},
    'nightly has used 84 % of its monthly cap',
    ['The API key “nightly” has used 84 % of its monthly cap.', left('0.8')],
  ],
  [
    'never rounds up to the cap',
    { spent_usd: '4.99999' },
    'nightly has used 99.99 % of its monthly cap',
    ['The API key “nightly” has used 99.99 % of its monthly cap.', left('0.00001')],
  ],
  [
    'of a cap lowered below what is spent says that requests are refused, also where 80 % is the last threshold',
    { cause: 'cap_change', spent_usd: '6' },
    'nightly has reached its monthly cap',
    ['The API key “nightly” has used 120 % of its monthly cap.', USED_UP],
  ],
  [
    'of a refusal far below the cap tells of the request and claims nothing about the others',
    { ...REFUSED, spent_usd: '0', required_usd: '5.4' },
    'A request of nightly was refused',
    [
      'A request of the API key “nightly” that needs up to $5.4 was refused: it does not fit under the cap of $5, of which $0 is spent.',
      left('5'),
    ],
  ],
  [
    'of a refusal at the cap tells of both',
    { ...REFUSED, threshold_percent: 100, kind: 'exceeded', spent_usd: '4.9', required_usd: '0.2' },
    'nightly has used 98 % of its monthly cap, and a request was refused',
    [
      'A request of the API key “nightly” that needs up to $0.2 was refused: it does not fit under the cap of $5, of which $4.9 is spent.',
      left('0.1'),
    ],
  ],
  [
    'of a refusal at a cap of zero promises nothing for the next month',
    { ...REFUSED, threshold_percent: 100, kind: 'exceeded', spent_usd: '0', cap_usd: '0', required_usd: '0.2' },
    'nightly has a cap of $0, and a request was refused',
    [
      'A request of the API key “nightly” that needs up to $0.2 was refused: it does not fit under the cap of $0, of which $0 is spent.',
      'Every request with a cost is refused until the cap is raised.',
    ],
  ],
])('the mail %s', (_what, over, subject, paragraphs) => expect(letterOf(over)).toMatchObject({ subject, paragraphs }));

test('a row from before there were mails about refusals still makes a true mail', () => {
  const row = { key_name: 'old', threshold_percent: 100, kind: 'exceeded', spent_usd: '0', cap_usd: '5', period: '2026-11' };
  const alert = BudgetAlert.parse({ ...row, resets_at: '2026-12-01T00:00:00.000Z' });
  expect(composeBudgetAlert(alert, '').subject).toBe('old has used 0 % of its monthly cap');
});
