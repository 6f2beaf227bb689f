import { budget, chunks, DONE, event, inferenceAnswerHeaders, RECEIPT_ID, REQUEST_ID, refusal } from '@tallygate/sdk/testing/fixtures';
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

const answers = (...texts: string[]) =>
  gateway.script({ pieces: [...chunks(...texts).map(event), DONE], end: true, headers: inferenceAnswerHeaders });
const remark = `cost 0.00000255 USD, receipt ${RECEIPT_ID}, gpt-4o-mini\n`;

it('streams the answer to stdout, and its cost and receipt to stderr', async () => {
  answers('Hel', 'lo.');
  expect(await terminal.type(['chat', 'Say', 'hello.'])).toEqual({ stdout: 'Hello.\n', stderr: remark, exitCode: 0 });
  expect(gateway.requests[0]?.body).toEqual({
    model: 'gpt-4o-mini',
    messages: [{ role: 'user', content: 'Say hello.' }],
    stream: true,
    stream_options: { include_usage: true },
  });
});

it('sends the options', async () => {
  answers('Hello.');
  const options = ['--model', 'gpt-5', '--system', 'Be brief.', '--max-tokens', '9', '--run', 'run-7', '--max-budget', '0.50'];
  await terminal.type(['chat', ...options, 'Hi.']);
  expect(gateway.requests[0]?.body).toMatchObject({
    model: 'gpt-5',
    max_tokens: 9,
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hi.' },
    ],
  });
  expect(gateway.requests[0]?.headers).toMatchObject({ 'x-agent-run-id': 'run-7', 'x-agent-max-budget': '0.50' });
});

it('takes the question from a pipe', async () => {
  answers('Hello.');
  await terminal.type(['chat'], { apiKey: 'tg_test_secret', stdin: 'Say hello.\n' });
  expect(gateway.requests[0]?.body).toMatchObject({ messages: [{ role: 'user', content: 'Say hello.' }] });
});

it('keeps escape sequences of the model away from the terminal, and passes a pipe every byte', async () => {
  const rogue = 'Look: \u001b]0;owned\u0007 done.';
  answers(rogue);
  expect((await terminal.type(['chat', 'Hi.'], { apiKey: 'tg_test_secret', isTty: true })).stdout).toBe('Look: ]0;owned done.\n');
  answers(rogue);
  expect((await terminal.type(['chat', 'Hi.'])).stdout).toBe(`${rogue}\n`);
});

it('prints one JSON object where fields are asked for', async () => {
  answers('Hel', 'lo.');
  const { stdout, stderr } = await terminal.type(['chat', 'Hi.', '--json', 'content,finish_reason,cost_usd,receipt_id,request_id']);
  expect(JSON.parse(stdout)).toEqual({
    content: 'Hello.',
    finish_reason: 'stop',
    cost_usd: '0.00000255',
    receipt_id: RECEIPT_ID,
    request_id: REQUEST_ID,
  });
  expect(stderr).toBe('');
});

it('exits with 5 when a budget refuses', async () => {
  gateway.script(refusal('budget_exceeded', { detail: 'The key’s cap of 25 USD is reached.', problem: { budget } }));
  expect(await terminal.type(['chat', 'Hi.'])).toEqual({
    stdout: '',
    stderr: `error: The key’s cap of 25 USD is reached.\n  limit: key, cap 25 USD, spent 24.9, held 0.05, needed 0.2, resets 2026-12-01T00:00:00.000Z\n  code: budget_exceeded, request: ${REQUEST_ID}\n  next: Raise the cap with \`tallygate budgets set KEY AMOUNT\`, or ask for fewer tokens with --max-tokens.\n`,
    exitCode: 5,
  });
});

it('writes errors as JSON where JSON is asked for', async () => {
  gateway.script(refusal('rate_limited', { detail: 'Slow down.', headers: { 'x-should-retry': 'false' } }));
  const { stderr, exitCode } = await terminal.type(['chat', 'Hi.', '--json=content']);
  expect(exitCode).toBe(5);
  expect(JSON.parse(stderr)).toEqual({
    error: {
      code: 'rate_limited',
      message: 'Slow down.',
      exit_code: 5,
      status: 429,
      request_id: REQUEST_ID,
      next_step: 'Try again in a moment.',
    },
  });
});

it('shows what came and fails when the stream breaks off', async () => {
  gateway.script({ pieces: chunks('Hel').slice(0, 2).map(event), end: true, headers: inferenceAnswerHeaders });
  const { stdout, stderr, exitCode } = await terminal.type(['chat', 'Hi.']);
  expect({ stdout, exitCode }).toEqual({ stdout: 'Hel', exitCode: 1 });
  expect(stderr).toContain('stream_cut');
});

it.each([
  [['chat'], 'There is no question.'],
  [['chat', 'Hi.', '--max-budget', '1'], 'Name the run with --run.'],
  [['chat', 'Hi.', '--max-tokens', 'many'], 'Expected a whole number from 1 on.'],
])('exits with 2 for %j', async (argv, sentence) => {
  const { stderr, exitCode } = await terminal.type(argv);
  expect(stderr).toContain(sentence);
  expect(exitCode).toBe(2);
});
