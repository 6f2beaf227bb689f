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

it('sends to matching people after the person at the terminal has confirmed the mail', async () => {
  gateway.script(sent, sent);
  const { stderr, exitCode } = await terminal.type(
    [...SEND, '--event', 'launch', '--var', 'link=https://example.com/?a=b', '--reply-to', 'team@example.com'],
    {
      ...{ apiKey: 'tg_test_secret', isTty: true, typed: ['y'] },
    },
  );
  expect([exitCode, stderr]).toEqual([0, expect.stringContaining('Send to 3?')]);
  const body = {
    to: { filter: { event_slug: 'launch' } },
    subject: 'Hello',
    text: 'Hi {{first_name|there}}',
    reply_to: 'team@example.com',
  };
  expect(gateway.requests.map((request) => request.body)).toEqual([
    { ...body, variables: { link: 'https://example.com/?a=b' }, mode: 'preview' },
    { ...body, variables: { link: 'https://example.com/?a=b' }, mode: 'send' },
  ]);
});

it('sends nothing when declined, in a script without --yes, or without recipients', async () => {
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

it('sends a stored template or its own text, not both or none', async () => {
  gateway.script(sent);
  await terminal.type(['emails', 'send', '--template', KEY_ID, '--everybody', '--yes']);
  const both = await terminal.type([...SEND, '--template', KEY_ID, '--everybody', '--yes']);
  const none = await terminal.type(['emails', 'send', '--everybody', '--yes']);
  expect([both.exitCode, none.exitCode]).toEqual([2, 2]);
  expect(gateway.requests.map(({ body }) => body)).toEqual([{ to: { filter: {} }, template_id: KEY_ID, mode: 'send' }]);
});

it('processes a bounced mail from a pipe', async () => {
  gateway.script({ json: exampleAnswer('emailBounces.take') });
  const { stdout, exitCode } = await terminal.type(['emails', 'bounce'], { apiKey: 'tg_test_secret', stdin: 'Subject: Undelivered' });
  expect([exitCode, stdout]).toEqual([0, expect.stringContaining('hard')]);
  expect(gateway.requests[0]?.headers['content-type']).toBe('message/rfc822');
});

it('stores a template, changes what is named of it, and archives it', async () => {
  const template = { json: exampleAnswer('emailTemplates.get') };
  gateway.script({ ...template, status: 201 }, template, template);
  const words = ['--subject', 'Hello', '--text', 'mail.txt', '--var', 'link=x'];
  const made = await terminal.type(['emails', 'templates', 'create', 'beta', ...words]);
  expect([made.exitCode, made.stdout]).toEqual([0, expect.stringContaining('beta-open')]);
  await terminal.type(['emails', 'templates', 'update', KEY_ID, '--html', 'none', '--name', 'gamma']);
  const archived = await terminal.type(['emails', 'templates', 'archive', KEY_ID]);
  const nothing = await terminal.type(['emails', 'templates', 'update', KEY_ID]);
  expect([archived.stderr, nothing.exitCode]).toEqual(['No mail is made from beta-open any more.\n', 2]);
  expect(gateway.requests.map(({ body }) => body)).toEqual([
    { name: 'beta', subject: 'Hello', text: 'Hi {{first_name|there}}', variables: { link: 'x' } },
    { name: 'gamma', html: null },
    undefined,
  ]);
});

it.each([
  [['templates', 'list'], 'emailTemplates.list', 'beta-open'],
  [['templates', 'get', KEY_ID, '--text'], 'emailTemplates.get', 'come in'],
  [['list'], 'emails.list', 'sending'],
  [['get', KEY_ID], 'emails.get', 'sending'],
  [['cancel', KEY_ID], 'emails.cancel', 'sending'],
  [['recipients', KEY_ID, '--state', 'sent'], 'emails.recipients', 'ada@example.com'],
])('emails %j', async (argv, example, shown) => {
  gateway.script({ json: exampleAnswer(example) });
  const { stdout, exitCode } = await terminal.type(['emails', ...argv]);
  expect([exitCode, stdout]).toEqual([0, expect.stringContaining(shown)]);
});
