import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newKey, send, signUp } from './testing/account-api.ts';
import { chat, type InferenceWorld, openInferenceWorld } from './testing/inference-api.ts';

interface Choice {
  finish_reason: string;
  message: { content: string | null; tool_calls?: { function: { name: string; arguments: string } }[] };
}

let world: InferenceWorld;
let auth: Record<string, string>;
let otherAuth: Record<string, string>;
beforeAll(async () => {
  world = await openInferenceWorld({ now: Date.now });
  ({ auth } = await newKey(world.account, (await signUp(world.account)).auth, { livemode: false }));
  ({ auth: otherAuth } = await newKey(world.account, (await signUp(world.account)).auth, { livemode: false }));
});
afterAll(() => world?.close());

const at = (path: string, options: Parameters<typeof send>[2] = {}) => send(world.account, path, { headers: auth, ...options });
const said = (text: string) => ({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] });
const respond = (body: object) => chat(world, auth, { model: 'gpt-4o-mini', ...body }, '/v1/responses');
const newConversation = async (json: object = {}): Promise<string> => (await at('/v1/conversations', { json })).body.id;
/** What an answer says, without the ids that differ between two answers. */
const saidIn = ({ choices }: { choices: Choice[] }) =>
  choices.map(({ finish_reason, message: { content, tool_calls = [] } }) => ({
    finish_reason,
    content,
    calls: tool_calls.map(({ function: called }) => called),
  }));
const itemsOf = async (id: string) => (await at(`/v1/conversations/${id}/items?order=asc&limit=100`)).body.data;

describe('a conversation', () => {
  test('is made, shown, changed and deleted', async () => {
    const made = await at('/v1/conversations', { json: { metadata: { topic: 'demo' }, items: [said('One')] } });
    expect(made).toMatchObject({
      status: 200,
      body: { object: 'conversation', metadata: { topic: 'demo' }, created_at: expect.any(Number) },
    });
    const path = `/v1/conversations/${made.body.id}`;
    expect((await at(path)).body).toEqual(made.body);
    expect((await at(path, { json: { metadata: { topic: 'other' } } })).body.metadata).toEqual({ topic: 'other' });
    expect((await at(path, { method: 'DELETE' })).body).toEqual({ id: made.body.id, object: 'conversation.deleted', deleted: true });
    expect((await at(path)).status).toBe(404);
    expect((await respond({ input: 'Hi.', conversation: made.body.id })).status).toBe(404);
  });

  test('is neither made nor changed by a request with a field that is unknown', async () => {
    const id = await newConversation();
    const unknown = [
      ['/v1/conversations', { metdata: { topic: 'demo' } }],
      [`/v1/conversations/${id}`, { metadata: { topic: 'demo' }, metdata: {} }],
      [`/v1/conversations/${id}/items`, { items: [said('One')], metdata: {} }],
    ] as const;
    for (const [path, json] of unknown) {
      const { status, body } = await at(path, { json });
      expect([status, body.errors], path).toEqual([
        400,
        [expect.objectContaining({ loc: ['body', 'metdata'], type: 'unrecognized_keys' })],
      ]);
    }
    expect((await at(`/v1/conversations/${id}`)).body.metadata).toEqual({});
    expect(await itemsOf(id)).toEqual([]);
  });

  test('needs no body to be made', async () => {
    expect((await at('/v1/conversations', { method: 'POST' })).status).toBe(200);
  });

  test('keeps items in order, page by page, and lets one go', async () => {
    const id = await newConversation({ items: [said('One'), said('Two')] });
    const added = await at(`/v1/conversations/${id}/items`, { json: { items: [said('Three')] } });
    expect(added.body).toMatchObject({ object: 'list', has_more: false, data: [{ id: expect.stringMatching(/^msg_/) }] });
    const first = await at(`/v1/conversations/${id}/items?limit=2`);
    expect(first.body).toMatchObject({ has_more: true, first_id: added.body.data[0].id });
    const rest = await at(`/v1/conversations/${id}/items?limit=2&after=${first.body.last_id}`);
    expect(rest.body).toMatchObject({ has_more: false, data: [{ content: [{ text: 'One' }] }] });
    const itemPath = `/v1/conversations/${id}/items/${rest.body.last_id}`;
    expect((await at(itemPath)).body).toEqual(rest.body.data[0]);
    expect((await at(itemPath, { method: 'DELETE' })).body).toMatchObject({ object: 'conversation', id });
    expect((await at(itemPath)).status).toBe(404);
    expect(await itemsOf(id)).toHaveLength(2);
  });

  test.each([
    { items: Array.from({ length: 21 }, () => said('x')) },
    { metadata: Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`k${index}`, 'v'])) },
    { metadata: { ['k'.repeat(65)]: 'v' } },
    { metadata: { k: 'v'.repeat(513) } },
  ])('has limits: %#', async (json) => {
    expect((await at('/v1/conversations', { json })).status).toBe(400);
  });

  test('of another account is answered exactly as a missing one', async () => {
    const id = await newConversation({ items: [said('One')] });
    const [item] = await itemsOf(id);
    for (const path of [`/v1/conversations/${id}`, `/v1/conversations/${id}/items`, `/v1/conversations/${id}/items/${item.id}`]) {
      expect((await at(path, { headers: otherAuth })).status).toBe(404);
      expect((await at(path.replace(id, 'conv_none'), { headers: otherAuth })).status).toBe(404);
    }
    expect((await at(`/v1/conversations/${id}`, { headers: otherAuth, method: 'DELETE' })).status).toBe(404);
    expect(await itemsOf(id)).toHaveLength(1);
  });

  test('takes both of two responses that are made at once, each whole', async () => {
    const id = await newConversation();
    const answers = await Promise.all(['One', 'Two', 'Three', 'Four'].map((input) => respond({ input, conversation: id })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const items = await itemsOf(id);
    expect(items).toHaveLength(8);
    for (let at = 0; at < items.length; at += 2) expect([items[at].role, items[at + 1].role]).toEqual(['user', 'assistant']);
    expect(new Set(answers.map(({ body }) => body.output[0].id))).toEqual(
      new Set(items.filter(({ role }: { role: string }) => role === 'assistant').map((item: { id: string }) => item.id)),
    );
  });

  test('and a previous response are not taken together', async () => {
    const first = await respond({ input: 'Hi.' });
    expect((await respond({ input: 'Hi.', previous_response_id: first.body.id, conversation: await newConversation() })).status).toBe(400);
  });
});

