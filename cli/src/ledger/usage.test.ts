import { KEY_ID } from '@tallygate/sdk/testing/fixtures';
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

const others = { input_characters: 0, audio_seconds: 0, video_seconds: 0, images: 0 };
const sums = {
  requests: 42,
  input_tokens: 12000,
  cached_input_tokens: 2000,
  output_tokens: 4000,
  ...others,
  cost_usd: '0.0042',
  charged_usd: '0',
};
const answer = (group_by: string[], items: object[], total: object = sums) => ({
  json: { from: '2026-11-01', to: '2026-11-21', time_zone: 'UTC', livemode: true, group_by, per: null, items, omitted_groups: 0, total },
});
const people = { apiKey: 'tg_test_secret', isTty: true };

it('shows this month by day, with the sum for people', async () => {
  gateway.script(answer([], [{ day: '2026-11-20', ...sums }]));
  const { stdout } = await terminal.type(['usage'], people);
  expect(stdout).toBe(
    [
      'DAY         REQUESTS  TOKENS IN  TOKENS OUT  COST USD  CHARGED USD',
      `2026-11-20        42      12000        4000    0.0042            0  ${'█'.repeat(24)}`,
      'In all: 42 requests, 0.0042 USD, charged 0 USD.',
      '',
    ].join('\n'),
  );
  expect(gateway.requests[0]?.query).toEqual({ per: 'day' });
});

it('leaves the sum out of a pipe, so that adding up counts nothing twice', async () => {
  gateway.script(
    answer(
      ['key'],
      [
        { key_id: KEY_ID, ...sums },
        { key_id: null, ...sums },
      ],
    ),
  );
  const { stdout } = await terminal.type(['usage', '--by', 'key', '--from', '2026-11-01', '--to', '2026-11-21', '--test']);
  expect(stdout).toBe(`${KEY_ID}\t42\t12000\t4000\t0.0042\t0\t0\t0\t0\t0\n-\t42\t12000\t4000\t0.0042\t0\t0\t0\t0\t0\n`);
  expect(gateway.requests[0]?.query).toEqual({ group_by: 'key', from: '2026-11-01', to: '2026-11-21', livemode: 'false' });
});

it('shows two groups, each hour by itself', async () => {
  gateway.script(answer(['project', 'model'], [{ hour: '2026-11-20T10:00:00.000Z', project_id: null, model: 'gpt-5.4-nano', ...sums }]));
  const { stdout } = await terminal.type(['usage', '--by', 'project,model', '--per', 'hour']);
  expect(stdout).toBe('2026-11-20T10:00:00.000Z\t-\tgpt-5.4-nano\t42\t12000\t4000\t0.0042\t0\t0\t0\t0\t0\n');
  expect(gateway.requests[0]?.query).toEqual({ group_by: 'project,model', per: 'hour' });
});

it('shows images, seconds and characters to people where there are any', async () => {
  const made = { ...sums, images: 3, video_seconds: 8 };
  gateway.script(
    answer(
      ['model'],
      [
        { model: 'gpt-image-1', ...made, video_seconds: 0 },
        { model: 'sora-2', ...made, images: 0 },
      ],
      made,
    ),
  );
  const [titles = '', ...lines] = (await terminal.type(['usage', '--by', 'model'], people)).stdout.split('\n');
  expect(titles).toMatch(/CHARGED USD {2}IMAGES {2}VIDEO S$/);
  expect(lines.slice(0, 2).map((line) => line.split(/ +/).slice(-3, -1))).toEqual([
    ['3', '0'],
    ['0', '8'],
  ]);
});

it('writes the export of the service to stdout or to a file', async () => {
  const text = 'from,to,tag,requests\r\n2026-11-01,2026-11-21,feature=search,42\r\n';
  const file = { text, headers: { 'content-type': 'text/csv' } };
  gateway.script(file, file);
  expect((await terminal.type(['usage', '--by', 'tag', '--csv'], people)).stdout).toBe(text);
  const { stdout, stderr } = await terminal.type(['usage', '--by', 'tag', '-o', 'usage.csv'], people);
  expect([stdout, stderr, terminal.files.get('usage.csv')]).toEqual(['', '', text]);
  expect(gateway.requests.map(({ path, query }) => [path, query])).toEqual([
    ['/v1/usage/export', { group_by: 'tag' }],
    ['/v1/usage/export', { group_by: 'tag' }],
  ]);
});

it('asks for a FOCUS dataset with --focus', async () => {
  gateway.script({ text: 'BilledCost\r\n', headers: { 'content-type': 'text/csv' } });
  expect((await terminal.type(['usage', '--focus', '--per', 'hour', '-o', 'focus.csv'], people)).exitCode).toBe(0);
  expect(gateway.requests.map(({ path, query }) => [path, query])).toEqual([['/v1/usage/export', { format: 'focus', per: 'hour' }]]);
});

it('prints a note when there is none', async () => {
  gateway.script(answer([], []));
  expect((await terminal.type(['usage'], people)).stdout).toBe(
    'None. What test keys did is shown with --test, what live keys did with --live.\n',
  );
});

it.each([
  [['usage', '--by', 'week'], 'Allowed are one or two of project, member, key, model,'],
  [['usage', '--by', 'model,model'], 'Allowed are one or two of'],
  [['usage', '--by', 'model,key,tag'], 'Allowed are one or two of'],
  [['usage', '--per', 'week'], 'Allowed choices are day, hour.'],
  [['usage', '--from', 'yesterday'], 'Expected a day such as 2026-11-21, or how long ago'],
  [['usage', '--test', '--live'], 'cannot be used with'],
  [['usage', '--csv', '--json', 'cost_usd'], 'cannot be used with'],
  [['usage', '--focus', '--by', 'model'], 'cannot be used with'],
])('exits with 2 for %j', async (argv, sentence) => {
  const { stderr, exitCode } = await terminal.type(argv);
  expect(stderr).toContain(sentence);
  expect(exitCode).toBe(2);
});

it('takes the days as how long ago they were', async () => {
  gateway.script(answer([], []));
  await terminal.type(['usage', '--since', '7d', '--until', '1d']);
  expect(gateway.requests[0]?.query).toEqual({ per: 'day', from: '2026-11-14', to: '2026-11-20' });
});

it('says how many groups are not listed', async () => {
  const { json } = answer(['run'], [{ run_id: 'nightly', ...sums }]);
  gateway.script({ json: { ...json, omitted_groups: 3 } });
  const { stdout, stderr } = await terminal.type(['usage', '--by', 'run'], { ...people, isTty: false });
  expect(stdout.trim().split('\n')).toHaveLength(1);
  expect(stderr).toBe('3 more of lower cost are not listed.\n');
});
