import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Soon } from '../../kernel/soon.ts';
import { SseFilter } from './sse-filter.ts';

const USAGE = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 };
const chunk = (fields: object = {}) => ({ id: 'c-1', object: 'chat.completion.chunk', created: 7, model: 'm', choices: [], ...fields });
const delta = (content: string, rest: object = {}) => chunk({ choices: [{ index: 0, delta: { content }, finish_reason: null }], ...rest });
const finished = chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
const event = (value: unknown, lineEnd = '\n') => `data: ${JSON.stringify(value)}${lineEnd}${lineEnd}`;
const DONE = 'data: [DONE]\n\n';

/** Small events pass at once: a promise for each would cost more than it does. */
function atOnce(passed: Soon<Buffer>): Buffer {
  if (passed instanceof Promise) throw new Error('Nothing in it is large');
  return passed;
}

/** Everything that can be said of a stream once it is over. */
function relay(...chunks: (string | Buffer)[]) {
  const filter = new SseFilter();
  const passed = chunks.map((bytes) => atOnce(filter.push(Buffer.from(bytes))));
  return summaryOf(filter, [...passed, atOnce(filter.end())]);
}

/** The same of one with large events. */
async function relayLarge(...chunks: (string | Buffer)[]) {
  const filter = new SseFilter();
  const passed: Buffer[] = [];
  for (const bytes of chunks) passed.push(await filter.push(Buffer.from(bytes)));
  return summaryOf(filter, [...passed, await filter.end()]);
}

function summaryOf(filter: SseFilter, passed: readonly Buffer[]) {
  const { usage, error, isComplete, isInvalid, isOver } = filter;
  const summary = JSON.parse(filter.usageChunk({ shown: true }).slice('data: '.length)) as { id: unknown };
  return {
    client: Buffer.concat(passed).toString(),
    usage,
    error,
    isComplete,
    isInvalid,
    isOver,
    summary,
    delivered: filter.delivered().text,
  };
}

const cutAt = (bytes: Buffer, at: readonly number[]): Buffer[] => {
  const edges = [0, ...[...new Set(at.map((position) => position % (bytes.length + 1)))].sort((a, b) => a - b), bytes.length];
  return edges.slice(1).map((edge, index) => bytes.subarray(edges[index], edge));
};

/** What a hostile or odd provider writes into content. */
const words = fc.oneof(
  fc.constantFrom(
    '"usage":{',
    '[DONE]',
    'data: [DONE]',
    'data: [DONE]\n\n',
    '"error":{"message":"x"}',
    '"finish_reason":"stop"',
    '\u2028',
    '漢字😀',
    '\\"',
    '\r\n\r\n',
  ),
  fc.string({ unit: 'binary' }),
);
const events = fc.oneof(
  words.map((content) => event(delta(content))),
  words.map((content) => event(delta(content), '\r\n')),
  words.map((content) => event(delta(content, { usage: USAGE }))),
  words.map((content) => event(delta(content, { usage: null }))),
  fc.constant(': ping\n\n'),
  fc.constant(`event: message\nid: 7\n${event(delta('x'))}`),
  fc.constant('data: {"id":"c-1",\ndata: "choices":[{"index":0,"delta":{"content":"two lines"}}]}\n\n'),
  fc.constant(
    `${JSON.stringify(chunk({ usage: USAGE }))
      .replace(/^/, 'data: ')
      .replace('"usage":', '"usage" :\t')}\n\n`,
  ),
  fc.constant(event(chunk({ usage: USAGE }))),
  fc.constant('data: garbage\n\n'),
  fc.constant(event(finished)),
);
const endings = fc.constantFrom(
  '',
  DONE,
  'data: [DONE]',
  'data: [DONE]\r\n\r\n',
  event({ error: { message: 'late' } }),
  'data: {"choices":[{"index":0,"del',
  `${DONE}data: after\n\n`,
);

test('every split of a stream into chunks gives the client the same bytes, and the same usage, error and ending', () => {
  fc.assert(
    fc.property(fc.array(events, { maxLength: 8 }), endings, fc.array(fc.nat({ max: 5_000 }), { maxLength: 12 }), (middle, ending, at) => {
      const bytes = Buffer.from(event(delta('first')) + middle.join('') + ending);
      expect(relay(...cutAt(bytes, at))).toEqual(relay(bytes));
    }),
    { numRuns: 500 },
  );
});

