import { contract } from '@tallygate/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { contentRoutes, createContent } from '../../community/content/index.ts';
import { endpointsOf } from './endpoint.ts';
import { type Instance, MovableClock, openTestDatabase, send, signUp, startInstance } from './testing/account-api.ts';

let db: Awaited<ReturnType<typeof openTestDatabase>>;
let api: Instance;
let auth: Record<string, string>;
let userId: string;
const clock = new MovableClock();

beforeAll(async () => {
  db = await openTestDatabase();
  const content = createContent({ pool: db.database.pool, clock });
  api = await startInstance(db.database, db.url, { clock, endpoints: endpointsOf(contract.content, contentRoutes(content)) });
  ({ auth, userId } = await signUp(api, 'marketing'));
});

afterAll(async () => {
  await api?.close();
  await db?.close();
});

let serial = 0;
const draft = (input: object = {}) => ({ type: 'post', slug: `piece-${++serial}`, title: 'A piece', body: '# Hello\n\n*You.*', ...input });
const write = (json: object) => send(api, '/v1/marketing/content', { headers: auth, json });
const at = (contentId: string, verb = '') => `/v1/marketing/content/${contentId}${verb && `/${verb}`}`;
const post = (contentId: string, verb: 'publish' | 'unpublish') => send(api, at(contentId, verb), { method: 'POST', headers: auth });
const edit = (contentId: string, json: object) => send(api, at(contentId), { method: 'PATCH', headers: auth, json });
const read = (slug: string, headers: Record<string, string> = {}) => send(api, `/v1/content/${slug}`, { headers });

