import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createContentKeys, createStoring } from '../../inference/stored-content/index.ts';
import { silentLog } from '../../kernel/log.ts';
import { createSecretBox, type MasterKey } from '../../kernel/secret-box.ts';
import { resealSecrets } from '../reseal.ts';
import { newKey, send, signUp } from './testing/account-api.ts';
import { CHAT, chat, type InferenceWorld, openInferenceWorld } from './testing/inference-api.ts';

const SECRET = 'the launch codes are 0000';
const ANSWERED = { model: 'gpt-4o-mini', input: `Repeat: ${SECRET}` };
let world: InferenceWorld;
let owner: Awaited<ReturnType<typeof signUp>>;
let auth: Record<string, string>;

beforeAll(async () => {
  world = await openInferenceWorld({ now: Date.now });
});
beforeEach(async () => {
  owner = await signUp(world.account);
  ({ auth } = await newKey(world.account, owner.auth, { livemode: false }));
});
afterAll(() => world?.close());

const at = (path: string, options: Parameters<typeof send>[2] = {}) => send(world.account, path, { headers: auth, ...options });
const respond = (body: object) => chat(world, auth, { ...ANSWERED, ...body }, '/v1/responses');
const said = [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: SECRET }] }];

/** Every column of every table that holds the text in the clear, JSON and bytes included. */
async function tablesWith(text: string): Promise<string[]> {
  const { rows } = await world.database.pool.query<{ place: string }>(
    `select table_name || '.' || column_name as place from information_schema.columns
      where table_schema = 'public' and data_type in ('text', 'json', 'jsonb', 'bytea')`,
  );
  const found: string[] = [];
  for (const { place } of rows) {
    const [table, column] = place.split('.');
    const sql = `select 1 from "${table}" where position($1::bytea in convert_to(coalesce("${column}"::text, ''), 'UTF8')) > 0
      or position(encode($1::bytea, 'hex') in coalesce("${column}"::text, '')) > 0 limit 1`;
    if ((await world.database.pool.query(sql, [Buffer.from(text)])).rowCount) found.push(place);
  }
  return found;
}

describe('stored prompts and answers', () => {
  test('is in no column of the database in the clear, and reads as it was written', async () => {
    const stored = (await respond({})).body;
    const streamed = await respond({ stream: true });
    expect(streamed.text).toContain('launch codes');
    const conversation = (await at('/v1/conversations', { json: { items: said } })).body;
    await respond({ conversation: conversation.id });
    const kept = (await chat(world, auth, { ...CHAT, store: true, messages: [{ role: 'user', content: `Repeat: ${SECRET}` }] })).body;
    await world.written();
    expect(await tablesWith(SECRET)).toEqual([]);

    expect((await at(`/v1/responses/${stored.id}`)).body.output).toEqual(stored.output);
    expect((await at(`/v1/responses/${stored.id}/input_items`)).text).toContain(SECRET);
    expect((await at(`/v1/conversations/${conversation.id}/items`)).text).toContain(SECRET);
    expect((await at(`/v1/chat/completions/${kept.id}`)).body.choices).toEqual(kept.choices);
    expect((await at(`/v1/chat/completions/${kept.id}/messages`)).text).toContain(SECRET);
    expect((await respond({ previous_response_id: stored.id, input: 'Go on.' })).status).toBe(200);
  });

  test('of before there were content keys is read as it is', async () => {
    const { id } = (await respond({})).body;
    const plain = { input: said, response: { id, object: 'response', output: [], status: 'completed' } };
    const values = [id, JSON.stringify(plain.input), JSON.stringify(plain.response)];
    await world.database.pool.query('update stored_responses set input = $2, response = $3 where id = $1', values);
    expect((await at(`/v1/responses/${id}/input_items`)).text).toContain(SECRET);
  });

  test('opens in no other row and for no other account', async () => {
    const [one, other] = [(await respond({})).body.id, (await respond({ input: 'Something else.' })).body.id];
    const moved = 'update stored_responses set response = (select response from stored_responses where id = $2) where id = $1';
    await world.database.pool.query(moved, [other, one]);
    expect((await at(`/v1/responses/${other}`)).status).toBe(500);
    const sealed = await world.content.seal(owner.accountId, 'a place', SECRET);
    await expect(world.content.open((await signUp(world.account)).accountId, 'a place', sealed)).rejects.toThrow();
  });

  test('is readable with the new master key alone after a rotation, and with the old one no more', async () => {
    const { pool } = world.database;
    const [old, fresh]: [MasterKey, MasterKey] = [
      { id: 'test', key: Buffer.alloc(32, 7) },
      { id: 'fresh', key: Buffer.alloc(32, 8) },
    ];
    const sealed = await world.content.seal(owner.accountId, 'a place', SECRET);
    await resealSecrets({ pool, box: createSecretBox([fresh, old]), log: silentLog() });
    const keysOf = (key: MasterKey) => createContentKeys({ pool, box: createSecretBox([key]) });
    expect(await keysOf(fresh).open(owner.accountId, 'a place', sealed)).toBe(SECRET);
    await expect(keysOf(old).open(owner.accountId, 'a place', sealed)).rejects.toThrow('"fresh"');
    await resealSecrets({ pool, box: createSecretBox([old, fresh]), log: silentLog() });
  });
});

describe('an account that has switched storing off', () => {
  beforeEach(async () => {
    const { body } = await at('/v1/users/me', { method: 'PATCH', headers: owner.auth, json: { stores_content: false } });
    expect(body.stores_content).toBe(false);
  });
  const refusal = { status: 403, body: { code: 'storing_off' } };

  test('keeps no response unless it is asked for, which is refused', async () => {
    const answered = await respond({});
    expect(answered).toMatchObject({ status: 200, body: { store: false } });
    expect((await at(`/v1/responses/${answered.body.id}`)).status).toBe(404);
    expect((await respond({ store: false })).status).toBe(200);
    for (const asked of [{ store: true }, { background: true }, { conversation: 'conv_any' }])
      expect(await respond(asked)).toMatchObject(refusal);
  });

  test('keeps no chat completion', async () => {
    expect((await chat(world, auth, CHAT)).status).toBe(200);
    expect(await chat(world, auth, { ...CHAT, store: true })).toMatchObject(refusal);
  });

  test('keeps no conversation', async () => {
    expect(await at('/v1/conversations', { json: {} })).toMatchObject(refusal);
    expect(await at('/v1/conversations/conv_any/items', { json: { items: said } })).toMatchObject(refusal);
  });

  test('stores again from when it is switched on, and both are in the audit log', async () => {
    await at('/v1/users/me', { method: 'PATCH', headers: owner.auth, json: { stores_content: true } });
    const { id } = (await respond({})).body;
    expect((await at(`/v1/responses/${id}`)).status).toBe(200);
    const { body } = await at('/v1/audit-log?action=user.updated', { headers: owner.auth });
    expect(body.data.map(({ changes }: { changes: unknown }) => changes)).toEqual([
      { stores_content: { from: false, to: true } },
      { stores_content: { from: true, to: false } },
    ]);
  });
});

test('an operator who has switched storing off overrules every account', async () => {
  const storing = createStoring({ pool: world.database.pool, isAllowed: false });
  expect(await storing.isOn(owner.accountId)).toBe(false);
  await expect(storing.requireOn(owner.accountId)).rejects.toMatchObject({ code: 'storing_off' });
});