test('byte by byte is as good as all at once, also before the first chunk', () => {
  fc.assert(
    fc.property(fc.array(events, { minLength: 1, maxLength: 5 }), endings, (middle, ending) => {
      const bytes = Buffer.from(middle.join('') + ending);
      expect(relay(...cutAt(bytes, [...bytes.keys()]))).toEqual(relay(bytes));
    }),
    { numRuns: 100 },
  );
});

test('content passes untouched whatever it says, in any escaping', () => {
  fc.assert(
    fc.property(fc.array(words, { minLength: 1, maxLength: 6 }), (contents) => {
      const escaped = contents.map((content) =>
        JSON.stringify(delta(content)).replaceAll('e', (letter, at) => (at % 2 ? '\\u0065' : letter)),
      );
      const keyed = contents.map((content) => JSON.stringify(delta(content)));
      const stream = [...keyed, ...escaped.filter((text) => isChunk(text))].map((json) => `data: ${json}\n\n`).join('');
      const { client, isComplete, error, usage } = relay(event(delta('first')) + stream + DONE);
      expect(client).toBe(event(delta('first')) + stream);
      expect({ isComplete, error, usage }).toEqual({ isComplete: true, error: undefined, usage: undefined });
    }),
  );
});

/** Escaping every other letter also hits the keys, which stays the same JSON. */
const isChunk = (json: string): boolean => 'choices' in (JSON.parse(json) as object);

describe('usage', () => {
  test('in a chunk of its own is kept from the client', () => {
    const { client, usage } = relay(event(delta('hi')), event(chunk({ usage: USAGE })), DONE);
    expect({ client, usage }).toEqual({ client: event(delta('hi')), usage: USAGE });
  });

  test('in a chunk with a choice, or in every chunk, is taken out and the last one counts', () => {
    const more = { ...USAGE, completion_tokens: 4 };
    const { client, usage } = relay(event(delta('a', { usage: USAGE })) + event(delta('b', { usage: more })), DONE);
    expect({ client, usage }).toEqual({ client: event(delta('a')) + event(delta('b')), usage: more });
  });

  test('in a chunk that has no choices at all is found too', () => {
    expect(relay(event(delta('a')), event({ usage: USAGE }), DONE)).toMatchObject({ usage: USAGE, client: event(delta('a')) });
    expect(relay(event(delta('a')), event({ choices: null, usage: USAGE }), DONE)).toMatchObject({
      usage: USAGE,
      client: event(delta('a')),
    });
  });

  test.each([
    ['null in every chunk', JSON.stringify(delta('b', { usage: null })), undefined],
    ['white space around the colon', JSON.stringify(chunk({ usage: USAGE })).replace('"usage":', '"usage" \t:  '), USAGE],
    ['a tab before the brace', JSON.stringify(chunk({ usage: USAGE })).replace('"usage":', '"usage":\t'), USAGE],
    ['a new line before the brace', JSON.stringify(chunk({ usage: USAGE })).replace('"usage":', '"usage":\ndata: '), USAGE],
  ])('with %s is read', (_, json, expected) => {
    expect(relay(event(delta('a')), `data: ${json}\n\n`, DONE).usage).toEqual(expected);
  });

  test('is shown in the name of the first chunk with a choice, not of an empty preamble', () => {
    const preamble = { choices: [], created: 0, id: '', model: '', object: '', prompt_filter_results: [] };
    expect(relay(event(preamble), event(delta('a')), DONE).summary).toMatchObject({
      id: 'c-1',
      created: 7,
      model: 'm',
      usage: { shown: true },
    });
  });
});