describe('content', () => {
  test('is a draft that only the team reads, until it is published, and again when it is taken back', async () => {
    const { status, body } = await write(draft({ summary: 'Short.', tags: ['news'] }));
    expect([status, body]).toMatchObject([201, { status: 'draft', version: 1, summary: 'Short.', published_at: null, created_by: userId }]);
    const unknown = await read('there-is-none');
    const hidden = await read(body.slug);
    expect([hidden.status, hidden.body.detail]).toEqual([404, unknown.body.detail]);
    expect((await post(body.content_id, 'publish')).body).toMatchObject({ status: 'published', version: 2 });
    const shown = await read(body.slug);
    expect([shown.status, Object.keys(shown.body).sort()]).toEqual([
      200,
      ['body', 'published_at', 'slug', 'summary', 'tags', 'title', 'type', 'updated_at'],
    ]);
    expect(shown.body.body).toBe('# Hello\n\n*You.*');
    expect((await post(body.content_id, 'unpublish')).body).toMatchObject({ status: 'draft', version: 3, published_at: null });
    expect((await read(body.slug)).status).toBe(404);
  });

  test('is published once and taken back once; what makes no sense is a 409 and changes nothing', async () => {
    const { content_id } = (await write(draft())).body;
    expect((await post(content_id, 'unpublish')).status).toBe(409);
    expect((await post(content_id, 'publish')).status).toBe(200);
    const again = await post(content_id, 'publish');
    expect([again.status, again.body.code]).toEqual([409, 'conflict']);
    expect((await send(api, at(content_id), { headers: auth })).body.version).toBe(2);
  });

  test('that two people change from one version keeps the first change and refuses the second', async () => {
    const { content_id } = (await write(draft())).body;
    const both = await Promise.all([1, 2].map((n) => edit(content_id, { version: 1, title: `Title ${n}` })));
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    const kept = both.find(({ status }) => status === 200)?.body;
    expect((await send(api, at(content_id), { headers: auth })).body).toMatchObject({ version: 2, title: kept.title });
  });

  test('that is sent unchanged is no new version', async () => {
    const made = (await write(draft())).body;
    expect((await edit(made.content_id, { version: 1, title: made.title })).body).toEqual(made);
  });

  test('has a unique slug, which is fixed after publication', async () => {
    const [one, other] = [(await write(draft())).body, (await write(draft())).body];
    expect((await write(draft({ slug: one.slug }))).status).toBe(409);
    expect((await edit(other.content_id, { version: 1, slug: one.slug })).status).toBe(409);
    const renamed = await edit(other.content_id, { version: 1, slug: `${other.slug}-better` });
    expect([renamed.status, renamed.body.slug]).toEqual([200, `${other.slug}-better`]);
    await post(one.content_id, 'publish');
    await post(one.content_id, 'unpublish');
    expect((await edit(one.content_id, { version: 3, slug: 'elsewhere' })).status).toBe(409);
  });

  test.each([
    ['a slug with a slash', draft({ slug: 'a/b' }), 'slug'],
    ['a type that there is none of', draft({ type: 'tweet' }), 'type'],
    ['an unknown field', draft({ html: '<b>' }), ''],
    ['a control character', draft({ body: 'a\u0007b' }), 'body'],
    ['no text', draft({ body: '' }), 'body'],
  ])('with %s is refused', async (_what, json, field) => {
    const { status, body } = await write(json);
    expect([status, body.errors[0].loc]).toEqual([422, ['body', ...(field ? [field] : ['html'])]]);
  });

  test('that does not exist is a 404 for every operation', async () => {
    const none = '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77';
    const answers = await Promise.all([
      send(api, at(none), { headers: auth }),
      edit(none, { version: 1, title: 'x' }),
      post(none, 'publish'),
      post(none, 'unpublish'),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
    expect((await send(api, at('no-uuid'), { headers: auth })).status).toBe(422);
  });

  test('is in the audit log, change by change, without its text', async () => {
    const { content_id } = (await write(draft())).body;
    await edit(content_id, { version: 1, body: 'Another text, and a secret one' });
    await post(content_id, 'publish');
    const { rows } = await db.database.pool.query(
      'select action, actor_id, changes::text from audit_log where target_id = $1 order by id',
      [content_id],
    );
    expect(rows.map(({ action, actor_id }) => [action, actor_id])).toEqual(
      ['content.created', 'content.updated', 'content.published'].map((action) => [action, userId]),
    );
    expect(JSON.stringify(rows)).not.toContain('Another text');
  });
});

describe('reading', () => {
  test('lists by type, what changed last first for the team and what was published last first for everybody', async () => {
    const made = [];
    for (const title of ['first', 'second', 'third']) {
      clock.offsetMs += 1_000;
      made.push((await write(draft({ type: 'changelog', title }))).body);
    }
    const titles = (body: { data: { title: string }[] }) => body.data.map(({ title }) => title);
    for (const { content_id } of made.slice(0, 2).reverse()) {
      clock.offsetMs += 1_000;
      await post(content_id, 'publish');
    }
    const team = (await send(api, '/v1/marketing/content?type=changelog', { headers: auth })).body;
    expect(titles(team)).toEqual(['first', 'second', 'third']);
    const everybody = (await send(api, '/v1/content?type=changelog')).body;
    expect(titles(everybody)).toEqual(['first', 'second']);
    const first = (await send(api, '/v1/content?type=changelog&limit=1')).body;
    const second = (await send(api, `/v1/content?type=changelog&limit=1&cursor=${first.next_cursor}`)).body;
    expect([titles(first), titles(second), second.has_more]).toEqual([['first'], ['second'], false]);
    expect((await send(api, '/v1/content?type=nothing')).body).toEqual({ data: [], has_more: false, next_cursor: null });
    expect((await send(api, '/v1/content?limit=201')).status).toBe(422);
  });

  test('may be cached for half a minute, and is a 304 while unchanged', async () => {
    const { content_id, slug } = (await write(draft())).body;
    await post(content_id, 'publish');
    const first = await read(slug);
    const etag = first.headers.get('etag') ?? '';
    expect([first.headers.get('cache-control'), etag]).toEqual(['public, max-age=30', expect.stringMatching(/^"[\w-]{22}"$/)]);
    for (const sent of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const { status, text, headers } = await read(slug, { 'if-none-match': sent });
      expect([sent, status, text, headers.get('etag')]).toEqual([sent, 304, '', etag]);
    }
    await edit(content_id, { version: 2, title: 'A better title' });
    const changed = await read(slug, { 'if-none-match': etag });
    expect([changed.status, changed.body.title]).toEqual([200, 'A better title']);
    expect((await send(api, '/v1/content', { headers: { 'if-none-match': '"other"' } })).status).toBe(200);
  });
});
