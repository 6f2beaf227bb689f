import { GenerateContentRequest } from '@tallygate/contract';
import { describe, expect, test } from 'vitest';
import { loadCatalog } from '../../../money/catalog/index.ts';
import { generateContentWork } from './generate-content-work.ts';

const COST = {
  usage: { input_tokens: 10, cached_input_tokens: 4, cache_write_tokens: 0, output_tokens: 7, reasoning_tokens: 3 },
  costUsd: 0.25,
};
const USAGE = {
  ...{ promptTokenCount: 10, cachedContentTokenCount: 4, candidatesTokenCount: 4, thoughtsTokenCount: 3, totalTokenCount: 17 },
  promptTokensDetails: [{ modality: 'TEXT', tokenCount: 10 }],
};
const PNG = 'iVBORw0KGgo=';

async function workOf(fields: object, { isStream = false, query = 'alt=sse' } = {}) {
  const given = { contents: [{ role: 'user', parts: [{ text: 'Hello.' }] }], ...fields };
  const bytes = Buffer.from(JSON.stringify(given));
  const received = { bytes, files: [], sha256: () => 'x', params: { model: 'gemini-2.5-pro' }, query: new URLSearchParams(query) };
  return generateContentWork(GenerateContentRequest.parse(given), received, isStream);
}
const formOf = async (query?: string) => (await workOf({}, { isStream: true, ...(query !== undefined && { query }) })).dialects[0].form;

type Event = Readonly<Record<string, unknown>>;
const written = (event: Event): string => `data: ${JSON.stringify(event)}\r\n\r\n`;
const said = (text: string, more: object = {}, index = 0): Event => ({
  candidates: [{ content: { role: 'model', parts: [{ text }] }, index, ...more }],
});
const telling = (event: Event, usage: object = USAGE): Event => ({ ...event, usageMetadata: usage });

/** Fed in pieces of several sizes, which must not change what is said. */
async function passed(events: readonly (Event | string)[], query?: string) {
  const bytes = Buffer.from(events.map((event) => (typeof event === 'string' ? event : written(event))).join(''));
  const all = await Promise.all(
    [1, 7, 100_000].map(async (pieceBytes) => {
      const filter = (await formOf(query)).openStream('text/event-stream');
      let before = '';
      for (let at = 0; at < bytes.length; at += pieceBytes) before += (await filter.push(bytes.subarray(at, at + pieceBytes))).toString();
      before += (await filter.end()).toString();
      const last = filter.isComplete ? (await filter.lastBytes(COST)).toString() : '';
      const { isComplete, isInvalid, usage, error } = filter;
      return { before, last, text: filter.delivered().text, isComplete, isInvalid, usage, error, promptSaid: filter.promptSaid };
    }),
  );
  expect(all[1]).toEqual(all[0]);
  expect(all[2]).toEqual(all[0]);
  return all[0] ?? expect.unreachable();
}
const eventsIn = (text: string): unknown[] => [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data ?? ''));

describe('a stream of Google’s', () => {
  const first = { ...said('Hm.', { safetyRatings: [{ category: 'HARM_CATEGORY_HARASSMENT' }] }), aFieldOfNextYear: 1 };
  const last = telling(said('done', { finishReason: 'STOP', citationMetadata: {} }));

  test('passes byte by byte, and its last event with the cost in Google’s own usage', async () => {
    const told = await passed([first, last]);
    expect(told.before).toBe(written(first));
    expect(eventsIn(told.last)).toEqual([{ ...last, usageMetadata: { ...USAGE, cost: 0.25 } }]);
    expect(told).toMatchObject({
      isComplete: true,
      text: 'Hm.done',
      usage: { input_tokens: 10, cached_input_tokens: 4, output_tokens: 7 },
    });
  });

  test('goes on behind a reason to end, as older models and several candidates do', async () => {
    const events = [said('a', { finishReason: 'STOP' }), said('b', { finishReason: 'STOP' }, 1), telling({ responseId: 'r' })];
    const told = await passed(events);
    expect(eventsIn(told.before + told.last)).toEqual([
      ...events.slice(0, 2),
      { responseId: 'r', usageMetadata: { ...USAGE, cost: 0.25 } },
    ]);
    expect(told).toMatchObject({ isComplete: true, usage: { output_tokens: 7 } });
  });

  test('is one list of JSON where no events are asked for', async () => {
    const told = await passed([first, last], '');
    expect(JSON.parse(told.before + told.last)).toEqual([first, { ...last, usageMetadata: { ...USAGE, cost: 0.25 } }]);
    const broken = (await formOf('')).openStream('x');
    const begun = await broken.push(Buffer.from(written(first)));
    const error = broken.errorBytes({ message: 'No.', type: 'server_error', code: 'UNAVAILABLE' });
    expect(JSON.parse(`${begun}${error}`)).toEqual([first, { error: { code: 503, message: 'No.', status: 'UNAVAILABLE' } }]);
  });

  test('is complete when the prompt was blocked, and shows what was used', async () => {
    const told = await passed([{ promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: { promptTokenCount: 10 } }]);
    expect(told).toMatchObject({ isComplete: true, before: '' });
    expect(eventsIn(told.last)).toMatchObject([{ promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: { cost: 0.25 } }]);
  });

  test.each<[string, (Event | string)[], object]>([
    ['without a reason to end', [first], { isComplete: false, usage: undefined }],
    ['in the middle of its last event', [first, written(last).slice(0, 60)], { isComplete: false }],
    [
      'with an error, whose usage is billed',
      [first, { error: { code: 503, message: 'Overloaded.', status: 'UNAVAILABLE' }, usageMetadata: USAGE }],
      { isComplete: false, usage: { output_tokens: 7 }, error: { message: 'Overloaded.', code: 'UNAVAILABLE' } },
    ],
    ['that says its usage and then more', [telling(first), said('more', { finishReason: 'STOP' })], { isComplete: true, usage: undefined }],
  ])('that ends %s is billed by no more than it says', async (_, events, expected) => {
    expect(await passed(events)).toMatchObject(expected);
  });

  test('says what the prompt took before it says the rest', async () => {
    expect((await passed([telling(first, { promptTokenCount: 10, totalTokenCount: 10 })])).promptSaid).toMatchObject({ input_tokens: 10 });
  });

  test.each<[Event | string]>([['data: no JSON\n\n'], [{ id: 'c', choices: [] }], ['<html></html>\n\n']])(
    'is none where something else comes: %j',
    async (event) => {
      expect(await passed([event])).toMatchObject({ before: '', isInvalid: true });
    },
  );
});