describe('errors', () => {
  const failure = { error: { message: 'overloaded', type: 'server_error', code: 'busy' } };

  test('as the first event let nothing through, comments before it included', () => {
    expect(relay(': processing\n\n', event(failure))).toMatchObject({ client: '', error: failure.error, isOver: true });
  });

  test('later end the stream there, and are not passed on', () => {
    const { client, error, isComplete } = relay(event(delta('a')), event(failure) + event(delta('b')) + DONE);
    expect({ client, error, isComplete }).toEqual({ client: event(delta('a')), error: failure.error, isComplete: false });
  });

  test('that are mere text, and such with a numeric code, are understood', () => {
    expect(relay(event({ error: 'out of memory' })).error).toEqual({ message: 'out of memory', type: 'server_error', code: null });
    expect(relay(event({ error: { code: 502 } })).error).toMatchObject({ code: null, type: 'server_error' });
  });

  test('that are null are none', () => {
    expect(relay(event({ ...delta('a'), error: null }), DONE)).toMatchObject({ error: undefined, isComplete: true });
  });
});

describe('what is no stream of chunks', () => {
  test.each([
    ['HTML', '<html>\n\n<body>Bad gateway</body></html>\n\n'],
    ['a JSON completion', '{"choices":[{"message":{"content":"hi"}}]}'],
    ['pretty JSON', '{\n\n"choices": []\n\n}'],
    ['other events', 'data: {"type":"ping"}\n\n'],
    ['garbage data', 'data: garbage\n\n'],
    ['nothing', ''],
    ['comments alone', ': a\n\n: b\n\n'],
    ['an end without a beginning', DONE],
  ])('%s lets no byte through', (_, bytes) => {
    expect(relay(bytes)).toMatchObject({ client: '', isInvalid: true });
  });
});

describe('the end', () => {
  const begun = event(delta('a'));
  test.each([
    ['[DONE]', DONE, true],
    ['[DONE] without the blank line', 'data: [DONE]', true],
    ['[DONE] without a space', 'data:[DONE]\n\n', true],
    ['a finish reason and no [DONE]', event(finished), true],
    ['a finish reason in an event without its blank line', event(finished).trimEnd(), true],
    ['a finish reason, then usage', event(finished) + event(chunk({ usage: USAGE })), true],
    ['a finish reason, then a comment', `${event(finished)}: bye\n\n`, true],
    ['a finish reason and one newline too many', `${event(finished)}\n`, true],
    ['neither', event(delta('b')), false],
    ['content that only speaks of a finish reason', event(delta('"finish_reason":"stop"')), false],
    ['half an event', `${event(finished)}data: {"id"`, false],
  ])('by %s is judged right', (_, ending, isComplete) => {
    expect(relay(begun, ending).isComplete).toBe(isComplete);
    expect(relay(begun + ending).isComplete).toBe(isComplete);
  });

  test('lets nothing through behind it', () => {
    const filter = new SseFilter();
    expect(atOnce(filter.push(Buffer.from(begun + DONE + event(delta('late'))))).toString()).toBe(begun);
    expect(filter.push(Buffer.from(event(delta('later'))))).toHaveLength(0);
    expect(filter.isOver).toBe(true);
  });
});

describe('size', () => {
  test('an event of some megabytes in small pieces passes in linear time', async () => {
    const bytes = Buffer.from(event(delta('x'.repeat(6_000_000))));
    const pieces = Array.from({ length: Math.ceil(bytes.length / 1_000) }, (_, at) => bytes.subarray(at * 1_000, (at + 1) * 1_000));
    const filter = new SseFilter();
    const before = process.threadCpuUsage();
    let passed = 0;
    for (const piece of pieces) passed += (await filter.push(piece)).length;
    expect(passed).toBe(bytes.length);
    expect(process.threadCpuUsage(before).user / 1_000).toBeLessThan(1_500);
  });

  const MEGABYTE = Buffer.alloc(1024 * 1024, 'x');
  /** An event may have 32. */
  const TOO_MANY = 33;

  test('what has neither end nor the form of an event is no stream', () => {
    const filter = new SseFilter();
    for (let at = 0; at < TOO_MANY; at += 1) atOnce(filter.push(MEGABYTE));
    expect(filter).toMatchObject({ isInvalid: true, isOver: true, isComplete: false });
  });

  test('what has neither end nor the form of an event is left out of a stream that has begun', () => {
    const filter = new SseFilter();
    atOnce(filter.push(Buffer.from(event(delta('a')))));
    for (let at = 0; at < TOO_MANY; at += 1) atOnce(filter.push(MEGABYTE));
    expect(filter).toMatchObject({ isTooLarge: true, isInvalid: false, isOver: false, isComplete: false });
  });

  test.each(['\n\n', '\r\n\r\n'])(
    'of what comes behind an event that is too large only the usage is taken, wherever chunks are cut',
    (end) => {
      const rest = `${event(delta('b'))}${event(chunk({ usage: USAGE }))}data: [DONE]\n\n`;
      for (const at of [1, 2, 3, 4, 5, 30]) {
        const filter = new SseFilter(MEGABYTE.length);
        atOnce(filter.push(Buffer.from(event(delta('a')))));
        atOnce(filter.push(Buffer.from('data: "')));
        for (let count = 0; count < 2; count += 1) expect(filter.push(MEGABYTE)).toHaveLength(0);
        expect(filter).toMatchObject({ isTooLarge: true, isInvalid: false, isOver: false });
        const last = Buffer.from(`"${end}${rest}`);
        expect(filter.push(last.subarray(0, at))).toHaveLength(0);
        expect(filter.push(last.subarray(at))).toHaveLength(0);
        expect(filter).toMatchObject({ isOver: true, isComplete: false, usage: USAGE });
      }
    },
  );
});