test('a chain of responses has all its input and output, and nothing of other chains', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ text: fc.string({ unit: 'binary', maxLength: 20 }), from: fc.nat(5) }), { minLength: 1, maxLength: 6 }),
      async (turns) => {
        const made: { id: string; length: number }[] = [];
        for (const { text, from } of turns) {
          const before = made.length === 0 ? undefined : made[from % made.length];
          const answer = await respond({ input: [said(text)], ...(before && { previous_response_id: before.id }) });
          expect(answer.status).toBe(200);
          const counted = await at('/v1/responses/input_tokens', { json: { model: 'gpt-4o-mini', previous_response_id: answer.body.id } });
          expect(counted.status).toBe(200);
          if (before) expect(counted.body.input_tokens).toBeGreaterThan(before.length);
          made.push({ id: answer.body.id, length: counted.body.input_tokens });
        }
      },
    ),
    { numRuns: 8 },
  );
});

describe('a chat completion with store', () => {
  const HELLO = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: [{ type: 'text', text: 'Say hello.' }] }] };

  test('are two where one request was sent twice, however alike their provider answers, and streams are known by the id that they had', async () => {
    const stored = async () => (await chat(world, auth, { ...HELLO, store: true })).body;
    const [one, other] = [await stored(), await stored()];
    expect(one.choices).toEqual(other.choices);
    expect(one.id).not.toBe(other.id);
    for (const { id, choices } of [one, other]) expect((await at(`/v1/chat/completions/${id}`)).body).toMatchObject({ id, choices });
    const { text } = await chat(world, auth, { ...HELLO, store: true, stream: true, stream_options: { include_usage: true } });
    const chunks = [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data = '']) => JSON.parse(data));
    const [id, ...others] = new Set(chunks.map((chunk) => chunk.id));
    expect(others).toEqual([]);
    const { content } = one.choices[0].message;
    expect((await at(`/v1/chat/completions/${id}`)).body).toMatchObject({ id, choices: [{ message: { content } }] });
  });

  test('is listed by model and metadata, shown, changed, deleted, with its messages', async () => {
    const made = await chat(world, auth, { ...HELLO, store: true, metadata: { topic: 'plain' } });
    const path = `/v1/chat/completions/${made.body.id}`;
    expect((await at(path)).body).toEqual({ ...made.body, metadata: { topic: 'plain' } });
    expect((await at('/v1/chat/completions?metadata[topic]=plain&model=gpt-4o-mini')).body.data).toHaveLength(1);
    expect((await at('/v1/chat/completions?metadata[topic]=none')).body.data).toEqual([]);
    expect((await at('/v1/chat/completions?model=none')).body.data).toEqual([]);
    expect((await at(`${path}/messages`)).body.data).toEqual([
      { id: `${made.body.id}-0`, role: 'user', content: 'Say hello.', content_parts: [{ type: 'text', text: 'Say hello.' }] },
    ]);
    expect((await at(path, { json: { metadata: { topic: 'changed' } } })).body.metadata).toEqual({ topic: 'changed' });
    expect((await at(path, { headers: otherAuth })).status).toBe(404);
    expect((await at(path, { method: 'DELETE' })).body).toEqual({ id: made.body.id, object: 'chat.completion.deleted', deleted: true });
    expect((await at(path)).status).toBe(404);
  });

  test('is stored whole where it was streamed, with tool calls', async () => {
    const tools = [
      { type: 'function', function: { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } } },
    ];
    const body = { ...HELLO, tools, tool_choice: 'required', store: true };
    const plain = await chat(world, otherAuth, body);
    const streamed = await chat(world, auth, { ...body, stream: true });
    const id = /"id":"([^"]+)"/.exec(streamed.text)?.[1];
    const stored = await at(`/v1/chat/completions/${id}`);
    expect(saidIn(stored.body)).toEqual(saidIn(plain.body));
    expect(saidIn(stored.body)).toMatchObject([{ finish_reason: 'tool_calls', calls: [{ name: 'weather' }] }]);
    expect(stored.body.usage).toEqual(plain.body.usage);
  });

  test('is not stored without it', async () => {
    const made = await chat(world, otherAuth, { ...HELLO, seed: 7 });
    expect((await at(`/v1/chat/completions/${made.body.id}`, { headers: otherAuth })).status).toBe(404);
  });
});

