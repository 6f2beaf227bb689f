import { afterAll, beforeAll, expect, test } from 'vitest';
import { Account } from './account.ts';
import { ask, MODEL } from './chat.ts';
import { Gateway } from './gateway.ts';
import { nano } from './money.ts';

let gateway: Gateway;
let account: Account;
beforeAll(async () => {
  gateway = await Gateway.start({ process: 'shared' });
  account = await Account.signUp(gateway);
});
afterAll(() => gateway?.remove());

// The sandbox takes more than the catalogue's window, and counts by a rule that is no maker's: as any self-hosted endpoint may.
test.each([
  ['longer than the window that the catalogue names', '0.02', { max_tokens: 5, content: 'word '.repeat(300_000) }],
  [
    'of few tokens by the maker’s count and many by the provider’s',
    '0.001',
    { max_tokens: 1, content: ' internationalization'.repeat(2_000) },
  ],
])('a prompt %s does not spend past a cap, however often it is sent at once', async (_, cap, { max_tokens, content }) => {
  const { key, key_id } = await account.createKey({ livemode: false, monthly_cap_usd: cap });
  const body = { model: MODEL, max_tokens, messages: [{ role: 'user', content }] };
  const answers = await Promise.all(Array.from({ length: 8 }, () => ask(gateway, key, body)));
  for (const { status } of answers) expect([200, 400, 402, 429]).toContain(status);
  await expect
    .poll(async () => {
      const { total } = await account.usage({ key_id, livemode: 'false' });
      return total.requests === answers.filter(({ status }) => status === 200).length && nano(total.cost_usd) <= nano(cap);
    })
    .toBe(true);
});
