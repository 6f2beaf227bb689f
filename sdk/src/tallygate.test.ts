import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { readDocument } from '@tallygate/contract/read-document';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ROUTES, routeOf } from '../testing/contract-check.ts';
import { KEY_ID, RECEIPT_ID, REQUEST_ID } from '../testing/fixtures.ts';
import { type StubGateway, startStubGateway } from '../testing/stub-gateway.ts';
import { Tallygate } from './index.ts';

const isGenerated = ({ metadata }: (typeof ROUTES)[number]): boolean => metadata.sdk !== undefined;
/** Called by the payment provider alone, or by the SDK of the maker whose API it is. */
const isOfOthers = ({ name, metadata }: (typeof ROUTES)[number]): boolean =>
  name === 'paymentWebhooks.stripe' || metadata.surface !== undefined;

let gateway: StubGateway;
beforeEach(async () => {
  gateway = await startStubGateway();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await gateway[Symbol.asyncDispose]();
});

it('has a method for every operation that is written by hand, with the path and input that the contract takes', async () => {
  const tallygate = new Tallygate({ sessionToken: 'tgs_secret', baseUrl: gateway.baseUrl, maxRetries: 0 });
  const calls = [
    tallygate.identity.login({ email: 'ada@example.com', password: 'seven grey herons at dawn' }),
    tallygate.identity.loginMfa({ challenge_token: 'tgc_secret', code: '492039' }),
    tallygate.identity.createUser({ email: 'ada@example.com', password: 'seven grey herons at dawn' }, { internalSecret: 'secret' }),
    tallygate.identity.logout(),
    tallygate.identity.me(),
    tallygate.identity.update({ name: null }),
    tallygate.identity.changePassword({ current_password: 'seven grey herons at dawn', new_password: 'eight blue kettles at noon' }),
    tallygate.identity.verifyEmail('tgv_secret'),
    tallygate.identity.resendVerification('ada@example.com'),
    tallygate.identity.requestPasswordReset('ada@example.com'),
    tallygate.identity.resetPassword({ token: 'tgr_secret', new_password: 'eight blue kettles at noon' }),
    tallygate.identity.close({ password: 'seven grey herons at dawn' }),
    tallygate.deviceLogins.begin({ client_name: 'tallygate on ada-laptop' }),
    tallygate.deviceLogins.token({ device_code: 'tgd_secret' }),
    tallygate.deviceLogins.find({ user_code: 'WDJB-MJHT' }),
    tallygate.deviceLogins.approve({ user_code: 'WDJB-MJHT' }),
    tallygate.deviceLogins.deny({ user_code: 'WDJB-MJHT' }),
    tallygate.mfa.status(),
    tallygate.mfa.begin(),
    tallygate.mfa.confirm({ password: 'seven grey herons at dawn', code: '492039' }),
    tallygate.mfa.disable({ password: 'seven grey herons at dawn', code: '492039' }),
    tallygate.mfa.reset(KEY_ID),
    tallygate.users.list(),
    tallygate.users.setRole(KEY_ID, 'marketing'),
    tallygate.sessions.list({ limit: 10, cursor: 'abc' }),
    tallygate.sessions.revoke(KEY_ID),
    tallygate.auditLog.list({ action: 'key.created', from: '2026-11-01T00:00:00Z', limit: 200 }),
    tallygate.auditLog.listAll({ account_id: KEY_ID }),
    tallygate.emails.send({ to: { filter: {} }, subject: 'Hello', text: 'Hi' }),
    tallygate.emails.list({ limit: 10, cursor: 'abc' }),
    tallygate.emails.get(KEY_ID),
    tallygate.emails.recipients(KEY_ID, { state: 'bounced' }),
    tallygate.emails.cancel(KEY_ID),
    tallygate.emails.bounce('Content-Type: multipart/report'),
    tallygate.emails.templates.create({ name: 'beta', subject: 'Hello', text: 'Hi' }),
    tallygate.emails.templates.list({ archived: true }),
    tallygate.emails.templates.get(KEY_ID),
    tallygate.emails.templates.update(KEY_ID, { subject: 'Hello' }),
    tallygate.emails.templates.archive(KEY_ID),
    tallygate.people.list({ q: 'ada', event_slug: 'vibethon', limit: 10, offset: 10 }),
    tallygate.people.get(KEY_ID),
    tallygate.people.act(KEY_ID, { action: 'tag', tag: 'beta' }),
    tallygate.people.exportOne(KEY_ID),
    tallygate.people.exportAll({ status: 'new' }),
    tallygate.people.importAll(new Blob(['email\nada@example.com\n'])),
    tallygate.keys.create({ name: 'production', monthly_cap_usd: '25' }),
    tallygate.keys.list(),
    tallygate.keys.get(KEY_ID),
    tallygate.keys.update(KEY_ID, { allowed_models: null, rate_limits: { requests_per_minute: 60 }, metadata: { team: 'search' } }),
    tallygate.keys.revoke(KEY_ID),
    tallygate.keys.rotate(KEY_ID, { grace_seconds: 60 }),
    tallygate.budgets.summary(),
    tallygate.budgets.get(KEY_ID),
    tallygate.budgets.set(KEY_ID, { monthly_cap_usd: '25', alert_thresholds: [80, 100] }),
    tallygate.budgets.clear(KEY_ID),
    tallygate.budgets.history(KEY_ID),
    tallygate.budgets.alerts(KEY_ID),
    tallygate.accounts.list({ email: 'ada@example.com', limit: 10 }),
    tallygate.accounts.get(KEY_ID),
    tallygate.accounts.setPlan(KEY_ID, { plan_id: 'operator' }),
    tallygate.plans.list(),
    tallygate.plans.current(),
    tallygate.plans.entitlements(),
    tallygate.plans.compare(),
    tallygate.plans.usage(),
    tallygate.plans.billing(),
    tallygate.plans.overage(),
    tallygate.plans.previewUpgrade('pro'),
    tallygate.plans.previewDowngrade('free'),
    tallygate.plans.scheduleDowngrade('free'),
    tallygate.plans.cancelDowngrade(),
    tallygate.plans.applyScheduledDowngrades('secret'),
    tallygate.plans.checkout({ plan_id: 'pro' }),
    tallygate.plans.topUp({ amount_usd: '25', save_card: true }),
    tallygate.plans.getCheckout(KEY_ID),
    tallygate.plans.cancel(),
    tallygate.plans.resume(),
    tallygate.plans.portal({ return_url: 'https://app.example/billing' }),
    tallygate.plans.invoices({ limit: 10 }),
    tallygate.plans.getInvoice(KEY_ID),
    tallygate.plans.printInvoice(KEY_ID),
    tallygate.plans.payments({ cursor: 'abc' }),
    tallygate.plans.refundPayment(KEY_ID, { amount_usd: '5', reason: 'Paid twice' }),
    tallygate.plans.autoTopup(),
    tallygate.plans.setAutoTopup({ enabled: true, threshold_usd: '5', amount_usd: '25' }),
    tallygate.plans.spendAlerts(),
    tallygate.plans.setSpendAlerts({ thresholds_usd: ['10', '50'] }),
    tallygate.models.list(),
    tallygate.models.prices(),
    tallygate.models.get('vendor/model'),
    tallygate.models.define('vendor/model', { kind: 'chat', context_window: 8192 }),
    tallygate.models.setPrice('vendor/model', { usd_per_million: { input_tokens: '0', output_tokens: '0' } }),
    tallygate.models.discover(),
    tallygate.models.remove('llama-3'),
    tallygate.usage.get({ from: '2026-11-01', group_by: 'model', livemode: false }),
    tallygate.requests.get(REQUEST_ID),
    tallygate.requests.refund({ request_id: REQUEST_ID, reason: 'The video could not be made.' }),
    tallygate.requests.correct({
      request_id: REQUEST_ID,
      usage: { input_tokens: 9, cached_input_tokens: 0, cache_write_tokens: 0, output_tokens: 6, reasoning_tokens: 0 },
      reason: 'Counted twice.',
    }),
    tallygate.receipts.list({ month: '2026-11', limit: 10 }),
    tallygate.receipts.export({ month: '2026-11' }),
    tallygate.receipts.tile('tile/0/000'),
    tallygate.receipts.tile('tile/0/000.p/7'),
    tallygate.receipts.get(RECEIPT_ID),
    tallygate.receipts.proof(RECEIPT_ID),
    tallygate.receipts.checkpoint(),
    tallygate.receipts.consistency({ from: 1, to: 2 }),
    tallygate.receipts.keys(),
    tallygate.invoices.list({ limit: 10 }),
    tallygate.invoices.get('2026-11', { livemode: true }),
    tallygate.anchors.list(),
    tallygate.anchors.get(RECEIPT_ID),
    tallygate.anchors.timestamps(),
    tallygate.anchors.timestampOf(RECEIPT_ID),
    tallygate.chat.completions.create({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi.' }] }),
    tallygate.chat.completions.list({ limit: 10, model: 'gpt-4o-mini', metadata: { topic: 'demo' } }),
    tallygate.chat.completions.get('chatcmpl-1'),
    tallygate.chat.completions.update('chatcmpl-1', { metadata: { topic: 'demo' } }),
    tallygate.chat.completions.delete('chatcmpl-1'),
    tallygate.chat.completions.messages('chatcmpl-1', { order: 'desc' }),
    tallygate.responses.create({ model: 'gpt-4o-mini', input: 'Hi.' }),
    tallygate.responses.get('resp_1', { include: 'reasoning.encrypted_content' }),
    tallygate.responses.follow('resp_1', { startingAfter: 4 }),
    tallygate.responses.cancel('resp_1'),
    tallygate.responses.delete('resp_1'),
    tallygate.responses.inputItems('resp_1', { limit: 10, order: 'asc' }),
    tallygate.responses.countTokens({ input: 'Hi.' }),
    tallygate.responses.compact({ model: 'gpt-4o-mini', previous_response_id: 'resp_1' }),
    tallygate.conversations.create(),
    tallygate.conversations.get('conv_1'),
    tallygate.conversations.update('conv_1', { metadata: { topic: 'demo' } }),
    tallygate.conversations.delete('conv_1'),
    tallygate.conversations.items.create('conv_1', { items: [{ role: 'user', content: 'Hi.' }] }),
    tallygate.conversations.items.list('conv_1', { after: 'msg_1' }),
    tallygate.conversations.items.get('conv_1', 'msg_1'),
    tallygate.conversations.items.delete('conv_1', 'msg_1'),
    tallygate.invites.activate({ code: 'tgi_4f0Zk1x8QbRm', email: 'ada@example.com' }),
    tallygate.invites.createBatch({ name: 'Press', shared_uses: 100, credit_usd: '5', expires_at: '2027-01-01T00:00:00Z' }),
    tallygate.invites.listBatches({ limit: 10 }),
    tallygate.invites.getBatch(KEY_ID),
    tallygate.invites.list(KEY_ID),
    tallygate.invites.revokeBatch(KEY_ID),
    tallygate.invites.revoke(KEY_ID, KEY_ID),
    tallygate.clientRequests.create({ type: 'sales', name: 'Ada', email: 'ada@example.com', message: 'How much is it?' }),
    tallygate.clientRequests.list({ status: 'new' }),
    tallygate.clientRequests.update(KEY_ID, { status: 'in_progress' }),
    tallygate.content.list({ type: 'post' }),
    tallygate.content.create({ type: 'post', slug: 'a-ledger-made-of-light', title: 'A ledger made of light', body: 'It sums to zero.' }),
    tallygate.content.get(KEY_ID),
    tallygate.content.update(KEY_ID, { version: 1, title: 'Another title' }),
    tallygate.content.publish(KEY_ID),
    tallygate.content.unpublish(KEY_ID),
    tallygate.content.listPublished(),
    tallygate.content.read('a-ledger-made-of-light'),
    tallygate.events.list(),
    tallygate.events.get('launch-day'),
    tallygate.events.vibethon(),
    tallygate.events.calendar('launch-day'),
    tallygate.events.jsonLd('launch-day'),
    ...['launch-day', 'vibethon'].flatMap((slug) => [
      tallygate.events.register(slug, { email: 'ada@example.com', name: 'Ada' }),
      tallygate.events.cancelRegistration('token'),
      tallygate.events.registrationStatus(slug, 'ada@example.com'),
      tallygate.events.checkout(slug, { email: 'ada@example.com', success_url: 'https://app.example/done' }),
    ]),
    tallygate.events.listAll(),
    tallygate.events.create({
      ...{ slug: 'launch-day', title: 'Launch day', time_zone: 'Europe/Berlin' },
      ...{ starts_at: '2027-03-05T18:00:00+01:00', ends_at: '2027-03-05T22:00:00+01:00' },
    }),
    tallygate.events.update(KEY_ID, { capacity: 150 }),
    tallygate.events.publish(KEY_ID),
    tallygate.events.archive(KEY_ID),
    tallygate.events.registrations(),
    tallygate.events.updateRegistration(KEY_ID, { attended: true }),
    tallygate.events.refundRegistration(KEY_ID, 'Cannot come'),
    tallygate.marketingEvents.list({ limit: 10 }),
    tallygate.marketingEvents.get('launch-day'),
    tallygate.marketingEvents.registrations('launch-day', { cursor: 'abc' }),
    tallygate.marketingEvents.updateRegistration(KEY_ID, { note: 'Speaker' }),
    tallygate.marketingEvents.publish('launch-day'),
    tallygate.marketingEvents.unpublish('launch-day'),
    tallygate.runs.list({ state: 'active', livemode: false, limit: 10 }),
    tallygate.runs.get('trip-42', { cursor: 'abc' }),
    tallygate.runs.close('trip-42', { livemode: false }),
    tallygate.deployments.list(),
    tallygate.completions.create({ model: 'gpt-3.5-turbo-instruct', prompt: 'Once' }),
    tallygate.embeddings.create({ model: 'text-embedding-3-small', input: 'Once' }),
    tallygate.moderations.create({ input: 'Once' }),
    tallygate.rerank.create({ model: 'rerank-v4.0-fast', query: 'Which?', documents: ['Once'] }),
    tallygate.images.generate({ prompt: 'A ledger' }),
    tallygate.images.edit({ prompt: 'Golden', image: [new Blob(['a']), new Blob(['b'])], n: 2 }),
    tallygate.images.vary({ image: new Blob(['a']) }),
    tallygate.audio.speech.create({ model: 'tts-1', input: 'Once', voice: 'alloy' }),
    tallygate.audio.transcriptions.create({ model: 'whisper-1', file: new Blob(['a']) }),
    tallygate.audio.translations.create({ model: 'whisper-1', file: new Blob(['a']), response_format: 'srt' }),
    tallygate.files.create({ file: new Blob(['{}']), filename: 'a.jsonl', purpose: 'batch' }),
    tallygate.files.list({ limit: 10, order: 'asc', purpose: 'batch', after: 'file-1' }),
    tallygate.files.get('file-1'),
    tallygate.files.content('file-1'),
    tallygate.files.delete('file-1'),
    tallygate.uploads.create({ bytes: 7, filename: 'a.bin', mime_type: 'application/octet-stream', purpose: 'user_data' }),
    tallygate.uploads.addPart('upload_1', new Blob(['content'])),
    tallygate.uploads.complete('upload_1', { part_ids: ['part_1'] }),
    tallygate.uploads.cancel('upload_1'),
    tallygate.batches.create({ input_file_id: 'file-1', endpoint: '/v1/embeddings', completion_window: '24h' }),
    tallygate.batches.list({ limit: 10 }),
    tallygate.batches.get('batch_1'),
    tallygate.batches.cancel('batch_1'),
    tallygate.videos.create({ prompt: 'A ledger', input_reference: new Blob(['a']) }),
    tallygate.videos.generate({ prompt: 'A ledger', seconds: '4' }),
    tallygate.videos.remix('video_1', { prompt: 'At night' }),
    tallygate.videos.list({ limit: 10, order: 'asc' }),
    tallygate.videos.get('video_1'),
    tallygate.videos.content('video_1', { variant: 'thumbnail' }),
    tallygate.videos.delete('video_1'),
    tallygate.videos.edit({ video: { id: 'video_1' }, prompt: 'At night' }),
    tallygate.videos.extend({ video: { id: 'video_1' }, prompt: 'On', seconds: '4' }),
    tallygate.videos.createCharacter({ name: 'Ada', video: new Blob(['MP4']) }),
    tallygate.videos.getCharacter('char_1'),
    tallygate.discovery.status(),
    tallygate.discovery.live(),
    tallygate.discovery.ready(),
    tallygate.discovery.agent(),
    tallygate.discovery.agentCard(),
    tallygate.discovery.llms(),
    tallygate.discovery.llmsFull(),
    tallygate.discovery.agentsGuide(),
    tallygate.discovery.openApi(),
    tallygate.discovery.openApiYaml(),
    tallygate.discovery.securityText(),
    tallygate.discovery.resourceMetadata(),
    tallygate.discovery.resourceMetadata('mcp'),
  ];
  const failures = await Promise.all(calls.map((call) => call.catch((error: unknown) => error)));
  // 418 is the stub's verdict that a request breaks the contract.
  expect(failures.map(String).filter((failure) => failure.includes('418'))).toEqual([]);

  const reached = new Set(gateway.requests.map((request) => routeOf(request)?.name));
  expect(ROUTES.filter((route) => !isGenerated(route) && !isOfOthers(route) && !reached.has(route.name))).toEqual([]);
});

it('has a method for every operation that is generated, with the path and input that the contract takes', async () => {
  const { paths } = readDocument<Samples>(readFileSync(new URL('../../contract/openapi.json', import.meta.url), 'utf8'));
  const samples = Object.values(paths).flatMap((methods) =>
    Object.values(methods).flatMap(({ 'x-codeSamples': [sample] = [] }) => sample ?? []),
  );
  const tallygate = new Tallygate({ sessionToken: 'tgs_secret', baseUrl: gateway.baseUrl, maxRetries: 0 });
  const silent = { log: () => {} };
  const runs = samples.map(({ source }) =>
    new Function('tallygate', 'console', `return (async () => { ${source}\n })()`)(tallygate, silent),
  );
  const failures = await Promise.all(runs.map((run: Promise<unknown>) => run.catch((error: unknown) => error)));
  expect(failures.map(String).filter((failure) => failure.includes('418'))).toEqual([]);

  const reached = gateway.requests.map((request) => routeOf(request)?.name);
  expect(reached.toSorted()).toEqual(
    ROUTES.filter(isGenerated)
      .map(({ name }) => name)
      .sort(),
  );
});

interface Samples {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly 'x-codeSamples'?: readonly { readonly source: string }[] }>>>>;
}

it('cannot be led to another path by an id', async () => {
  const tallygate = new Tallygate({ apiKey: 'tg_test_secret', baseUrl: gateway.baseUrl, maxRetries: 0 });
  await tallygate.keys.get('../users/me?x=').catch(() => {});
  expect(gateway.requests[0]?.path).toBe('/v1/keys/..%2Fusers%2Fme%3Fx%3D');
});

describe('an id that is none', () => {
  it.each(['', '.', '..', undefined])('(%j) is refused by every method that takes one, before anything is sent', async (id) => {
    const sent: string[] = [];
    const refuse = (url: string | URL | Request) => {
      sent.push(String(url));
      return Promise.reject(new TypeError('There is no network here.'));
    };
    const tallygate = new Tallygate({ apiKey: 'tg_test_secret', baseUrl: 'http://gateway.example', fetch: refuse, maxRetries: 0 });
    for (const [resource, name] of methodsIn(tallygate)) {
      // Where it takes an id, and where it takes a second one.
      await attempt(() => Reflect.apply(Reflect.get(resource, name), resource, [id, id]));
      await attempt(() => Reflect.apply(Reflect.get(resource, name), resource, ['conv_1', id]));
    }
    // What takes no id was sent, so the net is not empty.
    expect(sent).toContain('http://gateway.example/v1/keys');
    const astray = sent.filter((url) => /\/\/|\/$|\.\.|\/\.(\/|$)|undefined/.test(url.slice('http://'.length).replace(/\?.*/, '')));
    expect(astray.filter((url) => url !== 'http://gateway.example/')).toEqual([]);
    expect(() => tallygate.files.delete('..')).toThrow('".." is no id.');
  });
});

describe('configuration', () => {
  it('reads key and address from the environment when the program gives none', () => {
    vi.stubEnv('TALLYGATE_API_KEY', 'tg_test_env');
    vi.stubEnv('TALLYGATE_BASE_URL', 'https://gateway.example/v1/');
    expect(new Tallygate().openai()).toEqual({ baseURL: 'https://gateway.example/v1', apiKey: 'tg_test_env' });
    expect(new Tallygate({ apiKey: 'tg_test_given', baseUrl: 'https://other.example' }).openai()).toEqual({
      baseURL: 'https://other.example/v1',
      apiKey: 'tg_test_given',
    });
  });

  it('prefers a given session to the environment’s key, and null means no credential at all', () => {
    vi.stubEnv('TALLYGATE_API_KEY', 'tg_test_env');
    expect(new Tallygate({ sessionToken: 'tgs_given' }).openai().apiKey).toBe('tgs_given');
    expect(() => new Tallygate({ apiKey: null }).openai()).toThrow('no credential');
  });

  it('refuses a credential with a line break in it when the client is made, and shows it nowhere', () => {
    const malformed = 'tg_test_SECRET\nX';
    vi.stubEnv('TALLYGATE_API_KEY', malformed);
    for (const [options, name] of [
      [{ apiKey: malformed }, 'apiKey'],
      [{ sessionToken: malformed }, 'sessionToken'],
      [{}, 'TALLYGATE_API_KEY'],
    ] as const) {
      const failure = thrownBy(() => new Tallygate({ ...options, baseUrl: gateway.baseUrl }));
      expect(failure).toBeInstanceOf(TypeError);
      expect(String(failure)).toContain(`${name} is malformed`);
      expect(inspect(failure)).not.toContain('SECRET');
    }
  });

  it('takes a credential without the white space around it', () => {
    expect(new Tallygate({ apiKey: 'tg_test_file\r\n' }).openai().apiKey).toBe('tg_test_file');
  });

  it('does not repeat what may be a secret when the address is none', () => {
    for (const baseUrl of ['tg_test_SECRET', 'ftp://ada:SECRET@gateway.example'])
      expect(inspect(thrownBy(() => new Tallygate({ apiKey: null, baseUrl })))).not.toContain('SECRET');
  });

  it.each([0, -1, Number.NaN])('refuses %d milliseconds as a time-out', (timeoutMs) => {
    expect(() => new Tallygate({ apiKey: null, timeoutMs })).toThrow('timeoutMs must be a number above 0');
  });

  it.each([-1, Number.NaN])('refuses %d as a number of retries', (maxRetries) => {
    expect(() => new Tallygate({ apiKey: null, maxRetries })).toThrow('maxRetries must be a number from 0 on');
  });

  it('refuses two credentials, and an address that is none', () => {
    expect(() => new Tallygate({ apiKey: 'tg_test_a', sessionToken: 'tgs_b' })).toThrow('either apiKey or sessionToken');
    expect(() => new Tallygate({ baseUrl: 'gateway.example' })).toThrow('gateway.example');
    expect(() => new Tallygate({ baseUrl: 'file:///etc' })).toThrow('http or https');
  });

  it.each([
    ['https://gateway.example', 'https://gateway.example'],
    ['https://gateway.example/', 'https://gateway.example'],
    ['https://gateway.example/v1', 'https://gateway.example'],
    ['https://gateway.example/ai/v1//', 'https://gateway.example/ai'],
  ])('takes %s as %s', (given, used) => expect(new Tallygate({ apiKey: null, baseUrl: given }).baseUrl).toBe(used));
});

function thrownBy(make: () => unknown): unknown {
  try {
    return make();
  } catch (error) {
    return error;
  }
}

/** Any outcome: refused at once, later, or sent. */
async function attempt(call: () => unknown): Promise<void> {
  try {
    await call();
  } catch {}
}

/** Every method of every resource, also of the resources in resources: what is written by hand, and what that inherits. */
const methodsIn = (resource: object): [object, string][] =>
  Object.values(resource)
    .filter((value) => typeof value === 'object' && value !== null)
    .flatMap((inner: object) => [
      ...[Object.getPrototypeOf(inner), Object.getPrototypeOf(Object.getPrototypeOf(inner))].flatMap((prototype: object) =>
        Object.entries(Object.getOwnPropertyDescriptors(prototype))
          .filter(([name, { value }]) => name !== 'constructor' && typeof value === 'function' && prototype !== Object.prototype)
          .map(([name]): [object, string] => [inner, name]),
      ),
      ...methodsIn(inner),
    ]);

it('shows no credential when it is printed or serialised', () => {
  const tallygate = new Tallygate({ apiKey: 'tg_live_secret', baseUrl: gateway.baseUrl });
  expect(inspect(tallygate, { depth: 9, showHidden: true }) + JSON.stringify(tallygate)).not.toContain('tg_live_secret');
});