describe('what was said before', () => {
  /** As large as that content would be, without the cost of it: JSON may end with blanks. */
  const enlarge = async (table: string, column: string, where: string, bytes: number) => {
    const { pool } = world.database;
    await pool.query(`alter table ${table} alter column ${column} set storage external`);
    await pool.query(`update ${table} set ${column} = (${column}::text || repeat(' ', ${bytes}))::json where ${where}`);
  };
  const TOO_MUCH = 68_000_000;

  test('in more than 64 MiB of a conversation is refused before it is read', async () => {
    const id = await newConversation({ items: [said('One'), said('Two')] });
    await enlarge('conversation_items', 'item', `conversation_id = '${id}'`, TOO_MUCH / 2);
    expect(await respond({ input: 'Hi.', conversation: id })).toMatchObject({ status: 413, body: { error: { param: 'conversation' } } });
  });

  test('in more than 64 MiB of a chain of responses is refused before it is read', async () => {
    const first = (await respond({ input: 'One' })).body.id;
    const second = (await respond({ input: 'Two', previous_response_id: first })).body.id;
    await enlarge('stored_responses', 'input', `id in ('${first}', '${second}')`, TOO_MUCH / 2);
    const refused = await respond({ input: 'Hi.', previous_response_id: second });
    expect(refused).toMatchObject({ status: 413, body: { error: { param: 'previous_response_id' } } });
  });

  test('in more than 64 MiB of items that are referred to is refused, also of one that is referred to often', async () => {
    const made = await Promise.all(['One', 'Two'].map((text) => respond({ input: text.padEnd(100_000, '!') })));
    const ids: string[] = made.map(({ body }) => body.id);
    const referred = await Promise.all(ids.map(async (id) => (await at(`/v1/responses/${id}/input_items`)).body.data[0].id));
    const refer = (items: string[]) => respond({ input: items.map((id) => ({ type: 'item_reference', id })) });
    const refused = { status: 413, body: { error: { param: 'input' } } };
    expect(await refer(Array.from({ length: 700 }, () => referred[0]))).toMatchObject(refused);
    await enlarge('stored_responses', 'input', `id in ('${ids.join("', '")}')`, TOO_MUCH / 2);
    expect(await refer(referred)).toMatchObject(refused);
  });

  test('is listed in pages of 16 MiB, whatever their limit', async () => {
    const id = await newConversation({ items: [said('One'), said('Two'), said('Three')] });
    await enlarge(
      'conversation_items',
      'item',
      `conversation_id = '${id}' and position = (select min(position) from conversation_items where conversation_id = '${id}')`,
      17_000_000,
    );
    const pageAfter = async (query: string) => (await at(`/v1/conversations/${id}/items?limit=100&${query}`)).body;
    const first = await pageAfter('order=asc');
    expect([first.data.length, first.has_more]).toEqual([1, true]);
    const rest = await pageAfter(`order=asc&after=${first.last_id}`);
    expect([rest.data.length, rest.has_more]).toEqual([2, false]);
    const all = await pageAfter('order=desc');
    expect([all.data.length, all.has_more]).toEqual([3, false]);
  });
});
