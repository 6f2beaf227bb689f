import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readConfig } from '../server/src/app/config.ts';
import { budgetOf } from './import-litellm/budgets.ts';
import { importLitellm } from './import-litellm/import-litellm.ts';

const CONFIG = `
model_list:
  - model_name: gpt-4o
    litellm_params: { model: azure/gpt-4o-sweden, api_base: https://my-resource.openai.azure.com/, api_key: os.environ/AZURE_KEY, weight: 3 }
  - model_name: gpt-4o
    litellm_params: { model: openai/gpt-4o, api_key: os.environ/OPENAI_KEY }
  - model_name: gpt-4o-mini
    litellm_params: { model: gpt-4o-mini, api_key: os.environ/OPENAI_KEY }
  - model_name: small
    litellm_params: { model: gpt-4.1-nano, api_key: os.environ/OPENAI_KEY, rpm: 500, tpm: 200000, max_budget: 9, budget_duration: 1d }
  - model_name: house-model
    litellm_params:
      model: hosted_vllm/llama-3
      api_base: http://127.0.0.1:8000/v1
      input_cost_per_token: 0.0000001
      output_cost_per_token: 2.5e-06
  - model_name: claude
    litellm_params: { model: anthropic/claude-sonnet-4-5, api_key: sk-ant-in-clear }
  - model_name: titan
    litellm_params: { model: bedrock/amazon.titan }
litellm_settings:
  drop_params: true
  max_budget: 500
  budget_duration: 30d
general_settings:
  master_key: sk-master-in-clear
router_settings:
  provider_budget_config: { openai: { budget_limit: 100, time_period: 1d } }
`;
const KEYS = `key_alias,key_name,models,max_budget,budget_duration,rpm_limit,tpm_limit,blocked,expires,team_id,spend,model_max_budget,metadata
search,sk-...ab12,"{gpt-4o,gpt-4o-mini}",25,30d,60,,f,,,4.5,{},{}
"the ""old"" one",sk-...cd34,{all-team-models},10,7d,,1000,,2027-01-01 00:00:00,,,{},{}
gone,sk-...ef56,{},,,,,t,,,,,
late,sk-...gh78,{},,,,,f,2020-01-01,,,,
limited,sk-...ij90,{},1,1d,,,f,,team-7,0,"{""gpt-4o"": {""budget_limit"": 1}}","{""model_rpm_limit"": {""gpt-4o"": 2}}"
`;
const NOW = Date.parse('2026-11-25');

const home = mkdtempSync(join(tmpdir(), 'tallygate-litellm-'));
afterAll(() => rmSync(home, { recursive: true }));
const said: string[] = [];
writeFileSync(join(home, 'config.yaml'), CONFIG);
writeFileSync(join(home, 'keys.csv'), KEYS);
const to = join(home, 'import');
const exitCode = importLitellm([join(home, 'config.yaml'), '--keys', join(home, 'keys.csv'), '--to', to], NOW, (text) => said.push(text));
const written = (name: string) => readFileSync(join(to, name), 'utf8');

test('writes a file of providers that the gateway takes, without a key in it', () => {
  expect({ exitCode, said }).toEqual({ exitCode: 0, said: [expect.stringMatching(/^5 providers, 1 prices, 3 keys/)] });
  const env = { AZURE_KEY: 'a', OPENAI_KEY: 'b', ANTHROPIC_API_KEY: 'c', PROVIDERS_FILE: join(to, 'providers.json') };
  const { providers } = readConfig({ ...env, ANTHROPIC_BASE_URL: '' });
  expect(providers.map(({ name, kind, apiKey, weight }) => [name, kind, apiKey, weight]).slice(0, 4)).toEqual([
    ['azure-1', 'azure_openai', 'a', 3],
    ['openai-2', 'openai', 'b', 1],
    ['openai-3', 'openai', 'b', 1],
    ['hosted-vllm-4', 'openai', undefined, 1],
  ]);
  expect(providers.find(({ name }) => name === 'openai-3')?.limits).toEqual({
    requestsPerMinute: 500,
    tokensPerMinute: 200_000,
    concurrency: null,
  });
  const [azure, openai] = JSON.parse(written('providers.json')).providers;
  expect([azure.deployments, openai.models]).toEqual([{ 'gpt-4o': 'gpt-4o-sweden' }, { 'gpt-4o': 'gpt-4o', 'gpt-4o-mini': 'gpt-4o-mini' }]);
  expect(written('providers.json')).not.toContain('in-clear');
});

