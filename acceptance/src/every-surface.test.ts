import { type FakeUpstream, type Step, startFakeUpstream, steps } from '@tallygate/fake-upstream';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Account } from './account.ts';
import { allDialects, costOf, DIALECTS, type Dialect, type Tokens } from './dialects.ts';
import { Gateway } from './gateway.ts';
import { nano, usd } from './money.ts';
import { type Asked, OTHER_SURFACES, PICTURE, type Said, type Surface } from './surfaces.ts';

let upstream: FakeUpstream;
let gateway: Gateway;
let account: Account;
let key: string;
let spent = 0n;

beforeAll(async () => {
  upstream = await startFakeUpstream();
  gateway = await Gateway.start(allDialects(upstream));
  account = await Account.signUp(gateway, { plan: 'enterprise' });
  ({ key } = await account.createKey());
});
afterAll(async () => {
  await gateway?.remove();
  await upstream?.close();
});
beforeEach(() => upstream.reset());

const SCHEMA = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'], additionalProperties: false };
const CALLS = [
  { name: 'look', arguments: '{"city":"Ulm"}' },
  { name: 'look', arguments: '{"city":"Bonn"}' },
];
const WORDS = { fresh: 10n, output: 8n };
/** Whose models think, and show it. */
const THINKERS = new Set(['anthropic', 'google', 'bedrock-claude', 'vertex', 'cohere']);

const modelFor = ({ model, seeing = model, thinking = model }: Dialect, { hasPicture, thinks }: Asked): string =>
  hasPicture ? seeing : thinks ? thinking : model;

async function send({ name, headers, path, body }: Surface, dialect: Dialect, asked: Asked) {
  const { provider } = dialect;
  const model = modelFor(dialect, asked);
  const answer = await fetch(`${gateway.url}${path(model, asked)}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body(model, asked)),
  });
  const text = await answer.text();
  expect([name, answer.status, answer.headers.get('x-provider'), answer.status === 200 ? '' : text]).toEqual([name, 200, provider, '']);
  const events = asked.isStreamed
    ? [...text.matchAll(/^data: (?!\[DONE\])(.*)$/gm)].map(([, data = '']) => JSON.parse(data))
    : [JSON.parse(text)];
  return { headers: answer.headers, events };
}

/** Azure has responses itself, which the scripted provider does not speak at a dated version of its API. */
const isScripted = (surface: Surface, { provider }: Dialect): boolean => !(surface.name === 'responses' && provider === 'azure');

const CASES = OTHER_SURFACES.flatMap((surface) =>
  DIALECTS.filter((dialect) => isScripted(surface, dialect)).map(
    (dialect) => [`${surface.name} at ${dialect.provider}`, surface, dialect] as const,
  ),
);

describe.each(CASES)('%s', (_, surface, dialect) => {
  /** Plain and streamed: both say the same, and show what it costs. */
  async function said(step: Step, tokens: Tokens, asked: Omit<Asked, 'isStreamed'> = {}): Promise<Said> {
    const cost = costOf(dialect.price, tokens);
    const answers: Said[] = [];
    for (const isStreamed of [false, true]) {
      upstream.script(step);
      const { headers, events } = await send(surface, dialect, { ...asked, isStreamed });
      spent += cost;
      if (!isStreamed) expect(headers.get('x-cost-usd')).toBe(usd(cost));
      answers.push(surface.said(events));
    }
    const [plain, streamed] = answers;
    expect(streamed).toEqual(plain);
    expect(plain?.cost).toBe(Number(usd(cost)));
    return { ...(plain as Said) };
  }

  test('words', async () => {
    expect(await said({}, WORDS)).toMatchObject({ text: 'tok0 tok1 tok2 tok3 tok4 tok5 tok6 tok7', calls: [], finish: 'whole' });
  });

  test('two tool calls at once', async () => {
    const { calls, finish } = await said({ text: '', toolCalls: CALLS }, { fresh: 10n, output: 6n }, { hasTool: true });
    expect([calls, finish]).toEqual([CALLS.map(({ name, arguments: args }) => ({ name, args: JSON.parse(args) })), 'whole']);
  });

  test('a picture', async () => {
    await said({}, WORDS, { hasPicture: true });
    for (const { body } of upstream.requests) expect(JSON.stringify(body)).toContain(PICTURE);
  });

  test('an answer by a JSON Schema', async () => {
    const { text } = await said({ text: '{"name": "Ada"}' }, { fresh: 10n, output: 2n }, { schema: SCHEMA });
    expect(JSON.parse(text)).toEqual({ name: 'Ada' });
  });

  test.runIf(THINKERS.has(dialect.provider))('what the model thinks', async () => {
    const { thoughts, text } = await said({ reasoning: 'Hmmm', text: 'done' }, { fresh: 10n, output: 2n }, { thinks: true });
    expect([thoughts.trim(), text]).toEqual(['Hmmm', 'done']);
  });

  test('a refusal', async () => {
    expect((await said(dialect.refusal.step, dialect.refusal.tokens)).finish).toBe('refused');
  });

  test('an answer that ends at its bound', async () => {
    const text = Array.from({ length: 20 }, (_, at) => `tok${at}`).join(' ');
    const { text: told, finish } = await said({ text }, { fresh: 10n, output: 16n }, { most: 16 });
    expect([text.startsWith(told), told.split(' ').length, finish]).toEqual([true, 16, 'bound']);
  });

  test('an error in the middle of a stream, told in the maker’s own form', async () => {
    upstream.script(steps.errorMidStream(6));
    const { headers, events } = await send(surface, dialect, { isStreamed: true });
    expect(JSON.stringify(events.at(-1))).toContain('error');
    expect(events.slice(0, -1).some((event) => JSON.stringify(event).includes('tok'))).toBe(true);
    const { outcome, cost_usd } = await account.trace(headers.get('x-request-id') ?? '');
    expect(outcome).toBe('cut');
    spent += nano(cost_usd);
  });
});

test('the month’s usage is the sum of it all', async () => {
  expect((await account.usage()).total.cost_usd).toBe(usd(spent));
});
