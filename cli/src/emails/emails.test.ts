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
  terminal.files.set('mail.txt', 'Hi {{first_name|there}}');
});
afterEach(() => gateway[Symbol.asyncDispose]());

const sent = { json: exampleAnswer('emails.send') };
const SEND = ['emails', 'send', '--subject', 'Hello', '--text', 'mail.txt'];

it('sends to those who fit, once the person at the terminal has seen the mail and said yes', async () => {
  gateway.script(sent, sent);
  const { stderr, exitCode } = await terminal.type([...SEND, '--event', 'launch', '--var', 'link=https://example.com/?a=b'], {
    ...{ apiKey: 'tg_test_secret', isTty: true, typed: ['y'] },
  });
  expect([exitCode, stderr]).toEqual([0, expect.stringContaining('Send to 3?')]);
  const body = { to: { filter: { event_slug: 'launch' } }, subject: 'Hello', text: 'Hi {{first_name|there}}' };
  expect(gateway.requests.map((request) => request.body)).toEqual([
    { ...body, variables: { link: 'https://example.com/?a=b' }, mode: 'preview' },
    { ...body, variables: { link: 'https://example.com/?a=b' }, mode: 'send' },
  ]);
});

it('sends nothing where the answer is no, nor in a script that does not say so, nor to nobody in particular', async () => {
  gateway.script(sent, sent);
  const no = await terminal.type([...SEND, '--everybody'], { apiKey: 'tg_test_secret', isTty: true, typed: ['n'] });
  const script = await terminal.type([...SEND, '--everybody']);
  const nobody = await terminal.type(SEND);
  expect([no.exitCode, script.exitCode, nobody.exitCode]).toEqual([1, 2, 2]);
  expect(gateway.requests.map(({ body }) => body)).toMatchObject([{ mode: 'preview' }, { mode: 'preview' }]);
});

it('sends a test to oneself without asking', async () => {
  gateway.script(sent);
  await terminal.type([...SEND, '--person', KEY_ID, '--test']);
  expect(gateway.requests.map(({ body }) => body)).toMatchObject([{ mode: 'test', to: { person_ids: [KEY_ID] } }]);
});

it.each([
  [['list'], 'emails.list', 'sending'],
  [['get', KEY_ID], 'emails.get', 'sending'],
  [['cancel', KEY_ID], 'emails.cancel', 'sending'],
  [['recipients', KEY_ID, '--state', 'sent'], 'emails.recipients', 'ada@example.com'],
])('emails %j', async (argv, example, shown) => {
  gateway.script({ json: exampleAnswer(example) });
  const { stdout, exitCode } = await terminal.type(['emails', ...argv]);
  expect([exitCode, stdout]).toEqual([0, expect.stringContaining(shown)]);
});
