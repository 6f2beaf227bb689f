import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { WEBHOOK_EVENT_TYPES, WebhookEvent, type WebhookEventData, type WebhookEventType } from '@tallygate/contract';
import { expect, test } from 'vitest';
import { bodyFor } from './formats.ts';

const ID = '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77';
const AT = '2026-11-21T08:00:00.000Z';
const key = { key_id: ID, name: 'search', livemode: true };
const budget = { key_id: ID, name: 'search', period: '2026-11', spent_usd: '20', cap_usd: '25', resets_at: AT };
const limit = {
  kind: 'tag',
  subject: 'feature=search',
  period: 'day',
  livemode: true,
  spent_usd: '20',
  cap_usd: '25',
  resets_at: AT,
} as const;
const place = { provider: 'openai', deployment: 'openai#1', model: 'gpt-4o-mini' };

/** One of each type: the compiler asks for a new one. */
const DATA: { readonly [Type in WebhookEventType]: WebhookEventData<Type> } = {
  'key.created': key,
  'key.rotated': key,
  'key.revoked': key,
  'budget.threshold_reached': { ...budget, threshold_percent: 80 },
  'budget.cap_hit': { ...budget, required_usd: '6' },
  'limit.threshold_reached': { ...limit, threshold_percent: 80 },
  'limit.cap_hit': { ...limit, required_usd: '6' },
  'spend.threshold_reached': { period: '2026-11', threshold_usd: '100', charged_usd: '101' },
  'run.exhausted': { run_id: 'nightly', livemode: true, reason: 'budget' },
  'provider.set_aside': { ...place, reason: 'failures' },
  'provider.restored': { ...place, set_aside_at: AT },
  'invoice.issued': { invoice_id: ID, month: '2026-10', livemode: true, total_usd: '120', due_usd: '20' },
  'receipt.anchored': { anchor_id: ID, chain_id: 8453, transaction_hash: '0x1f', tree_size: 12, receipt_count: 1, receipt_ids: [ID] },
  'log.stopped': { reason: 'The newest state is gone' },
  'webhook.test': { webhook_id: ID },
};
const eventOf = (type: WebhookEventType, more: object = {}) =>
  WebhookEvent.parse({ type, id: ID, timestamp: AT, account_id: ID, sequence: 7, data: { ...DATA[type], ...more } });

test.each(WEBHOOK_EVENT_TYPES)('%s is the event itself, a message for Slack and a card for Teams', (type) => {
  const event = eventOf(type);
  expect(JSON.parse(bodyFor('standard', event))).toEqual(event);
  const slack = JSON.parse(bodyFor('slack', event));
  expect(slack).toMatchObject({ text: expect.stringMatching(/^\S.{8,}$/), blocks: [{ type: 'section', text: { type: 'mrkdwn' } }] });
  expect(slack.blocks[0].text.text.length).toBeLessThan(3_000);
  const teams = JSON.parse(bodyFor('teams', event));
  const [{ contentType, content }] = teams.attachments;
  expect([teams.type, contentType, content.type]).toEqual(['message', 'application/vnd.microsoft.card.adaptive', 'AdaptiveCard']);
  expect(content.body[0].text.length).toBeGreaterThan(8);
  expect(JSON.stringify([slack, teams])).not.toMatch(/undefined|\[object/);
});

test('a message says what is used of which cap, and of which account', () => {
  const { text, blocks } = JSON.parse(bodyFor('slack', eventOf('limit.threshold_reached')));
  expect(text).toBe('tag feature=search (day) has reached 80 % of its limit');
  expect(blocks[0].text.text.split('\n')).toEqual(expect.arrayContaining(['spent usd: 20', 'cap usd: 25', `Account: ${ID}`]));
});

test('a name can neither mention anybody nor link anywhere, in Slack and in Teams', () => {
  const event = eventOf('key.created', { name: '<!channel> *bold* <https://evil.example|here> [link](https://evil.example) & _x_' });
  const slack = bodyFor('slack', event);
  expect(slack).not.toMatch(/<!|<https|>/);
  expect(slack).toContain('&lt;!channel&gt;');
  expect(slack).toContain('&amp;');
  const teams = JSON.parse(bodyFor('teams', event)).attachments[0].content.body[0].text;
  expect(teams).toContain('\\[link\\]\\(https://evil.example\\)');
});

test('the guide names every type of event', () => {
  const guide = readFileSync(join(import.meta.dirname, '../../../docs/guides/webhooks.md'), 'utf8');
  const named = [...guide.matchAll(/^\| `([a-z_.]+)`/gm)].map(([, type]) => type);
  expect(named).toEqual(WEBHOOK_EVENT_TYPES);
});