describe('what was delivered', () => {
  test('has content, reasoning, refusals and tool calls, and no usage', () => {
    const call = { index: 0, delta: { tool_calls: [{ index: 0, function: { name: 'look', arguments: '{"a":1}' } }] } };
    const thought = { index: 0, delta: { reasoning_content: 'hm ', refusal: 'no ' } };
    const stream = [delta('say\u2028 '), chunk({ choices: [thought] }), chunk({ choices: [call] }), chunk({ usage: USAGE })];
    const raw = stream.map((one) => event(one)).join('');
    expect(relay(raw, DONE).delivered).toBe('say\u2028 hm no look{"a":1}');
  });

  test('is scaled up where not all of it was kept, and a giant first event is not counted as nothing', async () => {
    const filter = new SseFilter();
    await filter.push(Buffer.from(event(delta('x'.repeat(2_000_000)))));
    await filter.push(Buffer.from(event(delta('y'.repeat(2_000_000)))));
    const { text, scale } = filter.delivered();
    expect(text.length * scale).toBeGreaterThan(3_990_000);
    expect(text.length * scale).toBeLessThan(4_010_000);
  });
});

test('a finish reason counts whatever came behind it in chunks of its own', () => {
  expect(relay(event(delta('hi')), event(finished), 'data: garbage\n\n').isComplete).toBe(true);
});

