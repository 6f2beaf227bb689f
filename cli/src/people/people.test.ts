import { exampleAnswer } from '@tallygate/sdk/testing/contract-examples';
import { KEY_ID } from '@tallygate/sdk/testing/fixtures';
import { type StubGateway, startStubGateway } from '@tallygate/sdk/testing/stub-gateway';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Terminal } from '../../testing/terminal.ts';

let gateway: StubGateway;
let terminal: Terminal;
beforeEach(async () => {
  gateway = await startStubGateway();
  terminal = new Terminal(gateway);
});
afterEach(() => gateway[Symbol.asyncDispose]());

const acted = { json: exampleAnswer('people.act') };
const listed = { json: exampleAnswer('people.list') };

it('lists people by every dimension', async () => {
  gateway.script(listed);
  const { stdout, exitCode } = await terminal.type([
    ...['people', 'list', '-q', 'ada', '--status', 'new', '--source', 'import', '--event', 'launch', '--owner', 'none'],
    ...['--client-type', 'startup', '--plan', 'pro', '--consent', 'given', '--limit', '1'],
  ]);
  expect([exitCode, stdout]).toEqual([0, expect.stringContaining('\tada@example.com\tAda Lovelace\t')]);
  expect(gateway.requests[0]?.query).toEqual({
    ...{ q: 'ada', status: 'new', source: 'import', event_slug: 'launch', owner: 'none', client_type: 'startup', plan_tier: 'pro' },
    ...{ consent: 'given', limit: '2' },
  });
});

it.each<[string[], object]>([
  [['tag', KEY_ID, 'beta'], { action: 'tag', tag: 'beta' }],
  [['untag', KEY_ID, 'beta'], { action: 'untag', tag: 'beta' }],
  [['assign', KEY_ID, 'none'], { action: 'assign_owner', owner: null }],
  [['status', KEY_ID, 'lost'], { action: 'set_status', status: 'lost' }],
  [['note', KEY_ID, 'Call back'], { action: 'note', note: 'Call back' }],
  [['merge', KEY_ID, KEY_ID], { action: 'merge', into: KEY_ID }],
  [['unsubscribe', KEY_ID], { action: 'unsubscribe' }],
  [['resubscribe', KEY_ID, '--reason', 'asked'], { action: 'resubscribe', reason: 'asked' }],
  [['erase', KEY_ID, '--yes'], { action: 'erase' }],
])('people %j', async (argv, body) => {
  gateway.script(acted);
  expect((await terminal.type(['people', ...argv])).exitCode).toBe(0);
  expect(gateway.requests[0]).toMatchObject({ method: 'POST', path: `/v1/marketing/people/${KEY_ID}/actions`, body });
});

it('erases nobody in a script without --yes, and asks a person', async () => {
  expect((await terminal.type(['people', 'erase', KEY_ID])).exitCode).toBe(2);
  const asked = await terminal.type(['people', 'erase', KEY_ID], { apiKey: 'tg_test_secret', isTty: true, typed: ['n'] });
  expect([asked.exitCode, gateway.requests.length]).toEqual([1, 0]);
});

it('shows a person with the history', async () => {
  gateway.script({ json: exampleAnswer('people.get') });
  expect((await terminal.type(['people', 'get', KEY_ID])).stdout).toContain('tag {"tag":"beta"}');
});

it('exports people as CSV, and one person as JSON', async () => {
  gateway.script(
    { text: 'email\r\nada@example.com\r\n', headers: { 'content-type': 'text/csv' } },
    { json: exampleAnswer('people.exportOne') },
  );
  expect((await terminal.type(['people', 'export', '--event', 'launch'])).stdout).toBe('email\r\nada@example.com\r\n');
  expect(JSON.parse((await terminal.type(['people', 'export', '--person', KEY_ID])).stdout)).toMatchObject({
    person: { email: 'ada@example.com' },
  });
});

it('imports a file, and names the rows that could not be taken', async () => {
  gateway.script({ json: exampleAnswer('peopleTransfers.import') });
  terminal.files.set('people.csv', 'email\nada@example.com\n');
  const { stderr, exitCode } = await terminal.type(['people', 'import', 'people.csv']);
  expect([exitCode, stderr]).toEqual([1, 'people.csv:4: email: must be an e-mail address such as ada@example.com\n']);
  expect(gateway.requests[0]?.headers['content-type']).toBe('text/csv');
});