test('takes over prices exactly, by the million', () => {
  expect(written('prices.sh')).toBe('tallygate-server admin model house-model --provider hosted-vllm-4 --input 0.1 --output 2.5\n');
});

test('makes commands for each key that still works, with its budget, models and limits', () => {
  expect(written('keys.sh').split('\n').slice(2)).toEqual([
    'npx tallygate keys create --name search --cap 25 --model gpt-4o --model gpt-4o-mini --rpm 60 --json key_id,name,key',
    expect.stringMatching(/^made=\$\(npx tallygate keys create --name 'the "old" one' --expires 2027-01-01T\S+Z --tpm 1000 --json \S+\)$/),
    `printf '%s\\n' "$made"`,
    `key_id=$(printf '%s\\n' "$made" | id_of)`,
    'npx tallygate limits set --kind key --subject "$key_id" --period week --cap 10 >&2',
    'made=$(npx tallygate keys create --name limited --json key_id,name,key)',
    `printf '%s\\n' "$made"`,
    `key_id=$(printf '%s\\n' "$made" | id_of)`,
    'npx tallygate limits set --kind key --subject "$key_id" --period day --cap 1 >&2',
    '',
  ]);
  expect(written('limits.sh')).toBe('npx tallygate limits set --kind account --period month --cap 500\n');
});

test('the commands for keys are a script that a shell runs, and which sets each limit on the key that it made', () => {
  const bin = join(home, 'bin');
  mkdirSync(bin);
  const npx = `#!/bin/sh\necho "$@" >> ${join(home, 'asked')}\ncase "$2" in keys) printf '{"key_id": "k%s", "name": "\\\\"%s"}\\n' "$(($(wc -l < ${join(home, 'asked')})))" "$#";; esac\n`;
  writeFileSync(join(bin, 'npx'), npx, { mode: 0o755 });
  const { stdout, status } = spawnSync('sh', [join(to, 'keys.sh')], {
    env: { ...process.env, PATH: `${bin}:${process.env['PATH']}` },
    encoding: 'utf8',
  });
  expect({ status, made: stdout.trim().split('\n').length }).toEqual({ status: 0, made: 3 });
  expect(
    readFileSync(join(home, 'asked'), 'utf8')
      .split('\n')
      .filter((line) => line.includes('limits set')),
  ).toEqual([
    'tallygate limits set --kind key --subject k2 --period week --cap 10',
    'tallygate limits set --kind key --subject k4 --period day --cap 1',
  ]);
});

test.each([
  ['', 'lifetime', true],
  ['3600s', 'hour', true],
  ['60m', 'hour', true],
  ['1h', 'hour', true],
  ['2h', 'day', false],
  ['24h', 'day', true],
  ['1d', 'day', true],
  ['7d', 'week', true],
  ['1w', 'week', true],
  ['14d', 'month', false],
  ['28d', 'month', true],
  ['30d', 'month', true],
  ['1mo', 'month', true],
  ['2mo', 'lifetime', false],
  ['90d', 'lifetime', false],
  ['soon', 'lifetime', false],
])('a budget per "%s" becomes one of the %s here, and is listed where it is stricter', (duration, period, isSame) => {
  expect(budgetOf('5', duration)).toEqual({ usd: '5', period, ...(!isSame && { stricter: expect.stringContaining(duration) }) });
});

test('names what it leaves out, and no secret', () => {
  const leftOut = written('left-out.txt');
  for (const word of [
    ...['titan', 'ANTHROPIC_API_KEY', 'key gone: blocked', 'key late: expired'],
    ...['small: litellm_params.max_budget', 'small: litellm_params.budget_duration', 'router_settings.provider_budget_config'],
    ...['general_settings.master_key', 'litellm_settings.drop_params', 'its models are all-team-models', 'key limited: team_id team-7'],
    ...['key limited: model_max_budget {"gpt-4o"', 'key limited: metadata {"model_rpm_limit"'],
  ])
    expect(leftOut).toContain(word);
  expect(leftOut).not.toMatch(/key search|spend|in-clear|litellm_settings\.max_budget/);
});