describe('a whole answer of Google’s', () => {
  const read = async (answer: object) => (await formOf()).read(Buffer.from(JSON.stringify(answer)), 'application/json');

  test('passes with the cost in its own usage, with everything that it says', async () => {
    const answer = telling({ ...said('Hi.', { finishReason: 'STOP', avgLogprobs: -0.1 }), modelVersion: 'gemini-2.5-pro' });
    const found = await read(answer);
    expect(found?.usage).toMatchObject({ input_tokens: 10, output_tokens: 7, reasoning_tokens: 3 });
    expect(JSON.parse(String(await found?.toBytes(COST)))).toEqual({ ...answer, usageMetadata: { ...USAGE, cost: 0.25 } });
  });

  test('shows what is settled where Google says no usage', async () => {
    const found = await read(said('Hi.', { finishReason: 'STOP' }));
    expect([found?.usage, found?.delivered.text]).toEqual([undefined, 'Hi.']);
    const { promptTokensDetails: _, ...usage } = USAGE;
    expect(JSON.parse(String(await found?.toBytes(COST)))).toMatchObject({ usageMetadata: { ...usage, cost: 0.25 } });
  });

  test.each([{}, { candidates: [] }, { choices: [] }])('is none where nothing is said: %j', async (answer) => {
    expect(await read(answer)).toBeUndefined();
  });
});

describe('what Google is sent as it came', () => {
  const model = loadCatalog().find('gemini-2.5-pro');
  const inputOf = async (fields: object) => {
    const work = await workOf(fields);
    return model ? work.bound(model).inputTokens : Number.NaN;
  };
  const turn = (...parts: object[]) => ({ contents: [{ role: 'user', parts: [{ text: 'Hello.' }, ...parts] }] });

  test('is held by all of its bytes, thoughts of earlier turns and unknown fields among them', async () => {
    const long = 'x'.repeat(5_000);
    expect(await inputOf({})).toBeLessThan(1_000);
    for (const fields of [turn({ text: long, thought: true }), { tomorrow: long }, { labels: { team: long } }])
      expect(await inputOf(fields)).toBeGreaterThan(5_000);
  });

  test('is held at the most that each picture can cost, wherever it is', async () => {
    const least = await inputOf({});
    const inlineData = { mimeType: 'image/png', data: PNG };
    for (const fields of [turn({ inlineData }), turn({ inlineData, thought: true }), { systemInstruction: { parts: [{ inlineData }] } }])
      expect(await inputOf(fields)).toBeGreaterThanOrEqual(least + 16_512);
  });

  test('is held at the window where a part is of no known length', async () => {
    const window = model?.contextWindow ?? 0;
    const video = { inlineData: { mimeType: 'video/mp4', data: PNG }, videoMetadata: { fps: 24 } };
    expect(await inputOf(turn(video))).toBeGreaterThanOrEqual(window);
    expect(await inputOf({ systemInstruction: { parts: [video] } })).toBeGreaterThanOrEqual(window);
  });
});