describe('a large event, which carries a picture, say,', () => {
  const PICTURE = 'iVBORw0KGgo'.repeat(100_000);
  const large = (fields: object = {}) => event(delta(`${PICTURE}"usage":{"finish_reason":"`, fields));

  test.each([
    ['in the middle', [event(delta('a')), large(), event(finished), event(chunk({ usage: USAGE })), DONE]],
    ['as the first', [large(), event(finished), event(chunk({ usage: USAGE })), DONE]],
    ['with the usage of the whole', [event(delta('a')), event(finished), large({ usage: USAGE }), DONE]],
    ['beside others in one chunk', [`${event(delta('a'))}${large()}${event(finished)}`, event(chunk({ usage: USAGE })), DONE]],
  ])('passes as it came, and its members count: %s', async (_, chunks) => {
    const { client, usage, isComplete, isInvalid } = await relayLarge(...chunks);
    expect([usage, isComplete, isInvalid]).toEqual([USAGE, true, false]);
    expect(client.match(/iVBORw0KGgo/g)).toHaveLength(100_000);
  });

  test('ends a stream by its finish reason, tells of an error, and counts as text', async () => {
    const last = event({ ...chunk(), choices: [{ index: 0, delta: { content: PICTURE }, finish_reason: 'stop' }] });
    expect((await relayLarge(event(delta('a')), last)).isComplete).toBe(true);
    expect((await relayLarge(event(delta('a')), large())).isComplete).toBe(false);
    expect((await relayLarge(event(delta('a')), large({ error: { message: 'broken' } }))).error).toMatchObject({ message: 'broken' });
    expect((await relayLarge(event(delta('a', { usage: USAGE })), large(), event(finished), DONE)).usage).toBeUndefined();
    const filter = new SseFilter();
    for (const bytes of [event(delta('a')), large()]) await filter.push(Buffer.from(bytes));
    const { text, scale } = filter.delivered();
    expect((text.length * scale) / PICTURE.length).toBeGreaterThan(0.5);
  });

  test('that is no JSON object behind others is not passed on', async () => {
    const filter = new SseFilter();
    atOnce(filter.push(Buffer.from(event(delta('a')))));
    expect(await filter.push(Buffer.from(`data: [${JSON.stringify(PICTURE)}]\n\n`))).toHaveLength(0);
    expect(filter.isUnreadable).toBe(true);
  });

  test.each([
    ['300 KB', ': a\n:b\n', '\n', 300_000],
    ['300 KB with CRLF', ': a\r\n:b\r\n', '\r\n', 300_000],
    ['33 MB', `:${'a'.repeat(100_000)}\n`, '\n', 33_000_000],
  ])('is read without the comments in front of it, wherever chunks are cut: %s', (_, comment, lineEnd, bytes) => {
    const all = Buffer.from(comment.repeat(bytes / comment.length) + event(chunk({ usage: USAGE }), lineEnd));
    for (const pieceBytes of [65_536, 65_535, 65_534]) {
      const pieces: Buffer[] = [];
      for (let at = 0; at < all.length; at += pieceBytes) pieces.push(all.subarray(at, at + pieceBytes));
      expect(relay(event(delta('a')), event(finished), ...pieces, DONE)).toMatchObject({ usage: USAGE, isComplete: true });
    }
  });

  test('passes without its comments, wherever they are', async () => {
    const comments = ':b\n'.repeat(30_000);
    const pieces = [comments, `event: x\n${comments}`, `data: {"a":"${PICTURE}"`, ',"choices":[]}\n:c', `\n${comments}\n: ping\n\n`];
    const { client, isComplete } = await relayLarge(event(delta('a')), ...pieces, event(finished), DONE);
    const large = 'event: x\ndata: {"a":"picture","choices":[]}\n\n';
    expect(client.replace(PICTURE, 'picture')).toBe(`${event(delta('a'))}${large}: ping\n\n${event(finished)}`);
    expect(isComplete).toBe(true);
  });

  test('of many lines is nothing that anybody sends, and takes no time', async () => {
    const filter = new SseFilter();
    atOnce(filter.push(Buffer.from(event(delta('a')))));
    const before = process.threadCpuUsage();
    expect(await filter.push(Buffer.from(`${'data: 1\n'.repeat(1_000_000)}\n`))).toHaveLength(0);
    expect(process.threadCpuUsage(before).user / 1_000).toBeLessThan(300);
    expect(filter.isUnreadable).toBe(true);
  });
});

describe('a flood of small events', () => {
  test.each([
    ['comments', ':\n\n'],
    ['comments with CRLF', ':\r\n\r\n'],
    ['blank lines', '\n'],
    ['empty objects', 'data: {}\n\n'],
    ['named comments', ': keep-alive\n\n'],
    ['chunks', event(delta('a'))],
    ['usage with every chunk', event(delta('a', { usage: USAGE }))],
  ])('takes the thread for no more than 50 ms at a time: %s', (_, small) => {
    const flood = Buffer.from(small.repeat(Math.ceil(65_536 / small.length)));
    const longest = Array.from({ length: 3 }, () => {
      const filter = new SseFilter();
      const steps = [() => filter.push(Buffer.from(event(delta('a')))), ...Array(20).fill(() => filter.push(flood)), () => filter.end()];
      steps.push(
        () => filter.isComplete,
        () => filter.usage,
        () => filter.delivered(),
      );
      return Math.max(
        ...steps.map((step) => {
          const before = process.threadCpuUsage();
          step();
          const { user, system } = process.threadCpuUsage(before);
          return (user + system) / 1_000;
        }),
      );
    });
    expect(Math.min(...longest)).toBeLessThan(50);
  });
});
